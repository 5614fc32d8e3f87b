import type { PriorityLevelConfiguration } from '../../api/generated/types.ts'
import type { Clock } from '../../base/clock.ts'
import { dealHand } from './hand.ts'

/** Why a request is not served, in the words of upstream's metric. */
export type RefusalReason = 'concurrency-limit' | 'queue-full' | 'time-out' | 'cancelled'

export class Refused extends Error {
  readonly reason: RefusalReason

  constructor(reason: RefusalReason) {
    super(`too many requests: ${reason}`)
    this.reason = reason
  }
}

/** A request that waits for seats. */
interface Waiter {
  readonly flow: string
  readonly seats: number
  readonly queue: Queue
  readonly start: (ticket: Ticket) => void
  readonly stop: () => void
}

interface Queue {
  readonly waiters: Waiter[]
  /** Seat-milliseconds that its flows have had, on the scale of the level. */
  served: number
}

/** Seats that a request holds until it is released, which may be done more than once. */
export class Ticket {
  readonly seats: number
  readonly flow: string
  readonly #level: Level
  readonly #queue: Queue | undefined
  readonly #startMs: number
  #isReleased = false

  constructor(level: Level, flow: string, seats: number, queue: Queue | undefined, startMs: number) {
    this.#level = level
    this.flow = flow
    this.seats = seats
    this.#queue = queue
    this.#startMs = startMs
  }

  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#level.leave(this, this.#queue, this.#startMs)
  }
}

/** A request is taken to last so long when it begins; when it ends, its queue is charged for what it was. */
const expectedMs = 20
/** What a request costs at least: many take less than the clock tells. */
const leastMs = 1

/** How a level queues: undefined where it refuses at once. */
interface Queuing {
  /** Those that somebody has waited in; there may be millions in all. */
  readonly queues: Map<number, Queue>
  readonly count: number
  readonly handSize: number
  readonly lengthLimit: number
}

export interface LevelOptions {
  clock: Clock
  /** How long a request waits for seats at most. */
  waitLimitMs: number
}

/** The seats of one priority level, and who waits for them. */
export class Level {
  readonly name: string
  readonly #options: LevelOptions
  uid = ''
  /** Seats that it has now; unlimited where it is exempt. */
  limit = 1
  inUse = 0
  waiting = 0
  /** The most seats that were held and waited for at one time since it was last asked. */
  #peak = 0
  #queuing: Queuing | undefined
  readonly #active = new Set<Queue>()
  /** What the queue had been served that was dispatched last: who begins to wait begins there. */
  #virtual = 0
  #waitingSeats = 0
  /** Seats of requests that take more than one. */
  #wideInUse = 0
  #waitingWide = 0
  /** Seats that each flow holds. */
  readonly #held = new Map<string, number>()

  constructor(name: string, options: LevelOptions) {
    this.name = name
    this.#options = options
  }

  get isExempt(): boolean {
    return this.limit === Infinity
  }

  /** Takes over what its object says. Requests that wait stay where they are. */
  configure({ metadata, spec }: PriorityLevelConfiguration): void {
    this.uid = metadata.uid ?? ''
    const queuing = spec.limited?.limitResponse.queuing
    if (spec.type === 'Exempt') this.limit = Infinity
    const { queues: count = 0, handSize = 1, queueLengthLimit: lengthLimit = 1 } = queuing ?? {}
    const isSame = this.#queuing?.count === count && this.#queuing.handSize === handSize
    const queues = isSame ? this.#queuing!.queues : new Map<number, Queue>()
    this.#queuing = queuing ? { queues, count, handSize, lengthLimit } : undefined
  }

