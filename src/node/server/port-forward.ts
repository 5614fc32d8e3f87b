import { PassThrough, type Readable, type Writable } from 'node:stream'
import { type Connection, whenDrained } from './connection.ts'
import { SpdySession, type SpdyStream } from './spdy/session.ts'

/** The protocol of the SPDY streams, and its name in a WebSocket. */
export const portForwardProtocol = 'portforward.k8s.io'
export const tunnelProtocol = `SPDY/3.1+${portForwardProtocol}`

/** An earlier WebSocket protocol. The ports are in the query; each has two channels, data and errors. */
export const portChannelProtocol = 'v4.channel.k8s.io'

type Connect = (port: number) => Promise<{ readable: Readable; writable: Writable }>

/**
 * Serves connections to a pod's ports. For each connection the client opens an error stream and a data stream with the
 * same request id.
 */
export function servePortForward(connection: Connection, pod: string, connect: Connect): void {
  const waiting = new Map<string, SpdyStream>()
  SpdySession.serve(connection, (stream) => {
    const request = stream.headers.get('requestid') ?? stream.headers.get('port') ?? ''
    const other = waiting.get(request)
    if (!other) {
      waiting.set(request, stream)
      stream.once('close', () => {
        if (waiting.get(request) === stream) waiting.delete(request)
      })
      return
    }
    waiting.delete(request)
    const [errors, data] = stream.headers.get('streamtype') === 'data' ? [other, stream] : [stream, other]
    void forward(errors, data, pod, connect)
  })
}

async function forward(errors: SpdyStream, data: SpdyStream, pod: string, connect: Connect): Promise<void> {
  errors.resume()
  const port = Number(data.headers.get('port'))
  try {
    if (!Number.isInteger(port) || port < 1 || port > 65_535)
      throw new Error(`${JSON.stringify(data.headers.get('port'))} is no port`)
    const { readable, writable } = await connect(port)
    const end = () => {
      readable.destroy()
      writable.destroy()
      errors.end()
    }
    readable.on('error', end)
    writable.on('error', end)
    data.once('close', end)
    readable.once('close', () => data.end())
    readable.pipe(data)
    data.pipe(writable)
  } catch (e) {
    errors.end(`error forwarding port ${port} to pod ${pod}: ${(e as Error).message}`)
    data.end()
  }
}

/** Serves one connection to each port. The first message of a channel is its port number. */
export function servePortChannels(
  connection: Connection,
  pod: string,
  ports: readonly number[],
  connect: Connect,
): void {
  const say = (channel: number, content: Buffer | string) =>
    connection.send(Buffer.concat([Buffer.from([channel]), Buffer.from(content)]))
  const inputs = ports.map(() => new PassThrough())
  const sockets: Writable[] = []
  connection.onMessage = (message) => {
    const input = message[0]! % 2 === 0 ? inputs[message[0]! / 2] : undefined
    if (!input || input.write(message.subarray(1))) return
    connection.pause()
    whenDrained(input, () => connection.resume())
  }
  connection.onClose = () => {
    for (const stream of [...inputs, ...sockets]) stream.destroy()
  }
  for (const [i, port] of ports.entries()) {
    const number = Buffer.alloc(2)
    number.writeUInt16LE(port)
    say(2 * i, number)
    say(2 * i + 1, number)
    const fail = (e: unknown) =>
      void say(2 * i + 1, `error forwarding port ${port} to pod ${pod}: ${(e as Error).message}`)
    connect(port).then(({ readable, writable }) => {
      sockets.push(writable)
      readable.on('error', fail)
      writable.on('error', () => writable.destroy())
      readable.on('data', (piece: Buffer) => {
        if (say(2 * i, piece)) return
        readable.pause()
        connection.drained(() => readable.resume())
      })
      inputs[i]!.pipe(writable)
      // The protocol cannot report the end of one port. The connection is closed after the last port has ended.
      readable.once('close', () => {
        sockets.splice(sockets.indexOf(writable), 1)
        if (sockets.length === 0) connection.close()
      })
    }, fail)
  }
}
