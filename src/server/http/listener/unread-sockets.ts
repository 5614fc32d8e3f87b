/** The part of a socket that shows how far its client reads. */
export interface ReadSocket {
  /** Includes what is not sent yet. */
  readonly bytesWritten: number
  readonly writableLength: number
  readonly writableEnded: boolean
  destroy(): unknown
}

/** Time limits in milliseconds. */
export interface ReadLimits {
  /** For a client to read any part of what waits for it. */
  unreadMs: number
  /** For a client to close a connection that this side has ended and flushed. */
  lingerMs: number
}

interface Stall {
  sent: number
  isEnded: boolean
  sinceMs: number
}

/**
 * Ends connections whose clients neither read nor close. Otherwise each would keep its place, its descriptor and its
 * unsent bytes for ever.
 */
export class UnreadSockets {
  readonly #limits: ReadLimits
  readonly #stalls = new WeakMap<ReadSocket, Stall>()
  readonly #streams = new WeakSet<ReadSocket>()

  constructor(limits: ReadLimits) {
    this.#limits = limits
  }

  /** The user of an exec or port-forward stream may pause it. Only its end is limited. */
  allowPauses(socket: ReadSocket): void {
    this.#streams.add(socket)
  }

  /** Must be called periodically. */
  check(sockets: Iterable<ReadSocket>, nowMs: number): void {
    for (const socket of sockets) {
      const limitMs = this.#limitOf(socket)
      if (limitMs === undefined) this.#stalls.delete(socket)
      else if (nowMs - this.#stalledSince(socket, nowMs) >= limitMs) socket.destroy()
    }
  }

  #limitOf(socket: ReadSocket): number | undefined {
    const { writableLength, writableEnded } = socket
    if (writableEnded) return writableLength > 0 ? this.#limits.unreadMs : this.#limits.lingerMs
    return writableLength > 0 && !this.#streams.has(socket) ? this.#limits.unreadMs : undefined
  }

  #stalledSince(socket: ReadSocket, nowMs: number): number {
    const sent = socket.bytesWritten - socket.writableLength
    const isEnded = socket.writableEnded && socket.writableLength === 0
    const before = this.#stalls.get(socket)
    if (before && before.sent === sent && before.isEnded === isEnded) return before.sinceMs
    this.#stalls.set(socket, { sent, isEnded, sinceMs: nowMs })
    return nowMs
  }
}