  /** A ticket at once where there are seats, or a promise of one. Throws or rejects with Refused. */
  enter(flow: string, seats: number, signal?: () => AbortSignal): Ticket | Promise<Ticket> {
    const demand = this.inUse + this.#waitingSeats + seats
    if (demand > this.#peak) this.#peak = demand
    if (this.#mayEnter(seats) || this.#isFirst(flow, seats)) return this.#seat(flow, seats, undefined)
    if (!this.#queuing) throw new Refused('concurrency-limit')
    return this.#wait(this.#queuing, flow, seats, signal?.())
  }

  /** Nobody passes those who wait for the same. */
  #mayEnter(seats: number): boolean {
    const ahead = seats > 1 ? this.#waitingWide : this.waiting - this.#waitingWide
    return ahead === 0 && this.#hasRoom(seats)
  }

  /**
   * A flow that holds no seat need not wait for those that hold them all, up to as many seats again: who asks for one
   * thing after the other does not feel who asks for hundreds at once.
   */
  #isFirst(flow: string, seats: number): boolean {
    return this.#queuing !== undefined && !this.#held.has(flow) && this.inUse + seats <= 2 * this.limit
  }

  /** The most seats that were wanted at one time; begins anew. */
  takePeak(): number {
    const peak = this.#peak
    this.#peak = this.inUse + this.#waitingSeats
    return peak
  }

  /** For tickets: seats are free again. */
  leave({ seats, flow }: Ticket, queue: Queue | undefined, startMs: number): void {
    this.inUse -= seats
    const held = this.#held.get(flow) ?? 0
    if (held > seats) this.#held.set(flow, held - seats)
    else this.#held.delete(flow)
    if (seats > 1) this.#wideInUse -= seats
    if (queue) queue.served += seats * (Math.max(leastMs, this.#options.clock.now() - startMs) - expectedMs)
    if (this.waiting > 0) this.dispatch()
  }

  /** Lets in as many as there are seats for: of each queue in turn, by what its flows have had. */
  dispatch(): void {
    for (let queue = this.#next(); queue; queue = this.#next()) {
      const waiter = queue.waiters[0]!
      this.#remove(waiter)
      // Of those that have had the same, the one that was served last comes last.
      if (this.#active.delete(queue)) this.#active.add(queue)
      this.#virtual = Math.max(this.#virtual, queue.served)
      queue.served += waiter.seats * expectedMs
      waiter.start(this.#seat(waiter.flow, waiter.seats, queue))
    }
  }

  /**
   * What takes many seats has half of them, and never less than it takes for one such request: it lasts long, and what
   * lasts for a moment would wait until it ends.
   */
  #hasRoom(seats: number): boolean {
    if (seats > 1) return this.#wideInUse === 0 || this.#wideInUse + seats <= this.limit / 2
    return this.inUse === 0 || this.inUse - this.#wideInUse + Math.min(this.#wideInUse, this.limit / 2) + seats <= this.limit
  }

  #seat(flow: string, seats: number, queue: Queue | undefined): Ticket {
    this.inUse += seats
    if (this.limit !== Infinity) this.#held.set(flow, (this.#held.get(flow) ?? 0) + seats)
    if (seats > 1) this.#wideInUse += seats
    // Only who has waited is charged for time: nobody else competes.
    return new Ticket(this, flow, seats, queue, queue ? this.#options.clock.now() : 0)
  }

  #wait(queuing: Queuing, flow: string, seats: number, signal?: AbortSignal): Promise<Ticket> {
    const queue = shortest(queuing, flow)
    if (queue.waiters.length >= queuing.lengthLimit) throw new Refused('queue-full')
    if (queue.waiters.length === 0) queue.served = Math.max(queue.served, this.#virtual)
    return new Promise((resolve, reject) => {
      const refuse = (reason: RefusalReason) => {
        this.#remove(waiter)
        reject(new Refused(reason))
      }
      const gone = () => refuse('cancelled')
      const cancel = this.#options.clock.after(this.#options.waitLimitMs, () => refuse('time-out'))
      const stop = () => {
        cancel()
        signal?.removeEventListener('abort', gone)
      }
      const waiter: Waiter = { flow, seats, queue, start: resolve, stop }
      queue.waiters.push(waiter)
      this.#active.add(queue)
      this.waiting++
      if (seats > 1) this.#waitingWide++
      this.#waitingSeats += seats
      signal?.addEventListener('abort', gone)
      this.dispatch()
    })
  }

  #remove(waiter: Waiter): void {
    const { queue } = waiter
    queue.waiters.splice(queue.waiters.indexOf(waiter), 1)
    if (queue.waiters.length === 0) this.#active.delete(queue)
    this.waiting--
    if (waiter.seats > 1) this.#waitingWide--
    this.#waitingSeats -= waiter.seats
    waiter.stop()
  }

  /** Of the queues whose first waiter has room, the one whose flows have had least. */
  #next(): Queue | undefined {
    let best: Queue | undefined
    for (const queue of this.#active) {
      if ((!best || queue.served < best.served) && this.#hasRoom(queue.waiters[0]!.seats)) best = queue
    }
    return best
  }
}

/** The shortest of the queues that a flow may wait in. */
function shortest({ queues, count, handSize }: Queuing, flow: string): Queue {
  let best: Queue | undefined
  for (const i of dealHand(flow, count, handSize)) {
    let queue = queues.get(i)
    if (!queue) queues.set(i, (queue = { waiters: [], served: 0 }))
    if (!best || queue.waiters.length < best.waiters.length) best = queue
  }
  return best!
}
