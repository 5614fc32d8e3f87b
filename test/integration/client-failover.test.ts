import { afterEach, expect, it } from 'vitest'
import { VirtualClock } from '../../src/base/virtual-clock.ts'
import { HttpTransport } from '../../src/client/index.ts'
import { CutProxy } from '../etcd/cut-proxy.ts'
import { type Stub, type StubRequest, type StubResponse, answerJson, startStub, stubAccess } from './client-stub.ts'
import { until } from './server.ts'

const undo: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const fn of undo.splice(0).reverse()) await fn()
})

const get = { method: 'GET' as const, path: '/a' }
type Answering = (request: StubRequest, response: StubResponse) => void
const saying = (name: string): Answering => (_, response) => answerJson(response, 200, { name })

/** A client of two servers, which goes to the first while it can. */
async function pair(first: Answering, second: Answering) {
  const clock = new VirtualClock()
  const stubs = [await startStub(first), await startStub(second)] as [Stub, Stub]
  const otherServers = () => [new URL(`https://127.0.0.1:${stubs[1].port}`)]
  const transport = new HttpTransport(stubAccess(stubs[0].port, { otherServers }), { clock, env: {} })
  for (const stub of stubs) undo.push(() => stub.close().catch(() => {}))
  undo.push(() => transport.close())
  return { clock, stubs, transport }
}

it('goes to the other server when the connection is refused, without the caller noticing', async () => {
  const { stubs, transport } = await pair(saying('first'), saying('second'))
  await stubs[0].close()
  expect(await transport.send({ ...get, method: 'POST', body: {} })).toEqual({ name: 'second' })
  expect(await transport.send(get)).toEqual({ name: 'second' })
})

it('tells of a write whose answer was lost, and sends the next request to the other server', async () => {
  const { stubs, transport } = await pair((request) => request.socket.destroy(), saying('second'))
  const lost = transport.send({ ...get, method: 'POST', body: {} }).catch((e: Error) => e.name)
  await until('the request has arrived', () => stubs[0].requests.length === 1)
  stubs[0].cut()
  expect(await lost).toBe('TransportError')
  expect(await transport.send(get)).toEqual({ name: 'second' })
  expect(stubs.map(({ requests }) => requests.length)).toEqual([1, 1])
})

it('leaves a server that says that it cannot serve', async () => {
  const status = { kind: 'Status', status: 'Failure', code: 503, reason: 'ServiceUnavailable', message: 'etcd cannot be reached' }
  const { transport } = await pair((_, response) => answerJson(response, 503, status), saying('second'))
  await expect(transport.send(get)).rejects.toMatchObject({ code: 503 })
  expect(await transport.send(get)).toEqual({ name: 'second' })
})

it('leaves a server that has stopped to answer within six seconds, and its watches end', async () => {
  const { clock, stubs } = await pair((_, response) => response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders(), saying('second'))
  const link = new CutProxy(stubs[0].port)
  const server = new URL((await link.listen()).replace('http', 'https'))
  const transport = new HttpTransport(stubAccess(0, { server, otherServers: () => [new URL(`https://127.0.0.1:${stubs[1].port}`)] }), { clock, env: {} })
  undo.push(() => link.close(), () => transport.close())
  let isOpen = false
  const closed = new Promise<Error | undefined>((resolve) => transport.watch(get, { opened: () => (isOpen = true), event: () => {}, closed: resolve }))
  await until('the watch is open', () => isOpen)
  // As with a process that is stopped, the connection stays, and nothing comes over it.
  link.set('silent')
  for (let i = 0; i < 6; i++) clock.advance(1000)
  expect(await closed).toMatchObject({ name: 'TransportError' })
  expect(await transport.send(get)).toEqual({ name: 'second' })
})

it('comes back to the first when the other fails', async () => {
  const { stubs, transport } = await pair(saying('first'), saying('second'))
  stubs[0].cut()
  await stubs[1].close()
  for (let i = 0; i < 3; i++) expect(await transport.send(get)).toEqual({ name: 'first' })
})
