import type { Duplex, Writable } from 'node:stream'

/** A connection that carries messages, over any framing. */
export interface Connection {
  /** Called for each message. Set before the first message can arrive. */
  onMessage: (message: Buffer) => void
  /** Called when the other side has disconnected or closed the connection. */
  onClose: () => void
  /** Returns false if the sender should wait for `drained`. */
  send(message: Buffer): boolean
  /** Calls back when more can be sent, or when the connection has ended. */
  drained(resume: () => void): void
  pause(): void
  resume(): void
  /** Closes the connection after everything was sent. */
  close(): void
}

/** Calls back when a stream accepts more data, or has ended. */
export function whenDrained(stream: Writable, resume: () => void): void {
  const done = () => {
    stream.off('drain', done)
    stream.off('close', done)
    resume()
  }
  stream.on('drain', done)
  stream.on('close', done)
}

/** A plain socket. */
export class PlainConnection implements Connection {
  protected readonly socket: Duplex
  onMessage: (message: Buffer) => void = () => {}
  onClose: () => void = () => {}

  constructor(socket: Duplex) {
    this.socket = socket
    socket.on('data', (piece: Buffer) => this.received(piece))
    socket.on('error', () => socket.destroy())
    socket.on('end', () => socket.end())
    socket.once('close', () => this.onClose())
  }

  protected received(piece: Buffer): void {
    this.onMessage(piece)
  }

  send(message: Buffer): boolean {
    return this.socket.writable ? this.socket.write(message) : true
  }

  drained(resume: () => void): void {
    whenDrained(this.socket, resume)
  }

  pause(): void {
    this.socket.pause()
  }

  resume(): void {
    this.socket.resume()
  }

  close(): void {
    this.socket.end()
    // Remaining input is discarded, so that the end of the connection is noticed.
    this.socket.resume()
  }
}
