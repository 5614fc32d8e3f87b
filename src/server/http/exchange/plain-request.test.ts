import { connect } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createAuthority, issueServerCertificate } from '../../auth/certificates.ts'
import { type Listener, listen } from '../listener/listener.ts'

const now = Date.now()
const authority = createAuthority(now)
const serving = issueServerCertificate(authority, ['127.0.0.1'], now)

let listener: Listener

beforeEach(async () => {
  const handle = async () => {}
  listener = await listen({ address: '127.0.0.1', port: 0, serving, clientAuthorities: [authority.certificate], handle })
})

afterEach(() => listener.close(0))

/** All that the server says to these bytes before the connection ends. */
function answerTo(bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const socket = connect(listener.port, '127.0.0.1', () => socket.write(bytes))
    socket.on('data', (piece) => (text += piece.toString('latin1')))
    socket.on('error', () => {})
    socket.once('close', () => resolve(text))
  })
}

const refusal = 'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n'

it.each([
  ['GET', 'GET /version HTTP/1.1\r\nhost: x\r\n\r\n', refusal],
  ['HEAD', 'HEAD /version HTTP/1.1\r\nhost: x\r\n\r\n', refusal],
  ['POST, with a body', `POST /api HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\n${'x'.repeat(100_000)}`, refusal],
  ['PUT', 'PUT /api HTTP/1.1\r\nhost: x\r\n\r\n', refusal],
  ['OPTIONS', 'OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n', refusal],
])('a plain %s to the TLS port is answered in plain words', async (_method, bytes, expected) => {
  expect(await answerTo(bytes)).toBe(expected)
})

it('what is neither TLS nor HTTP gets no such answer', async () => {
  expect(await answerTo('SSH-2.0-OpenSSH_9.6\r\n')).not.toContain('HTTP')
})

it('close() does not wait for a client that has said nothing yet', async () => {
  const socket = connect(listener.port, '127.0.0.1')
  await new Promise((resolve) => socket.once('connect', resolve))
  await listener.close(0)
  socket.destroy()
})
