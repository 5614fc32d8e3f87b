import { once } from 'node:events'
import { type ClientHttp2Session, type ServerHttp2Session, type ServerHttp2Stream, type Settings, connect, createServer as createHttp2Server } from 'node:http2'
import { type AddressInfo, connect as connectSocket, createServer } from 'node:net'
import type { Readable } from 'node:stream'
import { afterEach, describe, expect, it } from 'vitest'
import { ClientConnection, type Field, type Http2Stream, ServerConnection } from '../../src/http2/index.ts'

const undo: (() => void)[] = []
afterEach(() => {
  for (const fn of undo.splice(0).reverse()) fn()
})

/** Bytes that tell if any is lost, or comes twice, or of another stream. */
function bodyOf(seed: number, length: number): Buffer {
  const words = new Uint32Array(Math.ceil(length / 4))
  for (let i = 0; i < words.length; i++) words[i] = Math.imul(i + 1, 2_654_435_761) ^ Math.imul(seed, 40_503)
  return Buffer.from(words.buffer, 0, length)
}

const isSame = (pieces: readonly Buffer[], wanted: Buffer) => Buffer.concat(pieces).equals(wanted)
const ok: readonly Field[] = [{ name: ':status', value: '200' }]

/** Our server, and Node's client. */
async function ourServer(onRequest: (stream: Http2Stream, path: string) => void, settings: Settings): Promise<ClientHttp2Session> {
  const server = createServer((socket) => {
    const connection = new ServerConnection({ socket, maxStreams: 100, now: () => 0, onRequest: (stream, { path }) => onRequest(stream, path), onClosed: () => {} })
    undo.push(() => connection.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { settings })
  undo.push(() => void server.close(), () => session.destroy())
  await once(session, 'remoteSettings')
  return session
}

/** Node's server, and our client. */
async function ourClient(onStream: (stream: ServerHttp2Stream, path: string) => void, settings: Settings, streamWindow: number) {
  const server = createHttp2Server({ settings }).listen(0, '127.0.0.1')
  server.on('stream', (stream, headers) => onStream(stream, headers[':path']!))
  const sessions: ServerHttp2Session[] = []
  server.on('session', (session) => sessions.push(session))
  await once(server, 'listening')
  const socket = connectSocket((server.address() as AddressInfo).port, '127.0.0.1')
  const connection = new ClientConnection({ socket, streamWindow, connectionWindow: 70_000, onHeard: () => {}, onLeaving: () => {}, onClosed: () => {} })
  undo.push(() => void server.close(), () => connection.destroy())
  await connection.ready()
  const ask = (path: string, body?: Buffer) => {
    const pieces: Buffer[] = []
    const fields = [{ name: ':method', value: body ? 'POST' : 'GET' }, { name: ':scheme', value: 'http' }, { name: ':authority', value: 'a' }, { name: ':path', value: path }]
    return new Promise<Buffer[]>((resolve, reject) => {
      connection.request({ fields, body }, { head: () => {}, data: (piece) => pieces.push(Buffer.from(piece)), end: () => resolve(pieces), closed: () => reject(new Error('broken off')) })
    })
  }
  return { ask, sessions }
}

async function bodyFrom(stream: Readable): Promise<Buffer[]> {
  const pieces: Buffer[] = []
  stream.on('data', (piece: Buffer) => pieces.push(piece))
  await once(stream, 'end')
  return pieces
}

/** Each when the other side has taken the one before. */
function changeWindows(session: ClientHttp2Session | ServerHttp2Session, sizes = [0, 100, 300_000, 1000, 0, 65_535]): void {
  const [initialWindowSize, ...rest] = sizes
  if (initialWindowSize !== undefined) session.settings({ initialWindowSize }, () => changeWindows(session, rest))
}

/** Says all that it hears. */
function echo(stream: Http2Stream): void {
  stream.sendHeaders(ok, false)
  stream.receive({ data: (piece) => void stream.send(Buffer.from(piece)), end: () => void stream.send(Buffer.alloc(0), true) })
}

describe('our server and Node\'s client', () => {
  it('carry bodies of megabytes both ways at once on several streams, through small windows', async () => {
    const session = await ourServer(echo, { initialWindowSize: 5000 })
    const isWhole = Array.from({ length: 4 }, async (_, i) => {
      const body = bodyOf(i, 2_000_000 + i)
      const stream = session.request({ ':method': 'POST' })
      stream.end(body)
      return isSame(await bodyFrom(stream), body)
    })
    expect(await Promise.all(isWhole)).toEqual([true, true, true, true])
  })

  it('carry on when the windows change meanwhile', async () => {
    const body = bodyOf(7, 2_000_000)
    const session = await ourServer((stream) => {
      stream.sendHeaders(ok, false)
      stream.send(body, true)
    }, { initialWindowSize: 60_000 })
    const stream = session.request({})
    stream.once('data', () => changeWindows(session))
    expect(isSame(await bodyFrom(stream), body)).toBe(true)
  })

  it('go on with other streams while the client does not read one', async () => {
    const session = await ourServer((stream, path) => {
      stream.sendHeaders(ok, false)
      stream.send(bodyOf(Number(path.slice(1)), 500_000), true)
    }, { initialWindowSize: 10_000 })
    const stopped = session.request({ ':path': '/1' })
    await once(stopped, 'response')
    for (const seed of [2, 3]) expect(isSame(await bodyFrom(session.request({ ':path': `/${seed}` })), bodyOf(seed, 500_000))).toBe(true)
    expect(isSame(await bodyFrom(stopped), bodyOf(1, 500_000))).toBe(true)
  })

  it('go on with other streams while the server does not read one', async () => {
    let unread: Http2Stream | undefined
    const session = await ourServer((stream, path) => (path === '/unread' ? (unread = stream) : echo(stream)), {})
    const body = bodyOf(1, 3_000_000)
    const stopped = session.request({ ':method': 'POST', ':path': '/unread' })
    stopped.end(body)
    const other = session.request({ ':method': 'POST', ':path': '/' })
    other.end(body)
    expect(isSame(await bodyFrom(other), body)).toBe(true)
    expect(unread!.isRemoteEnded).toBe(false)
    echo(unread!)
    expect(isSame(await bodyFrom(stopped), body)).toBe(true)
  })

  it('goes on after many bodies that were answered and not read', async () => {
    const session = await ourServer((stream) => stream.sendHeaders(ok, true), {})
    for (let i = 0; i < 60; i++) {
      const stream = session.request({ ':method': 'POST' })
      stream.on('error', () => {})
      stream.end(bodyOf(i, 600_000))
      stream.resume()
      await once(stream, 'close')
    }
  })
})

describe('our client and Node\'s server', () => {
  it('carry bodies of megabytes both ways at once on several streams, through small windows', async () => {
    const { ask } = await ourClient((stream) => {
      stream.respond({})
      stream.pipe(stream)
    }, { initialWindowSize: 5000 }, 5000)
    const isWhole = Array.from({ length: 4 }, async (_, i) => isSame(await ask('/', bodyOf(i, 1_000_000 + i)), bodyOf(i, 1_000_000 + i)))
    expect(await Promise.all(isWhole)).toEqual([true, true, true, true])
  })

  it('carry on when the windows change meanwhile', async () => {
    const body = bodyOf(7, 1_000_000)
    const { ask, sessions } = await ourClient((stream) => {
      stream.respond({})
      stream.once('data', () => changeWindows(sessions[0]!))
      stream.pipe(stream)
    }, { initialWindowSize: 20_000 }, 1 << 16)
    expect(isSame(await ask('/', body), body)).toBe(true)
  })

  it('go on with other streams while the server does not read one', async () => {
    let unread: ServerHttp2Stream | undefined
    const { ask } = await ourClient((stream, path) => {
      stream.respond({})
      if (path === '/unread') unread = stream
      else stream.pipe(stream)
    }, { initialWindowSize: 10_000 }, 1 << 16)
    const body = bodyOf(1, 300_000)
    const stopped = ask('/unread', body)
    expect(isSame(await ask('/', body), body)).toBe(true)
    unread!.pipe(unread!)
    expect(isSame(await stopped, body)).toBe(true)
  })
})

describe('header fields', () => {
  const visible = Array.from({ length: 95 }, (_, i) => String.fromCharCode(i + 32)).join('').trim()

  it('of all letters come as Node\'s client writes them, and go as it reads them', async () => {
    const session = await ourServer((stream, path) => stream.sendHeaders([...ok, { name: 'x-path', value: path }, { name: 'x-text', value: visible }], true), {})
    for (let i = 0; i < 3; i++) {
      const stream = session.request({ ':path': `/${visible.replaceAll('#', '')}` })
      const [headers] = await once(stream, 'response')
      expect([headers['x-path'], headers['x-text']]).toEqual([`/${visible.replaceAll('#', '')}`, visible])
      stream.resume()
    }
  })
})
