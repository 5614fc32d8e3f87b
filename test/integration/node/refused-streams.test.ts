import { connect } from 'node:tls'
import { expect, it } from 'vitest'
import { silentLogger } from '../../../src/base/logger.ts'
import { VirtualClock } from '../../../src/base/virtual-clock.ts'
import { serveNode } from '../../../src/node/server/serve-node.ts'
import { createAuthority, issueServerCertificate } from '../../../src/server/auth/certificates.ts'

it('a node ends the connection of a client that it refuses a stream, and that does not close it', async () => {
  const clock = new VirtualClock(0)
  const authority = createAuthority(Date.now())
  const serving = issueServerCertificate(authority, ['127.0.0.1'], Date.now())
  const nobody = { find: () => undefined, node: () => undefined }
  const door = await serveNode({ address: '127.0.0.1', port: 0, serving, clientAuthority: authority.certificate, clock, logger: silentLogger, ...nobody })
  const socket = connect({ host: '127.0.0.1', port: door.port, ca: authority.certificate, allowHalfOpen: true } as object)
  try {
    let text = ''
    socket.on('error', () => {}).on('data', (piece: Buffer) => (text += piece.toString()))
    const ended = new Promise((resolve) => socket.once('end', resolve))
    socket.write('GET /exec/default/a/c HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: SPDY/3.1\r\n\r\n')
    await ended
    expect(text).toContain('HTTP/1.1 401 Refused')
    expect(clock.pending).toBe(1)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    clock.advance(20_000)
    const timer = setInterval(() => socket.write('x'), 5)
    await closed
    clearInterval(timer)
  } finally {
    socket.destroy()
    await door.close()
  }
})
