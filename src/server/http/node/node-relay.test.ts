import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createAuthority, issueClientCertificate, issueServerCertificate } from '../../auth/certificates.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { NodeRelay } from './node-relay.ts'
import { nodeRequest } from './node-request.ts'

const now = Date.now()
const authority = createAuthority(now)
const serving = issueServerCertificate(authority, ['127.0.0.1'], now)
const identity = issueClientCertificate(authority, { commonName: 'api' }, now)

/** A node that answers with the code in the path. */
const node = createServer({ cert: serving.certificate, key: serving.key, ca: authority.certificate, requestCert: true }, (request, response) => {
  response.writeHead(Number(request.url!.slice(1))).end('because\n')
})
let port = 0

beforeAll(async () => {
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve))
  port = (node.address() as AddressInfo).port
})
afterAll(() => void node.close())

const exchange = { signal: new AbortController().signal, upgrade: undefined } as Exchange

it.each([
  ['a bad request', 400, { code: 400, reason: 'BadRequest', message: 'because' }],
  ['what is not there', 404, { code: 404, reason: 'NotFound', message: 'because' }],
  ['a caller it does not know', 401, { code: 500, message: 'the node refused: because' }],
])('answer() tells that the node refuses %s', async (_what, code, expected) => {
  const place = { host: '127.0.0.1', port, path: `/${code}`, isConnection: false }
  await expect(new NodeRelay(identity).answer(exchange, place, {})).rejects.toMatchObject(expected)
})

it('answer() tells that nobody is there', async () => {
  const place = { host: '127.0.0.1', port: 1, path: '/x', isConnection: false }
  const message = 'Get "https://127.0.0.1:1/x": dial tcp 127.0.0.1:1: connect: connection refused'
  await expect(new NodeRelay(identity).answer(exchange, place, {})).rejects.toMatchObject({ code: 500, message })
})

it('answer() opens connections only for who asks for one', async () => {
  const place = { host: '127.0.0.1', port, path: '/200', isConnection: true }
  await expect(new NodeRelay(identity).answer(exchange, place, {})).rejects.toMatchObject({ code: 400, message: 'Upgrade request required' })
})

it.each(['127.0.0.1', 'localhost', 'n-7.localhost'])('nodeRequest() reaches a node of this machine as %s, and says whom it wants', async (host) => {
  const heard = new Promise<string | undefined>((resolve) => node.once('request', (request: IncomingMessage) => resolve(request.headers.host)))
  const code = await new Promise((resolve, reject) => {
    nodeRequest(identity, { host, port, path: '/200', method: 'GET', timeoutMs: 5000 })
      .once('response', (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      .once('error', reject)
      .end()
  })
  expect([code, await heard]).toEqual([200, `${host}:${port}`])
})
