import type { ClientRequest } from 'node:http'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { Agent, request as httpsRequest } from 'node:https'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAuthority, issueClientCertificate, issueServerCertificate } from '../../auth/certificates.ts'
import { type Exchange, wholeBody } from '../exchange/exchange.ts'
import { type Listener, listen } from './listener.ts'
import { WatchChunks } from '../watch/watch-chunks.ts'

const now = Date.now()
const authority = createAuthority(now)
const stranger = createAuthority(now)
const serving = issueServerCertificate(authority, ['127.0.0.1'], now)
const known = issueClientCertificate(authority, { commonName: 'ann', organizations: ['staff', 'admins'] }, now)

let listener: Listener
let session: ClientHttp2Session | undefined
/** The handler of the next requests. */
let handle: (exchange: Exchange) => Promise<void>

beforeEach(async () => {
  listener = await listen({ address: '127.0.0.1', port: 0, serving, clientAuthorities: [authority.certificate], handle: (e) => handle(e), bodyTimeoutMs: 200 })
})

afterEach(async () => {
  session?.destroy()
  session = undefined
  await listener.close(0)
})

const chunk = (text: string) => new WatchChunks().of([Buffer.from(text)])
const tls = (pair = known) => ({ ca: authority.certificate, cert: pair.certificate, key: pair.key })

interface Got {
  code: number
  headers: NodeJS.Dict<string | string[]>
  text: string
}

function http1(path: string, { method = 'GET', body, pair = known }: { method?: string; body?: Buffer; pair?: typeof known } = {}): Promise<Got> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest({ host: '127.0.0.1', port: listener.port, path, method, agent: false, ...tls(pair) }, (response) => {
      const chunks: Buffer[] = []
      response.on('error', reject)
      response.on('data', (c: Buffer) => chunks.push(c))
      response.on('end', () => resolve({ code: response.statusCode!, headers: response.headers, text: Buffer.concat(chunks).toString() }))
    })
    request.on('error', reject)
    request.end(body)
  })
}

const open = () => (session ??= connectHttp2(`https://127.0.0.1:${listener.port}`, tls()).on('error', () => {}))

function http2(path: string, { method = 'GET', body }: { method?: string; body?: Buffer } = {}): Promise<Got> {
  return new Promise((resolve, reject) => {
    const stream = open().request({ ':path': path, ':method': method }, { endStream: !body })
    const got: Got = { code: 0, headers: {}, text: '' }
    stream.on('response', (headers) => Object.assign(got, { code: Number(headers[':status']), headers }))
    stream.on('data', (c: Buffer) => (got.text += c.toString()))
    stream.on('error', reject)
    stream.on('close', () => (stream.rstCode === 0 ? resolve(got) : reject(new Error(`reset with ${stream.rstCode}`))))
    if (body) stream.end(body)
  })
}

const echo = async (exchange: Exchange) => {
  const body = await exchange.readBody(1000)
  exchange.respond(200, { 'x-two': ['a', 'b'] }, wholeBody(Buffer.from(`${exchange.method} ${exchange.url} ${body.toString()}`)))
}

describe.each([['HTTP/1.1', http1], ['HTTP/2', http2]])('listen() over %s', (_name, send) => {
  it('hands over method, path and body, and sends the answer with its length', async () => {
    handle = echo
    const { code, headers, text } = await send('/a?b=%20', { method: 'POST', body: Buffer.from('hello') })
    expect([code, text, headers['content-length']]).toEqual([200, 'POST /a?b=%20 hello', '19'])
  })

  it('knows the client by its certificate', async () => {
    handle = async (e) => e.respond(200, {}, wholeBody(Buffer.from(JSON.stringify(e.certificate))))
    expect(JSON.parse((await send('/')).text)).toMatchObject({ commonName: 'ann', organizations: ['staff', 'admins'] })
  })

  it('refuses to read more than the limit, and says so', async () => {
    handle = async (e) => {
      await e.readBody(1000).catch((error: { code: number; message: string }) => e.respond(error.code, {}, wholeBody(Buffer.from(error.message))))
    }
    const { code, text } = await send('/', { method: 'POST', body: Buffer.alloc(1001) })
    expect([code, text]).toEqual([413, 'Request entity too large: limit is 1000'])
  })

  it('sends a body in pieces no faster than the client reads, and whole', async () => {
    let made = 0
    function* pieces() {
      for (; made < 100; made++) yield Buffer.alloc(100_000, 'x')
    }
    handle = async (e) => e.respond(200, {}, { length: 10_000_000, pieces: pieces() })
    expect((await send('/')).text).toHaveLength(10_000_000)
    expect(made).toBe(100)
  })

  it('sends a body whose pieces have to be waited for, no faster than the client reads, and whole', async () => {
    let made = 0
    async function* pieces() {
      for (; made < 100; made++) {
        await new Promise((resolve) => setImmediate(resolve))
        yield Buffer.alloc(100_000, 'x')
      }
    }
    handle = async (e) => e.respond(200, {}, { length: undefined, pieces: pieces() })
    const { headers, text } = await send('/')
    expect([text.length, made, headers['content-length']]).toEqual([10_000_000, 100, undefined])
  })

  it('breaks off an answer of which a piece cannot be made', async () => {
    async function* pieces() {
      yield Buffer.alloc(100_000, 'x')
      throw new Error('no more')
    }
    handle = async (e) => e.respond(200, {}, { length: undefined, pieces: pieces() })
    await expect(send('/')).rejects.toThrow(/reset|aborted|hang up|prematurely/i)
  })

  it('sends no body in answer to HEAD', async () => {
    handle = async (e) => e.respond(200, {}, wholeBody(Buffer.from('hello')))
    const { headers, text } = await send('/', { method: 'HEAD' })
    expect([headers['content-length'], text]).toEqual(['5', ''])
  })

  it('sends headers beyond ASCII as the bytes they are', async () => {
    const value = Buffer.from('日本').toString('latin1')
    handle = async (e) => e.respond(200, { warning: [value] }, wholeBody(Buffer.alloc(0)))
    expect(Buffer.from(String((await send('/')).headers.warning), 'latin1').toString()).toBe('日本')
  })
})

