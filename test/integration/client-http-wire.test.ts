import { once } from 'node:events'
import { createServer } from 'node:http'
import { constants } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { KubeObject } from '../../src/api/object.ts'
import { VirtualClock } from '../../src/base/virtual-clock.ts'
import {
  Client,
  type ClusterAccess,
  HttpTransport,
  type HttpTransportOptions,
  type TransportError,
  type WatchEvent,
  configmaps,
  namespaces,
} from '../../src/client/index.ts'
import { type StubRequest, type StubResponse, answerJson, certificateName, clientPair, rotatingTokens, startForwarder, startProxy, startStub, stubAccess } from './client-stub.ts'
import { until } from './server.ts'

// Connections take their time on a busy machine.
vi.setConfig({ testTimeout: 30_000 })

const undo: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const fn of undo.splice(0).reverse()) await fn()
})

type Answering = (request: StubRequest, response: StubResponse) => void

async function stubbed(answer: Answering, options: Parameters<typeof startStub>[1] = {}, access: Partial<ClusterAccess> = {}, transportOptions: HttpTransportOptions = {}) {
  const stub = await startStub(answer, options)
  const transport = new HttpTransport(stubAccess(stub.port, access), { env: {}, ...transportOptions })
  undo.push(() => stub.close().catch(() => {}))
  undo.push(() => transport.close())
  return { stub, transport }
}

const object = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
const get = { method: 'GET' as const, path: '/a' }

describe('the clock of the machine is set back by an hour', () => {
  const setBack = () => {
    const real = Date.now
    const spy = vi.spyOn(Date, 'now').mockImplementation(() => real() - 3_600_000)
    undo.push(async () => spy.mockRestore())
  }

  it('and a request without an answer still times out', async () => {
    const { transport } = await stubbed(() => {}, {}, {}, { requestTimeoutMs: 300 })
    const asked = transport.send(get)
    setBack()
    await expect(asked).rejects.toThrow('no answer within 0.3 s')
  })

  it('and a server that could not be reached is dialed again after the back-off', async () => {
    const { stub, transport } = await stubbed(() => {})
    await stub.close()
    await expect(transport.send(get)).rejects.toThrow('connection refused')
    setBack()
    await expect(transport.send(get)).rejects.toThrow('connection refused')
  })
})

