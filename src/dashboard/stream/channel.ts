import type { Clock } from '../../base/clock.ts'
import type { Frame, Position, Table } from './table.ts'

/** A connection that receives frames. */
export interface Subscriber {
  /** Bytes that the client has not received yet. */
  readonly backlog: number
  send(bytes: Buffer): void
}

/** Minimum interval between frames. */
const cutEveryMs = 250
/** A client with a larger backlog gets no frames until it has caught up, and then all changes in one frame. */
const backlogLimit = 512 * 1024
/** Time for which a topic without viewers is kept for reconnecting clients. */
export const lingerMs = 30_000

/**
 * A table and its subscribers. Each change is encoded once for all of them. A subscriber that is slow or reconnects
 * gets the changes since its position.
 */
export class Channel {
  readonly name: string
  readonly table: Table
  readonly #clock: Clock
  /** Updates the table. */
  readonly #fill: () => void
  /** Undefined for a subscriber that has nothing yet. */
  readonly #positions = new Map<Subscriber, Position | undefined>()
  #cancelCut: (() => void) | undefined

  constructor(name: string, table: Table, clock: Clock, fill: () => void = () => {}) {
    this.name = name
    this.table = table
    this.#clock = clock
    this.#fill = fill
  }

  get subscribers(): number {
    return this.#positions.size
  }

  /** Adds a subscriber that has received everything up to `position`. One that is behind waits for its frames. */
  subscribe(subscriber: Subscriber, position?: Position): void {
    this.#cut()
    this.#positions.set(subscriber, position)
    if (subscriber.backlog > backlogLimit) this.touch()
    else this.#catchUp(subscriber, position)
  }

  unsubscribe(subscriber: Subscriber): void {
    this.#positions.delete(subscriber)
  }

  /** Returns the position of a subscriber. */
  positionOf(subscriber: Subscriber): Position | undefined {
    return this.#positions.get(subscriber)
  }

  /** Schedules a frame with the changes of the table, including pending ones. */
  touch(): void {
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
    this.#fill()
    this.table.renewWords()
    do this.#cutFrame()
    while (this.table.isDirty)
  }

  #cutFrame(): void {
    const { table } = this
    const before = table.position
    const frame = table.cut()
    let bytes: Buffer | undefined
    let isBehind = false
    for (const [subscriber, at] of this.#positions) {
      if (subscriber.backlog > backlogLimit) isBehind = true
      else if (at?.epoch !== before.epoch || at.revision !== before.revision || at.words !== before.words)
        this.#catchUp(subscriber, at)
      else if (frame) {
        subscriber.send((bytes ??= this.#encoded(frame)))
        this.#positions.set(subscriber, table.position)
      }
    }
    if (isBehind) this.touch()
  }

  #catchUp(subscriber: Subscriber, position: Position | undefined): void {
    for (const frame of this.table.since(position)) subscriber.send(this.#encoded(frame))
    this.#positions.set(subscriber, this.table.position)
  }

  #encoded(frame: Frame): Buffer {
    return Buffer.from(JSON.stringify({ c: this.name, e: this.table.epoch, ...frame }))
  }
}
