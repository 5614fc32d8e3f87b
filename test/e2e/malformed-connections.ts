import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import type { SeededRandom } from '../seeded-random.ts'
import type { TlsClient } from './tls-client.ts'

/** An invalid use of a connection. */
export interface Misbehaviour {
  name: string
  /** Resolves to what it got to read, '' where that is not for people. */
  run(client: TlsClient, random: SeededRandom): Promise<string>
}

/** Writes, then reads to the end that the server makes. */
async function converse(socket: Duplex, ...writes: (string | Buffer)[]): Promise<string> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  for (const bytes of writes) if (!socket.destroyed) socket.write(bytes)
  await closed
  return Buffer.concat(chunks).toString('latin1')
}

/** Writes, and reads until the server says goodbye: a GOAWAY frame, after which it is for the client to close. */
async function converseHttp2(socket: Duplex, ...writes: (string | Buffer)[]): Promise<string> {
  let read = Buffer.alloc(0)
  const over = new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      read = Buffer.concat([read, chunk])
      for (let at = 0; at + 9 <= read.length; at += 9 + read.readUIntBE(at, 3)) if (read[at + 3] === 7) resolve()
    })
    socket.once('close', resolve)
  })
  for (const bytes of writes) socket.write(bytes)
  await over
  return drop(socket)
}

/** Writes, and is gone. */
async function drop(socket: Duplex, ...writes: (string | Buffer)[]): Promise<string> {
  for (const bytes of writes) await new Promise((resolve) => socket.write(bytes, resolve))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.destroy()
  await closed
  return ''
}

const configMaps = '/api/v1/namespaces/default/configmaps'
const request = (line: string, ...headers: string[]) => [line, 'Host: x', 'Connection: close', ...headers, '', ''].join('\r\n')
const post = (...headers: string[]) => request(`POST ${configMaps} HTTP/1.1`, 'Content-Type: application/json', ...headers)

const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
const frame = (type: number, flags: number, stream: number, payload: Buffer) => {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}
const noSettings = frame(4, 0, 0, Buffer.alloc(0))