/** Lets everything run that is ready to. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

function watch(transport: HttpTransport) {
  const events: WatchEvent[] = []
  let isOpen = false
  let stop = () => {}
  const closed = new Promise<Error | undefined>((resolve) => {
    stop = transport.watch(get, {
      opened: () => (isOpen = true),
      event: (e) => events.push(e),
      closed: resolve,
    })
  })
  return { events, closed, stop, isOpen: () => isOpen }
}

describe.each([{ protocol: 'HTTP/2', isHttp1: false }, { protocol: 'HTTP/1.1', isHttp1: true }])('HttpTransport over $protocol', ({ isHttp1 }) => {
  it('sends what it should, and reads what comes', async () => {
    const bodies: string[] = []
    const answer: Answering = (request, response) => {
      let body = ''
      request.on('data', (chunk: Buffer) => (body += chunk.toString()))
      request.on('end', () => {
        bodies.push(body)
        answerJson(response, 200, object('ä'))
      })
    }
    const { stub, transport } = await stubbed(answer, { isHttp1 }, { headers: { 'impersonate-user': 'jane', 'impersonate-group': ['a', 'b'] } }, { userAgent: 'trial/1' })
    expect(await transport.send({ method: 'PATCH', path: '/a', query: { q: 'x y&z', dryRun: 'All' }, body: { é: 1 }, contentType: 'application/merge-patch+json' })).toEqual(object('ä'))
    expect(stub.requests[0]).toMatchObject({
      method: 'PATCH',
      url: '/a?q=x%20y%26z&dryRun=All',
      headers: { accept: 'application/json', 'content-type': 'application/merge-patch+json', 'user-agent': 'trial/1', 'impersonate-user': 'jane', 'impersonate-group': 'a, b' },
    })
    expect(bodies).toEqual(['{"é":1}'])
    await transport.send(get)
    expect(stub.requests[1]!.headers).not.toHaveProperty('content-type')
  })

  it('hands over text as text, and nothing as nothing', async () => {
    const { transport } = await stubbed((request, response) => {
      response.writeHead(request.url === '/empty' ? 204 : 200, { 'content-type': 'text/plain' })
      response.end(request.url === '/empty' ? undefined : 'a line\n')
    }, { isHttp1 })
    expect(await transport.send({ method: 'GET', path: '/log' })).toBe('a line\n')
    expect(await transport.send({ method: 'GET', path: '/empty' })).toBe('')
  })

  it('below a path, if the server is there', async () => {
    const { stub } = await stubbed((_, response) => answerJson(response, 200, {}), { isHttp1 })
    const below = new HttpTransport(stubAccess(stub.port, { server: new URL(`https://127.0.0.1:${stub.port}/k8s/clusters/c-1/`) }), { env: {} })
    undo.push(() => below.close())
    await below.send(get)
    expect(stub.requests[0]!.url).toBe('/k8s/clusters/c-1/a')
  })

  it('fails with what is answered, and with when to come back', async () => {
    const { transport } = await stubbed((request, response) => {
      if (request.url === '/page') return void response.writeHead(502).end('<html>')
      answerJson(response, 429, { kind: 'Status', code: 429, reason: 'TooManyRequests', message: 'slow' }, { 'retry-after': '9' })
    }, { isHttp1 })
    await expect(transport.send(get)).rejects.toMatchObject({ name: 'ApiError', code: 429, reason: 'TooManyRequests', message: 'slow', details: { retryAfterSeconds: 9 } })
    await expect(transport.send({ method: 'GET', path: '/page' })).rejects.toMatchObject({ name: 'ApiError', code: 502, message: 'the server has answered 502: <html>' })
  })

  it('fails without an answer when the answer is broken off, or is not JSON', async () => {
    const { stub, transport } = await stubbed((request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      if (request.url === '/nonsense') return void response.end('{"a":')
      response.write('{"a":')
      setImmediate(() => stub.cut())
    }, { isHttp1 })
    const broken = await transport.send(get).catch((e: unknown) => e)
    expect(broken).toMatchObject({ name: 'TransportError', isUnsent: false })
    await expect(transport.send({ method: 'GET', path: '/nonsense' })).rejects.toMatchObject({ name: 'TransportError', isUnsent: false })
  })

  it('knows that nothing was sent to a server that is gone', async () => {
    const { stub, transport } = await stubbed((_, response) => answerJson(response, 200, {}), { isHttp1 })
    await transport.send(get)
    await stub.close()
    await until('no connection is left', () => stub.sockets.size === 0)
    for (let i = 0; i < 10; i++) await turn()
    await expect(transport.send({ method: 'POST', path: '/a', body: {} })).rejects.toMatchObject({ name: 'TransportError', isUnsent: true })
  })

  it('refuses what JSON cannot say', async () => {
    const { transport } = await stubbed((_, response) => answerJson(response, 200, {}), { isHttp1 })
    const body: { self?: object } = {}
    body.self = body
    await expect(transport.send({ method: 'POST', path: '/a', body })).rejects.toThrow('circular')
    expect(await transport.send(get)).toEqual({})
  })

  it('waits for an answer no longer than it should', async () => {
    const clock = new VirtualClock()
    const { stub, transport } = await stubbed(() => {}, { isHttp1 }, {}, { clock, requestTimeoutMs: 20_000, pingAfterMs: 1e9 })
    const answer = transport.send({ method: 'POST', path: '/a', body: {} })
    const late = expect(answer).rejects.toMatchObject({ name: 'TransportError', isUnsent: false, message: `POST https://127.0.0.1:${stub.port}/a: no answer within 20 s` })
    const { closed, isOpen } = watch(transport)
    await until('two requests have come', () => stub.requests.length === 2)
    await clock.advance(20_000)
    await late
    expect([await closed, isOpen()]).toMatchObject([{ name: 'TransportError' }, false])
  })

  it('takes an open watch for as long as it lasts', async () => {
    const clock = new VirtualClock()
    const { stub, transport } = await stubbed((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write('\n')
    }, { isHttp1 }, {}, { clock, requestTimeoutMs: 20_000, pingAfterMs: 1e9 })
    const { closed, isOpen, stop } = watch(transport)
    await until('the watch is open', isOpen)
    expect(stub.requests[0]!.url).toBe('/a?watch=true')
    await clock.advance(3_600_000)
    stop()
    expect(await closed).toBeUndefined()
    await until('the watch has gone', () => stub.sockets.size === (isHttp1 ? 0 : 1))
  })

  it('reads events wherever they are cut', async () => {
    const lines = Buffer.from(['a', '舵手', '🚣', 'b'.repeat(100_000)].map((name) => `${JSON.stringify({ type: 'ADDED', object: object(name) })}\n`).join(''))
    const { transport } = await stubbed((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      let at = 0
      const next = () => {
        if (at >= lines.length) return void response.end()
        const size = at < 300 ? 1 : 40_000
        response.write(lines.subarray(at, at + size))
        at += size
        setImmediate(next)
      }
      next()
    }, { isHttp1 })
    const { events, closed } = watch(transport)
    expect(await closed).toBeUndefined()
    expect(events.map((e) => [e.type, e.object.metadata.name])).toEqual([['ADDED', 'a'], ['ADDED', '舵手'], ['ADDED', '🚣'], ['ADDED', 'b'.repeat(100_000)]])
  })

  it('ends a watch with the ERROR event, and heeds nothing after it', async () => {
    const { stub, transport } = await stubbed((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const error = { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' } }
      response.write([{ type: 'ADDED', object: object('a') }, error, { type: 'ADDED', object: object('b') }].map((e) => `${JSON.stringify(e)}\n`).join(''))
    }, { isHttp1 })
    const { events, closed } = watch(transport)
    expect(await closed).toMatchObject({ name: 'ApiError', code: 410, reason: 'Expired', message: 'too old' })
    expect(events.length).toBe(1)
    await until('no connection is left', () => !isHttp1 || stub.sockets.size === 0)
  })

  it('ends a watch with an error when its events are nonsense, broken off, or the connection is cut', async () => {
    const { stub, transport } = await stubbed((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      if (stub.requests.length === 1) response.write('nonsense\n')
      else if (stub.requests.length === 2) response.end('{"type":"ADD')
      else response.write('\n', () => stub.cut())
    }, { isHttp1 })
    expect(await watch(transport).closed).toMatchObject({ name: 'TransportError', message: expect.stringContaining('is not JSON') as unknown })
    expect(await watch(transport).closed).toMatchObject({ name: 'TransportError', message: expect.stringContaining('is not JSON') as unknown })
    expect(await watch(transport).closed).toMatchObject({ name: 'TransportError', isUnsent: false })
  })

  it('tries again with new credentials when they are refused, once', async () => {
    const isGood = (request: StubRequest) => request.headers.authorization === 'Bearer two'
    const { stub, transport } = await stubbed((request, response) => {
      request.resume()
      if (isGood(request)) answerJson(response, 200, object('a'))
      else answerJson(response, 401, { kind: 'Status', code: 401, reason: 'Unauthorized', message: 'Unauthorized' })
    }, { isHttp1 }, { credentials: rotatingTokens('one', 'two') })
    expect(await transport.send({ method: 'POST', path: '/a', body: { b: 1 } })).toEqual(object('a'))
    expect(stub.requests.map((r) => r.headers.authorization)).toEqual(['Bearer one', 'Bearer two'])

    const hopeless = new HttpTransport(stubAccess(stub.port, { credentials: rotatingTokens('x', 'y', 'z') }), { env: {} })
    undo.push(() => hopeless.close())
    await expect(hopeless.send(get)).rejects.toMatchObject({ code: 401 })
    expect(stub.requests.length).toBe(4)
    const last = new HttpTransport(stubAccess(stub.port, { credentials: rotatingTokens('x') }), { env: {} })
    undo.push(() => last.close())
    expect(await watch(last).closed).toMatchObject({ code: 401, message: 'Unauthorized' })
  })

  it('says what keeps it from knowing who it is', async () => {
    const failing = { current: () => Promise.reject(new Error('no account')), refused: async () => false }
    const { stub, transport } = await stubbed(() => {}, { isHttp1 }, { credentials: failing })
    await expect(transport.send(get)).rejects.toThrow(`GET https://127.0.0.1:${stub.port}/a: no account`)
    expect(await watch(transport).closed).toMatchObject({ message: expect.stringContaining('no account') as unknown })
    const throwing = new HttpTransport(stubAccess(stub.port, { credentials: { ...failing, current: () => { throw new Error('no file') } } }), { env: {} })
    undo.push(() => throwing.close())
    await expect(throwing.send(get)).rejects.toThrow('no file')
    expect(await watch(throwing).closed).toMatchObject({ message: expect.stringContaining('no file') as unknown })
  })

  it('tells what the server warns of', async () => {
    const warnings: string[] = []
    const { transport } = await stubbed((_, response) => answerJson(response, 200, {}, { warning: '299 - "old \\"field\\"", 299 - "and, another"' }), { isHttp1 }, {}, { onWarning: (text) => warnings.push(text) })
    await transport.send(get)
    expect(warnings).toEqual(['old "field"', 'and, another'])
  })

  it('is another on a new connection when the certificate changes, and lets the old one finish', async () => {
    const pairs = [clientPair('one'), clientPair('two')]
    let at = 0
    const held: StubResponse[] = []
    const credentials = { current: () => ({ certificate: pairs[at]! }), refused: async () => false }
    const { stub, transport } = await stubbed((request, response) => {
      if (request.url === '/held') held.push(response)
      else answerJson(response, 200, { is: certificateName(request) })
    }, { isHttp1 }, { credentials })
    expect(await transport.send(get)).toEqual({ is: 'one' })
    const slow = transport.send({ method: 'GET', path: '/held' })
    await until('one request is held', () => held.length === 1)
    at = 1
    expect(await transport.send(get)).toEqual({ is: 'two' })
    answerJson(held[0]!, 200, object('held'))
    expect(await slow).toEqual(object('held'))
    // Nothing is left of the first.
    await until('one connection is left', () => stub.sockets.size === 1)
  })

  it('goes through a proxy', async () => {
    const { stub } = await stubbed((_, response) => answerJson(response, 200, {}), { isHttp1 })
    const proxy = await startProxy()
    undo.push(() => proxy.close())
    const through = new HttpTransport(stubAccess(stub.port, { proxy: new URL(`http://127.0.0.1:${proxy.port}`) }), { env: {} })
    undo.push(() => through.close())
    await through.send(get)
    expect(new Set(proxy.targets)).toEqual(new Set([`127.0.0.1:${stub.port}`]))
  })

  it('checks the name that it is told to check', async () => {
    const { stub } = await stubbed((_, response) => answerJson(response, 200, {}), { isHttp1 })
    const named = (tlsServerName: string) => {
      const transport = new HttpTransport(stubAccess(stub.port, { tlsServerName }), { env: {} })
      undo.push(() => transport.close())
      return transport.send(get)
    }
    expect(await named('stub.example')).toEqual({})
    await expect(named('other.example')).rejects.toMatchObject({ name: 'TransportError', isUnsent: true, message: expect.stringContaining('other.example') as unknown })
  })
})

describe('HttpTransport over HTTP/2', () => {
  it('opens a new connection after a goodbye, and lets what is under way finish', async () => {
    const held: StubResponse[] = []
    const { stub, transport } = await stubbed((request, response) => {
      if (request.url === '/held') held.push(response)
      else answerJson(response, 200, {})
    })
    await transport.send(get)
    const slow = transport.send({ method: 'GET', path: '/held' })
    await until('one request is held', () => held.length === 1)
    const [session] = stub.sessions
    session!.close()
    // A request that crosses the goodbye is refused unseen, and sent again.
    const client = new Client(transport, { retries: { baseDelayMs: 1 } })
    await client.get(namespaces, '', 'default')
    expect(stub.connections()).toBe(2)
    answerJson(held[0]!, 200, object('held'))
    expect(await slow).toEqual(object('held'))
  })

  it('knows that a refused stream was not looked at', async () => {
    const { transport } = await stubbed((request) => request.stream!.close(constants.NGHTTP2_REFUSED_STREAM))
    const error = (await transport.send({ method: 'POST', path: '/a', body: {} }).catch((e: unknown) => e)) as TransportError
    expect([error.name, error.isUnsent]).toEqual(['TransportError', true])
  })

  it('does not know what became of a stream that was reset in the middle', async () => {
    const { transport } = await stubbed((request) => request.stream!.close(constants.NGHTTP2_INTERNAL_ERROR))
    await expect(transport.send({ method: 'POST', path: '/a', body: {} })).rejects.toMatchObject({ name: 'TransportError', isUnsent: false })
  })

  it('ends everything exactly once, whatever becomes of its connections', async () => {
    const { stub, transport } = await stubbed((request, response) => {
      request.resume()
      const { length } = stub.requests
      if (length % 50 === 0) stub.cut()
      else if (length % 70 === 0) for (const session of stub.sessions) session.close()
      else if (length % 11 === 0) request.stream!.close(length % 2 ? constants.NGHTTP2_REFUSED_STREAM : constants.NGHTTP2_INTERNAL_ERROR)
      else if (request.url!.includes('watch')) response.writeHead(200, { 'content-type': 'application/json' }).write(`${JSON.stringify({ type: 'ADDED', object: object('a') })}\n`)
      else answerJson(response, 200, { items: [], metadata: {} })
    })
    const client = new Client(transport, { retries: { baseDelayMs: 1, maxDelayMs: 1 } })
    const ends: number[] = []
    const oneWatch = (index: number) =>
      new Promise<void>((resolve) => {
        ends[index] = 0
        const stop = client.watch(configmaps, 'n', {}, {
          opened() {},
          event: () => stop(),
          closed() {
            ends[index]!++
            resolve()
          },
        })
      })
    let watches = 0
    const worker = async (n: number) => {
      for (let i = 0; i < 30; i++) {
        const abort = new AbortController()
        if ((i + n) % 5 === 0) queueMicrotask(() => abort.abort())
        if (i % 3 === 0) await oneWatch(watches++)
        else if (i % 3 === 1) await client.list(configmaps, 'n', { signal: abort.signal }).catch(() => {})
        else await client.create(configmaps, { metadata: { namespace: 'n', name: 'a' } }, { signal: abort.signal }).catch(() => {})
      }
    }
    await Promise.all(Array.from({ length: 20 }, (_, n) => worker(n)))
    expect(ends).toEqual(Array.from({ length: 200 }, () => 1))
    await client.close()
    await until('no connection is left', () => stub.sockets.size === 0)
  })

  it('notices a connection that is dead without a word', async () => {
    const clock = new VirtualClock()
    const stub = await startStub((request, response) => {
      if (!request.url!.includes('watch')) return answerJson(response, 200, {})
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write('\n')
    })
    undo.push(() => stub.close())
    const forwarder = await startForwarder(stub.port)
    undo.push(() => forwarder.close())
    const transport = new HttpTransport(stubAccess(forwarder.port), { env: {}, clock, requestTimeoutMs: 0 })
    undo.push(() => transport.close())
    const { closed, isOpen } = watch(transport)
    await until('the watch is open', isOpen)
    // Received data keeps it alive, and so does the reply to a ping.
    await clock.advance(29_000)
    await transport.send(get)
    await clock.advance(29_000)
    forwarder.goSilent()
    await clock.advance(60_000)
    await turn()
    await clock.advance(60_000)
    expect(await closed).toMatchObject({ name: 'TransportError', isUnsent: false, message: expect.stringContaining('no sign of life within 15 s') as unknown })
    // The next request has a connection of its own.
    expect(await transport.send(get)).toEqual({})
    expect(forwarder.connections()).toBe(2)
  })

  it('leaves room for requests beside watches, on a second connection if it must', async () => {
    const { stub, transport } = await stubbed((request, response) => {
      if (!request.url!.includes('watch')) return answerJson(response, 200, {})
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write('\n')
    }, { maxStreams: 10 })
    const watches = Array.from({ length: 20 }, () => watch(transport))
    await until('all watches are open', () => watches.every((w) => w.isOpen()))
    await Promise.all(Array.from({ length: 30 }, () => transport.send(get)))
    expect(stub.connections()).toBe(3)
  })

  it('connects once for everybody who waits, and not too often', async () => {
    const clock = new VirtualClock()
    const { stub, transport } = await stubbed((_, response) => answerJson(response, 200, {}), {}, {}, { clock })
    await Promise.all(Array.from({ length: 20 }, () => transport.send(get)))
    expect(stub.connections()).toBe(1)

    const gone = await startForwarder(1)
    await gone.close()
    const lost = new HttpTransport(stubAccess(gone.port), { env: {}, clock })
    undo.push(() => lost.close())
    await expect(lost.send(get)).rejects.toThrow('connection refused')
    // The second attempt waits its time.
    let isOver = false
    const second = lost.send(get).catch((e: Error) => {
      isOver = true
      return e.message
    })
    for (let i = 0; i < 20; i++) await turn()
    expect(isOver).toBe(false)
    await clock.advance(50)
    expect(await second).toContain('connection refused')
  })
})

describe('HttpTransport without TLS', () => {
  it('speaks HTTP/1.1', async () => {
    const server = createServer((request, response) => answerJson(response, 200, { url: request.url })).listen(0, '127.0.0.1')
    await once(server, 'listening')
    undo.push(async () => server.closeAllConnections())
    const { port } = server.address() as AddressInfo
    const transport = new HttpTransport(stubAccess(0, { server: new URL(`http://127.0.0.1:${port}`), authority: () => undefined }), { env: {} })
    undo.push(() => transport.close())
    expect(await transport.send(get)).toEqual({ url: '/a' })
    server.close()
  })
})

describe('Client over HttpTransport', () => {
  it('comes back when it is told to, with writes too', async () => {
    const clock = new VirtualClock()
    const times: number[] = []
    const { transport } = await stubbed((request, response) => {
      request.resume()
      times.push(clock.now())
      if (times.length < 3) answerJson(response, times.length === 1 ? 429 : 503, { kind: 'Status', message: 'slow' }, { 'retry-after': '5' })
      else answerJson(response, 201, object('a'))
    })
    const client = new Client(transport, { clock })
    const started = clock.now()
    const made = client.create(configmaps, { metadata: { namespace: 'n', name: 'a' } })
    for (const n of [1, 2]) {
      await until(`${n} attempts were made`, () => times.length === n && clock.pending > 0)
      await clock.advance(4999)
      for (let i = 0; i < 10; i++) await turn()
      expect(times.length).toBe(n)
      await clock.advance(1)
    }
    expect((await made).metadata.name).toBe('a')
    expect(times.map((t) => t - started)).toEqual([0, 5000, 10_000])
  })

  it('does not send a write again whose fate it does not know', async () => {
    const { stub, transport } = await stubbed(() => stub.cut())
    await expect(new Client(transport).create(namespaces, { metadata: { name: 'a' }, spec: {} })).rejects.toMatchObject({ name: 'TransportError', isUnsent: false })
    expect(stub.requests.length).toBe(1)
  })

  it('goes on with a list in the present, if it may, when the past is forgotten', async () => {
    const { stub, transport } = await stubbed((request, response) => {
      const token = new URL(request.url!, 'https://stub').searchParams.get('continue')
      if (token === 'old') return answerJson(response, 410, { kind: 'Status', code: 410, reason: 'Expired', message: 'old', metadata: { continue: 'new' } })
      answerJson(response, 200, { metadata: token ? {} : { continue: 'old' }, items: [object(token ?? 'first')] })
    })
    const client = new Client(transport)
    const names = async (allowInconsistent: boolean) => {
      const all: string[] = []
      for await (const page of client.listAll(configmaps, 'n', { allowInconsistent })) all.push(...page.items.map((o) => o.metadata.name!))
      return all
    }
    expect(await names(true)).toEqual(['first', 'new'])
    await expect(names(false)).rejects.toMatchObject({ code: 410 })
    expect(stub.requests[0]!.url).toContain('limit=500')
  })
})