describe('listen()', () => {
  it('sends nothing over HTTP/2 that no header may have', async () => {
    handle = async (e) => e.respond(200, { warning: 'a\r\nb\u010a' }, wholeBody(Buffer.alloc(0)))
    expect((await http2('/')).headers.warning).toBe('a??b?')
  })

  it('keeps a connection for the next request as long as Kubernetes does, and says so', async () => {
    handle = echo
    const agent = new Agent({ keepAlive: true })
    const said = await new Promise((resolve, reject) => {
      httpsRequest({ host: '127.0.0.1', port: listener.port, agent, ...tls() }, (response) => resolve(response.resume().headers['keep-alive'])).on('error', reject).end()
    })
    agent.destroy()
    expect(said).toBe('timeout=90')
  })

  it('says what is wrong with a certificate of another authority', async () => {
    handle = async (e) => e.respond(200, {}, wholeBody(Buffer.from(String(e.certificate?.problem))))
    const foreign = issueClientCertificate(stranger, { commonName: 'ann', organizations: ['admins'] }, now)
    expect((await http1('/', { pair: foreign })).text).toBe('UNABLE_TO_VERIFY_LEAF_SIGNATURE')
  })

  it('makes no more of a long answer than fits while nobody reads it', async () => {
    let made = 0
    function* pieces() {
      for (; made < 1000; made++) yield Buffer.alloc(100_000, 'x')
    }
    const answered = new Promise<void>((resolve) => {
      handle = async (e) => {
        e.respond(200, {}, { length: 100_000_000, pieces: pieces() })
        resolve()
      }
    })
    const stream = open().request({ ':path': '/' })
    stream.on('error', () => {})
    await answered
    await new Promise((resolve) => stream.once('response', resolve))
    expect(made).toBeLessThan(100)
    stream.destroy()
  })

  it('makes no more of an answer whose pieces are waited for than fits while nobody reads it', async () => {
    let made = 0
    async function* pieces() {
      for (; made < 1000; made++) yield Buffer.alloc(100_000, 'x')
    }
    handle = async (e) => e.respond(200, {}, { length: undefined, pieces: pieces() })
    const stream = open().request({ ':path': '/' })
    stream.on('error', () => {})
    await new Promise((resolve) => stream.once('response', resolve))
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
    expect(made).toBeLessThan(100)
    stream.destroy()
  })

  it('streams in chunks over HTTP/1.1, whose end the client sees, and keeps the connection', async () => {
    handle = async (e) => {
      const sink = e.stream(200, {})
      for (const text of ['one\n', 'zwölf\n']) sink.write(chunk(text))
      sink.end()
    }
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ports: unknown[] = []
    for (let round = 0; round < 2; round++) {
      const answer = await new Promise((resolve, reject) => {
        const options = { host: '127.0.0.1', port: listener.port, agent, ...tls() }
        const request = httpsRequest(options, async (response) => {
          ports.push(response.socket.localPort)
          let text = ''
          for await (const piece of response) text += String(piece)
          resolve([response.headers['transfer-encoding'], response.complete, text])
        })
        request.on('error', reject).end()
      })
      expect(answer).toEqual(['chunked', true, 'one\nzwölf\n'])
    }
    expect(ports[0]).toBe(ports[1])
    agent.destroy()
  })

  it.each(['HTTP/1.1', 'HTTP/2'])('aborts the signal when the client goes away, over %s', async (name) => {
    const aborted = new Promise<void>((resolve, reject) => {
      handle = async (e) => {
        if (e.signal.aborted) return reject(new Error('aborted too early'))
        e.signal.addEventListener('abort', () => resolve())
        e.stream(200, {}).write(chunk('begin'))
      }
    })
    if (name === 'HTTP/2') {
      const stream = open().request({ ':path': '/' }).on('error', () => {})
      stream.once('data', () => stream.close(8))
    } else {
      const request = httpsRequest({ host: '127.0.0.1', port: listener.port, agent: false, ...tls() }, (response) => response.once('data', () => request.destroy()))
      request.on('error', () => {})
      request.end()
    }
    await aborted
  })

  it('tells whoever reads a body that its sender is gone', async () => {
    const failed = new Promise<unknown>((resolve) => {
      handle = (e) => e.readBody(1000).then(resolve, resolve)
    })
    const request = httpsRequest({ host: '127.0.0.1', port: listener.port, method: 'POST', agent: false, headers: { 'content-length': '100' }, ...tls() })
    request.on('error', () => {})
    request.write('half', () => request.destroy())
    expect(await failed).toMatchObject({ name: 'ClientGone' })
  })

  it('does not wait for a body for ever', async () => {
    handle = async (e) => {
      await e.readBody(1000).catch((error: { code: number }) => e.respond(error.code, {}, wholeBody(Buffer.alloc(0))))
    }
    const code = await new Promise((resolve, reject) => {
      const request = httpsRequest({ host: '127.0.0.1', port: listener.port, method: 'POST', agent: false, headers: { 'content-length': '100' }, ...tls() }, (response) => resolve(response.statusCode))
      request.on('error', reject)
      request.write('half')
    })
    expect(code).toBe(504)
  })

  it('lets go of an HTTP/2 stream whose body it has refused', async () => {
    handle = async (e) => {
      await e.readBody(1000).catch((error: { code: number }) => e.respond(error.code, {}, wholeBody(Buffer.alloc(0))))
    }
    const stream = open().request({ ':path': '/', ':method': 'POST' }).on('error', () => {})
    const refused = new Promise((resolve) => stream.resume().once('aborted', resolve))
    stream.write(Buffer.alloc(2000))
    await refused
  })

  it('answers nonsense with 400, and goes on', async () => {
    handle = echo
    await expect(http1('/', { method: 'BREW' })).resolves.toMatchObject({ code: 400 })
    expect((await http1('/')).code).toBe(200)
  })

  it('ends open streams when it is closed and their time is up', async () => {
    handle = async (e) => void e.stream(200, {}).write(chunk('begin'))
    const stream = open().request({ ':path': '/' }).on('error', () => {})
    await new Promise((resolve) => stream.once('data', resolve))
    const closed = new Promise((resolve) => stream.once('close', resolve))
    await listener.close(10)
    await closed
  })
})