/** Garbage is answered with 400 (or 4xx) and the end of the connection, or with the end alone. */
export const misbehaviours: readonly Misbehaviour[] = [
  { name: 'noise', run: async (c, r) => converse(await c.socket(), Buffer.from(Array.from({ length: 200 }, () => r.below(256))), '\r\n\r\n') },
  { name: 'plain text to a TLS port', run: (c) => converse(connect(c.port, c.host).on('error', () => {}), 'GET / HTTP/1.1\r\nHost: x\r\n\r\n') },
  { name: 'a version of HTTP that is none', run: async (c) => converse(await c.socket(), request('GET /livez HTTP/9.9')) },
  { name: 'a method that is none', run: async (c) => converse(await c.socket(), request('B@D /livez HTTP/1.1')) },
  { name: 'a zero byte in a header', run: async (c) => converse(await c.socket(), request('GET /livez HTTP/1.1', 'X-A: a\0b')) },
  { name: 'a line break in a header', run: async (c) => converse(await c.socket(), request('GET /livez HTTP/1.1', 'X-A: a\rb')) },
  { name: 'headers without end', run: async (c) => converse(await c.socket(), 'GET /livez HTTP/1.1\r\nHost: x\r\n', `X-A: ${'a'.repeat(40_000)}\r\n`) },
  { name: 'a path without end', run: async (c) => converse(await c.socket(), request(`GET /${'a'.repeat(40_000)} HTTP/1.1`)) },
  { name: 'two lengths', run: async (c) => converse(await c.socket(), `${post('Content-Length: 2', 'Content-Length: 3')}{}`) },
  { name: 'a length and chunks', run: async (c) => converse(await c.socket(), `${post('Content-Length: 2', 'Transfer-Encoding: chunked')}0\r\n\r\n`) },
  { name: 'a length that is none', run: async (c) => converse(await c.socket(), `${post('Content-Length: -5')}{}`) },
  { name: 'a chunk whose size is none', run: async (c) => converse(await c.socket(), `${post('Transfer-Encoding: chunked')}xyz\r\n{}\r\n0\r\n\r\n`) },
  { name: 'a chunk longer than it says', run: async (c) => converse(await c.socket(), `${post('Transfer-Encoding: chunked')}2\r\n{"a":1}\r\n0\r\n\r\n`) },
  {
    name: 'chunks without end',
    run: async (c) => {
      const chunk = `${(1 << 16).toString(16)}\r\n${' '.repeat(1 << 16)}\r\n`
      return converse(await c.socket(), post('Transfer-Encoding: chunked'), ...Array.from({ length: 60 }, () => chunk))
    },
  },
  { name: 'a length far beyond the limit', run: async (c) => converse(await c.socket(), `${post('Content-Length: 99999999999')}{`) },
  { name: 'more than the length says', run: async (c) => converse(await c.socket(), `${request(`POST ${configMaps} HTTP/1.1`, 'Content-Length: 2').replace('Connection: close\r\n', '')}{}}}}} garbage\r\n\r\n`) },
  { name: 'an upgrade to nothing', run: async (c) => converse(await c.socket(), `GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: bogus\r\n\r\n`) },
  { name: 'CONNECT', run: async (c) => converse(await c.socket(), request('CONNECT example.com:443 HTTP/1.1')) },
  { name: 'a body that breaks off', run: async (c) => drop(await c.socket(), post('Content-Length: 1000'), '{"metadata":') },
  { name: 'a large body that breaks off', run: async (c) => drop(await c.socket(), post('Content-Length: 3000000'), ' '.repeat(1_000_000)) },
  { name: 'chunks that break off', run: async (c) => drop(await c.socket(), post('Transfer-Encoding: chunked'), 'ff\r\n{') },
  { name: 'headers that break off', run: async (c) => drop(await c.socket(), 'GET /api/v1/pods HTTP/1.1\r\nHos') },
  { name: 'nothing at all', run: async (c) => drop(await c.socket()) },
  { name: 'a list that nobody reads', run: async (c) => drop(await c.socket(), request('GET /api/v1/configmaps HTTP/1.1')) },
  { name: 'a watch that is dropped', run: async (c) => drop(await c.socket(), request(`GET ${configMaps}?watch=1 HTTP/1.1`)) },
  { name: 'HTTP/2 without its preface', run: async (c) => converseHttp2(await c.socket('h2'), 'GET / HTTP/1.1\r\n\r\n') },
  { name: 'HTTP/2 data on no stream', run: async (c) => converseHttp2(await c.socket('h2'), preface, noSettings, frame(0, 0, 1, Buffer.alloc(10))) },
  { name: 'an HTTP/2 frame that is too long', run: async (c) => converseHttp2(await c.socket('h2'), preface, noSettings, frame(1, 4, 1, Buffer.alloc(1 << 17))) },
  { name: 'HTTP/2 headers that are no HPACK', run: async (c) => converseHttp2(await c.socket('h2'), preface, noSettings, frame(1, 5, 1, Buffer.alloc(20, 0xff))) },
  { name: 'HTTP/2 settings of a wrong size', run: async (c) => converseHttp2(await c.socket('h2'), preface, frame(4, 0, 0, Buffer.alloc(5))) },
  {
    name: 'HTTP/2 streams that are reset at once',
    run: async (c) => {
      const session = c.session()
      const streams = Array.from({ length: 20 }, (_, i) => session.request({ ':path': i % 2 ? `${configMaps}?watch=1` : configMaps, ':method': i % 4 === 3 ? 'POST' : 'GET' }))
      const closed = streams.map((stream) => new Promise((resolve) => stream.on('error', () => {}).once('close', resolve)))
      for (const stream of streams) stream.close(8)
      await Promise.all(closed)
      return ''
    },
  },
  {
    name: 'an HTTP/2 body that is too long and never ends',
    run: async (c) => {
      const stream = c.session().request({ ':method': 'POST', ':path': configMaps, 'content-type': 'application/json' })
      stream.on('error', () => {}) // may be told to stop in the middle
      let code = ''
      stream.on('response', (headers) => (code = `HTTP/1.1 ${headers[':status']}`))
      const refused = new Promise((resolve) => stream.resume().once('aborted', resolve))
      stream.write(Buffer.alloc(4 << 20, ' '))
      await refused
      stream.destroy()
      return code
    },
  },
  {
    name: 'an HTTP/2 length that is not true',
    run: async (c) => {
      const stream = c.session().request({ ':method': 'POST', ':path': configMaps, 'content-type': 'application/json', 'content-length': '5' })
      stream.on('error', () => {}) // the server resets it
      const closed = new Promise((resolve) => stream.resume().once('close', resolve))
      stream.end('{"metadata":{"name":"longer-than-five"}}')
      await closed
      return ''
    },
  },
]
