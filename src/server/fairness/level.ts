import type { PriorityLevelConfiguration } from '../../api/generated/types.ts'
import type { Clock } from '../../base/clock.ts'
import { dealHand } from './hand.ts'

/** The reason of a rejection, as in Kubernetes' metric. */
export type RefusalReason = 'concurrency-limit' | 'queue-full' | 'time-out' | 'cancelled'

export class Refused extends Error {
  readonly reason: RefusalReason

  constructor(reason: RefusalReason) {
    super(`too many requests: ${reason}`)
    this.reason = reason
  }
}

/** A queued request. */
interface Waiter {
  readonly flow: string
  readonly seats: number
  readonly queue: Queue
  readonly start: (ticket: Ticket) => void
  readonly stop: () => void
}

interface Queue {
  readonly waiters: Waiter[]
  /** Seat-milliseconds that the queue's flows have used, on the level's virtual clock. */
  served: number
}

/** The seats of one request. Releasing it twice has no effect. */
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

/** The estimated duration of a request. The queue is charged the difference when it ends. */
const expectedMs = 20
/** The minimum charge: many requests are shorter than the clock's resolution. */
const leastMs = 1

/** The queuing parameters. Undefined if the level rejects without queuing. */
interface Queuing {
  /** Queues with waiting requests, and recently used ones: a level may have millions. */
  readonly queues: Map<number, Queue>
  readonly count: number
  readonly handSize: number
  readonly lengthLimit: number
}

interface LevelOptions {
  clock: Clock
  /** The maximum time in a queue. */
  waitLimitMs: number
}

/** A priority level: its seats and its queues. */
export class Level {
  readonly name: string
  readonly #options: LevelOptions
  uid = ''
  /** The current number of seats; unlimited for an exempt level. */
  limit = 1
  inUse = 0
  waiting = 0
  /** The maximum of used and requested seats since the last `takePeak`. */
  #peak = 0
  #queuing: Queuing | undefined
  readonly #active = new Set<Queue>()
  /** The virtual time of the last dispatched queue, where new queues start. */
  #virtual = 0
  #waitingSeats = 0
  /** Seats used by requests that take more than one. */
  #wideInUse = 0
  #waitingWide = 0
  /** Seats held by each flow. */
  readonly #held = new Map<string, number>()

  constructor(name: string, options: LevelOptions) {
    this.name = name
    this.#options = options
  }

  /** The number of queues in memory. */
  get queues(): number {
    return this.#queuing?.queues.size ?? 0
  }

  get isExempt(): boolean {
    return this.limit === Infinity
  }

  /** Applies the level's configuration. Queued requests keep their queue. */
  configure({ metadata, spec }: PriorityLevelConfiguration): void {
    this.uid = metadata.uid ?? ''
    const queuing = spec.limited?.limitResponse.queuing
    if (spec.type === 'Exempt') this.limit = Infinity
    const { queues: count = 0, handSize = 1, queueLengthLimit: lengthLimit = 1 } = queuing ?? {}
    const isSame = this.#queuing?.count === count && this.#queuing.handSize === handSize
    const queues = isSame ? this.#queuing!.queues : new Map<number, Queue>()
    this.#queuing = queuing ? { queues, count, handSize, lengthLimit } : undefined
  }

