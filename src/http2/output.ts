import type { Duplex } from 'node:stream'

/** At this size the buffer is written at once. */
const fullBytes = 1 << 18
/** Above this many unsent bytes in the socket, streams must wait. */
const congestedBytes = 1 << 20

/**
 * Collects all bytes of one turn of the event loop into one write: one TLS record and one system call for many
 * responses.
 */
export class Output {
  readonly #socket: Duplex
  readonly #onRoom: () => void
  #parts: (string | Buffer)[] = []
  #bytes = 0
  #flushing: NodeJS.Immediate | undefined
  #isWaitingForRoom = false

  constructor(socket: Duplex, onRoom: () => void) {
    this.#socket = socket
    this.#onRoom = onRoom
    socket.on('drain', () => this.#drained())
  }

  /** The number of bytes that the socket has not sent yet. */
  get backlog(): number {
    return this.#bytes + this.#socket.writableLength
  }

  /** True if streams must wait until `onRoom` is called. */
  get isCongested(): boolean {
    const isSo = this.#socket.writableLength >= congestedBytes
    if (isSo) this.#isWaitingForRoom = true
    return isSo
  }

  /** A string is Latin-1: one byte for each character. */
  add(part: string | Buffer): void {
    this.#parts.push(part)
    this.#bytes += part.length
    if (this.#bytes >= fullBytes) this.flush()
    else this.#flushing ??= setImmediate(() => this.flush())
  }

  flush(): void {
    if (this.#flushing) clearImmediate(this.#flushing)
    this.#flushing = undefined
    const parts = this.#parts
    if (parts.length === 0) return
    const bytes = Buffer.allocUnsafe(this.#bytes)
    this.#parts = []
    this.#bytes = 0
    let at = 0
    for (const part of parts) at += typeof part === 'string' ? bytes.write(part, at, 'latin1') : part.copy(bytes, at)
    if (!this.#socket.destroyed && this.#socket.writable) this.#socket.write(bytes)
  }

  #drained(): void {
    if (!this.#isWaitingForRoom) return
    this.#isWaitingForRoom = false
    this.#onRoom()
  }
}
