import type { Clock } from '../../base/clock.ts'
import type { Frame, Position, Table } from './table.ts'

/** A connection that frames go to. */
export interface Subscriber {
  /** Bytes that the client has not taken yet. */
  readonly backlog: number
  send(bytes: Buffer): void
}

/** Changes are sent at most so often. */
const cutEveryMs = 250
/** A client that has not taken this much gets no more until it has: then all it missed, in one frame. */
const backlogLimit = 512 * 1024
/** A topic that nobody shows any more is kept for clients that come back. */
export const lingerMs = 30_000

/**
 * A table and all who follow it. Each change is encoded once, whatever their number. A subscriber that is slow or comes
 * back gets the changes since its own position.
 */
export class Channel {
  readonly name: string
  readonly table: Table
  readonly #clock: Clock
  readonly #positions = new Map<Subscriber, { revision: number; words: number }>()
  #cancelCut: (() => void) | undefined

  constructor(name: string, table: Table, clock: Clock) {
    this.name = name
    this.table = table
    this.#clock = clock
  }

  get subscribers(): number {
    return this.#positions.size
  }

  subscribe(subscriber: Subscriber, position?: Position): void {
    this.#cut()
    this.#positions.set(subscriber, { revision: -1, words: 0 })
    this.#catchUp(subscriber, position)
  }

  unsubscribe(subscriber: Subscriber): void {
    this.#positions.delete(subscriber)
  }

  /** The state that a subscriber has been sent. */
  positionOf(subscriber: Subscriber): Position | undefined {
    const at = this.#positions.get(subscriber)
    return at && { epoch: this.table.epoch, ...at }
  }

  /** Has changes of the table sent soon. */
  touch(): void {
    if (!this.table.isDirty) return
    this.#cancelCut ??= this.#clock.after(cutEveryMs, () => {
      this.#cancelCut = undefined
      this.#cut()
    })
  }

  close(): void {
    this.#cancelCut?.()
    this.#positions.clear()
  }

  #cut(): void {
    const { table } = this
    const before = { revision: table.revision, words: table.words }
    const frame = table.cut()
    let bytes: Buffer | undefined
    let isBehind = false
    for (const [subscriber, at] of this.#positions) {
      if (subscriber.backlog > backlogLimit) isBehind = true
      else if (at.revision !== before.revision || at.words !== before.words) this.#catchUp(subscriber, { epoch: table.epoch, ...at })
      else if (frame) {
        subscriber.send((bytes ??= this.#encoded(frame)))
        this.#positions.set(subscriber, { revision: table.revision, words: table.words })
      }
    }
    if (isBehind) this.#cancelCut ??= this.#clock.after(cutEveryMs, () => {
      this.#cancelCut = undefined
      this.#cut()
    })
  }

  #catchUp(subscriber: Subscriber, position: Position | undefined): void {
    for (const frame of this.table.since(position)) subscriber.send(this.#encoded(frame))
    this.#positions.set(subscriber, { revision: this.table.revision, words: this.table.words })
  }

  #encoded(frame: Frame): Buffer {
    return Buffer.from(JSON.stringify({ c: this.name, e: this.table.epoch, ...frame }))
  }
}
