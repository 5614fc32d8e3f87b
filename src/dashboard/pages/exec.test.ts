import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import { passOn } from './exec.ts'

/** A WebSocket that sends when a test lets it. */
class SlowSocket extends EventEmitter {
  isPaused = false
  readonly #waiting: { bytes: number; done: () => void }[] = []
  sent = 0

  get bufferedAmount(): number {
    return this.#waiting.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  send(data: Buffer, _: unknown, done: () => void): void {
    this.#waiting.push({ bytes: data.length, done })
  }

  pause(): void {
    this.isPaused = true
  }

  resume(): void {
    this.isPaused = false
  }

  /** Sends the first message. */
  flush(): void {
    const first = this.#waiting.shift()!
    this.sent += first.bytes
    first.done()
  }
}

it('passOn() reads no more than the receiver takes, and loses nothing', () => {
  const [from, to] = [new SlowSocket(), new SlowSocket()]
  passOn(from as never, to as never)
  const piece = Buffer.alloc(100_000)
  let received = 0
  // A sender with 5 MB, which stops when it is paused.
  for (let turn = 0; turn < 200 && to.sent < 5_000_000; turn++) {
    for (; !from.isPaused && received < 50; received++) from.emit('message', piece)
    expect(to.bufferedAmount).toBeLessThanOrEqual(600_000)
    to.flush()
  }
  expect([to.sent, from.isPaused]).toEqual([5_000_000, false])
})