describe('forward()', () => {
  it.each([['HTTP/1.1', http1], ['HTTP/2', http2]])('answers over %s with what comes from elsewhere', async (_name, send) => {
    handle = async (exchange) => exchange.forward(200, { 'content-type': 'text/plain' }, Readable.from([Buffer.from('one '), Buffer.from('two')]))
    expect(await send('/')).toMatchObject({ code: 200, text: 'one two' })
  })

  it.each([['HTTP/1.1', http1], ['HTTP/2', http2]])('breaks off over %s where that does', async (_name, send) => {
    const broken = async function* () {
      yield Buffer.from('one')
      throw new Error('away')
    }
    handle = async (exchange) => exchange.forward(200, {}, Readable.from(broken()))
    await expect(send('/')).rejects.toThrow()
  })
})

describe('a request for another protocol', () => {
  const ask = (onAnswer: (request: ClientRequest, resolve: (text: string) => void) => void) =>
    new Promise<string>((resolve, reject) => {
      const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-protocol': 'a, b', 'x-other': 'c' }
      const request = httpsRequest({ host: '127.0.0.1', port: listener.port, path: '/', headers, agent: false, ...tls() })
      request.on('error', reject)
      onAnswer(request, resolve)
      request.end()
    })

  it('can be answered as any other', async () => {
    handle = async (exchange) => exchange.respond(404, {}, wholeBody(Buffer.from(`no ${(await exchange.readBody(10)).length}`)))
    const text = await ask((request, resolve) => request.on('response', (response) => void response.setEncoding('utf8').on('data', (piece: string) => resolve(`${response.statusCode} ${piece}`))))
    expect(text).toBe('404 no 0')
  })

  it('can be given the connection, with the headers that are about it', async () => {
    handle = async ({ upgrade }) => {
      const socket = upgrade!.take()
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n')
      socket.end(JSON.stringify(upgrade!.headers))
    }
    const text = await ask((request, resolve) =>
      request.on('upgrade', (_response, socket, head) => {
        let said = head.toString()
        socket.on('data', (piece: Buffer) => (said += piece.toString()))
        socket.on('end', () => resolve(said))
      }),
    )
    expect(JSON.parse(text)).toEqual({ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-protocol': 'a, b' })
  })
})
