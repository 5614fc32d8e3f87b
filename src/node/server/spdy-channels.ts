import type { Connection } from './connection.ts'
import { whenDrained } from './connection.ts'
import { type StreamChoice, channel } from './remote-command.ts'
import { SpdySession, type SpdyStream } from './spdy/session.ts'

type Name = 'error' | 'stdin' | 'stdout' | 'stderr' | 'resize'

const namesFor = ({ stdin, stdout, stderr, tty }: StreamChoice): Name[] => [
  'error',
  ...(stdin ? (['stdin'] as const) : []),
  ...(stdout ? (['stdout'] as const) : []),
  ...(stderr ? (['stderr'] as const) : []),
  ...(tty ? (['resize'] as const) : []),
]

/** Returns the channels of a command after the client has opened a stream for each. */
export function channelsOverSpdy(
  connection: Connection,
  choice: StreamChoice,
  ready: (channels: Connection) => void,
): void {
  const missing = new Set<string>(namesFor(choice))
  const streams = new Map<number, SpdyStream>()
  const session = SpdySession.serve(connection, (stream) => {
    const name = stream.headers.get('streamtype') as Name
    if (!missing.delete(name)) return void stream.destroy()
    streams.set(channel[name], stream)
    if (missing.size === 0) ready(new SpdyChannels(session, connection, streams))
  })
}

/** The streams of a command as one connection, in which each message begins with its channel. */
class SpdyChannels implements Connection {
  readonly #session: SpdySession
  readonly #connection: Connection
  readonly #streams: ReadonlyMap<number, SpdyStream>
  onMessage: (message: Buffer) => void = () => {}
  onClose: () => void = () => {}
  /** The stream that cannot accept more data. */
  #full: SpdyStream | undefined

  constructor(session: SpdySession, connection: Connection, streams: ReadonlyMap<number, SpdyStream>) {
    this.#session = session
    this.#connection = connection
    this.#streams = streams
    for (const [to, stream] of streams) {
      stream.on('data', (piece: Buffer) => this.onMessage(Buffer.concat([Buffer.from([to]), piece])))
      stream.once('end', () => this.onMessage(Buffer.from([channel.close, to])))
    }
    // The client keeps the error stream open until it disconnects.
    streams.get(channel.error)!.once('close', () => this.onClose())
  }

  send(message: Buffer): boolean {
    const stream = this.#streams.get(message[0]!)
    if (!stream?.writable || message.length === 1 || stream.write(message.subarray(1))) return true
    this.#full = stream
    return false
  }

  drained(resume: () => void): void {
    if (this.#full) whenDrained(this.#full, resume)
    else resume()
  }

  pause(): void {
    this.#connection.pause()
  }

  resume(): void {
    this.#connection.resume()
  }

  close(): void {
    this.onClose = () => {}
    const ends = [...this.#streams.values()].map(
      (stream) =>
        new Promise<void>((resolve) => (stream.destroyed ? resolve() : stream.once('close', resolve).end(resolve))),
    )
    void Promise.all(ends).then(() => this.#session.close())
  }
}
