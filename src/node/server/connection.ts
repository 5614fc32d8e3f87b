import type { Duplex, Writable } from 'node:stream'

/** A connection that carries bytes in pieces, whatever frames them on the way. */
export interface Connection {
  /** Gets each piece; set before anything can have come. */
  onMessage: (message: Buffer) => void
  /** Told when the other side is gone or has said goodbye. */
  onClose: () => void
  /** False where the sender should wait for `drained`. */
  send(message: Buffer): boolean
  /** Calls back when there is room again, or nobody left to send to. */
  drained(resume: () => void): void
  pause(): void
  resume(): void
  /** Says goodbye, after all that was sent. */
  close(): void
}

/** Calls back when a stream takes more, or never will. */
export function whenDrained(stream: Writable, resume: () => void): void {
  const done = () => {
    stream.off('drain', done)
    stream.off('close', done)
    resume()
  }
  stream.on('drain', done)
  stream.on('close', done)
}

/** A socket as it is. */
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
    // What still comes is of no interest, and its end must be seen.
    this.socket.resume()
  }
}
