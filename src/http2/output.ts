import type { Duplex } from 'node:stream'

/** With this much to send it is not worth waiting for more. */
const fullBytes = 1 << 18
/** With this much not yet taken by the network, what can wait does. */
const congestedBytes = 1 << 20

/** Puts what is sent in one turn of the event loop together: one write, one record of TLS, one system call for many answers. */
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

  /** Bytes that the network has not taken. */
  get backlog(): number {
    return this.#bytes + this.#socket.writableLength
  }

  /** Whether what can wait should; `onRoom` tells when it may come. */
  get isCongested(): boolean {
    const isSo = this.#socket.writableLength >= congestedBytes
    if (isSo) this.#isWaitingForRoom = true
    return isSo
  }

  /** A text has one byte a letter. */
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