  /** Returns a ticket, or a promise of one. Throws or rejects with Refused. */
  enter(flow: string, seats: number, signal?: () => AbortSignal): Ticket | Promise<Ticket> {
    const demand = this.inUse + this.#waitingSeats + seats
    if (demand > this.#peak) this.#peak = demand
    if (this.#mayEnter(seats) || this.#isFirst(flow, seats)) return this.#seat(flow, seats, undefined)
    if (!this.#queuing) throw new Refused('concurrency-limit')
    return this.#wait(this.#queuing, flow, seats, signal?.())
  }

  /** A request does not overtake queued ones. */
  #mayEnter(seats: number): boolean {
    const ahead = seats > 1 ? this.#waitingWide : this.waiting - this.#waitingWide
    return ahead === 0 && this.#hasRoom(seats)
  }

  /**
   * A flow without seats may exceed the limit by up to as many seats again, so that a client with one request at a time
   * is not delayed by one with hundreds.
   */
  #isFirst(flow: string, seats: number): boolean {
    return this.#queuing !== undefined && !this.#held.has(flow) && this.inUse + seats <= 2 * this.limit
  }

  /** Returns the maximum of requested seats and resets it. */
  takePeak(): number {
    const peak = this.#peak
    this.#peak = this.inUse + this.#waitingSeats
    return peak
  }

  /** Returns a ticket's seats. */
  leave({ seats, flow }: Ticket, queue: Queue | undefined, startMs: number): void {
    this.inUse -= seats
    const held = this.#held.get(flow) ?? 0
    if (held > seats) this.#held.set(flow, held - seats)
    else this.#held.delete(flow)
    if (seats > 1) this.#wideInUse -= seats
    if (queue) queue.served += seats * (Math.max(leastMs, this.#options.clock.now() - startMs) - expectedMs)
    if (this.waiting > 0) this.dispatch()
  }

  /** Dispatches queued requests while there are seats, from the queue that has used least. */
  dispatch(): void {
    for (let queue = this.#next(); queue; queue = this.#next()) {
      const waiter = queue.waiters[0]!
      this.#remove(waiter)
      // Among equals, the last served queue comes last.
      if (this.#active.delete(queue)) this.#active.add(queue)
      this.#virtual = Math.max(this.#virtual, queue.served)
      queue.served += waiter.seats * expectedMs
      waiter.start(this.#seat(waiter.flow, waiter.seats, queue))
    }
  }

  /**
   * Requests of several seats may use half of the level, or the seats of one such request if that is more. They last
   * long, and short requests would wait for them.
   */
  #hasRoom(seats: number): boolean {
    if (seats > 1) return this.#wideInUse === 0 || this.#wideInUse + seats <= this.limit / 2
    return (
      this.inUse === 0 || this.inUse - this.#wideInUse + Math.min(this.#wideInUse, this.limit / 2) + seats <= this.limit
    )
  }

  #seat(flow: string, seats: number, queue: Queue | undefined): Ticket {
    this.inUse += seats
    if (this.limit !== Infinity) this.#held.set(flow, (this.#held.get(flow) ?? 0) + seats)
    if (seats > 1) this.#wideInUse += seats
    // Only queued requests are charged for time; others do not compete.
    return new Ticket(this, flow, seats, queue, queue ? this.#options.clock.now() : 0)
  }

  #wait(queuing: Queuing, flow: string, seats: number, signal?: AbortSignal): Promise<Ticket> {
    forgetEmpty(queuing.queues, this.#active.size)
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

  /** Among the queues whose first request fits, the one that has used least. */
  #next(): Queue | undefined {
    let best: Queue | undefined
    for (const queue of this.#active) {
      if ((!best || queue.served < best.served) && this.#hasRoom(queue.waiters[0]!.seats)) best = queue
    }
    return best
  }
}

/** The shortest queue in a flow's hand. */
function shortest({ queues, count, handSize }: Queuing, flow: string): Queue {
  let best: Queue | undefined
  for (const i of dealHand(flow, count, handSize)) {
    const queue = queues.get(i)
    if (!queue) return added(queues, best?.waiters.length === 0 ? best : undefined, i)
    if (!best || queue.waiters.length < best.waiters.length) best = queue
  }
  return best!
}

/** An earlier queue of the hand without requests, otherwise a new one. */
function added(queues: Map<number, Queue>, empty: Queue | undefined, i: number): Queue {
  if (empty) return empty
  const queue: Queue = { waiters: [], served: 0 }
  queues.set(i, queue)
  return queue
}

/** With more queues, those without requests are forgotten, and with them what they have used. */
const manyQueues = 1024

function forgetEmpty(queues: Map<number, Queue>, active: number): void {
  if (queues.size < manyQueues + 2 * active) return
  for (const [i, { waiters }] of queues) if (waiters.length === 0) queues.delete(i)
}
