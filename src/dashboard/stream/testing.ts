import { EventEmitter } from 'node:events'
import type { Position } from './table.ts'

/** The server's end of a page's WebSocket, for tests. */
export class FakeSocket extends EventEmitter {
  readonly OPEN = 1
  readyState = 1
  bufferedAmount = 0
  pings = 0
  closed: number | undefined
  answersPings = true
  readonly #sent: string[] = []

  send(bytes: Buffer): void {
    this.#sent.push(bytes.toString())
  }

  close(code?: number): void {
    if (this.readyState !== 1) return
    this.readyState = 3
    this.closed = code
    this.emit('close')
  }

  terminate(): void {
    this.close(1006)
  }

  ping(): void {
    this.pings++
    if (this.answersPings) this.emit('pong')
  }

  wishes(...topics: { name: string; at?: Position }[]): void {
    this.emit('message', Buffer.from(JSON.stringify({ topics })))
  }

  get texts(): string[] {
    return this.#sent.splice(0)
  }
}
