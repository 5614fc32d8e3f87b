import { FlowQueue } from './flow-queue.ts'

/** Shares the turns of the event loop between long operations: each runs in slices, and other work runs in between. */
export interface Turns {
  /**
   * True if the slices of this turn have used up its time. Check it after each step: an operation that continues delays
   * all others.
   */
  readonly isSpent: boolean
  /**
   * Resolves in a later turn, after I/O and timers. Flows get turns in rotation, and the callers of one flow in order
   * of their calls, so a flow with many operations waits no less than a flow with one.
   */
  next(flow?: string): Promise<void>
}

/** Returns the same turns for the operations of one flow. */
export const turnsFor = (flow: string, turns: Turns): Turns => ({
  get isSpent() {
    return turns.isSpent
  },
  next: () => turns.next(flow),
})

/** Turns of a virtual clock: no operation takes time, so no turn ends. */
export const endlessTurn: Turns = { isSpent: false, next: () => Promise.resolve() }

/** The steps of an operation. It yields where other work may run, or what it has to wait for. */
export type Steps<T> = Generator<void | Promise<unknown>, T>

/** Runs steps until the turn is spent, and the others in later turns. Returns a promise only if it waits. */
export function inTurns<T>(turns: Turns, steps: Steps<T>): T | Promise<T> {
  const first = untilSpent(turns, steps)
  return first.done ? first.value : finishSteps(turns, steps, first.waiting)
}

async function finishSteps<T>(turns: Turns, steps: Steps<T>, waiting: Promise<unknown>): Promise<T> {
  for (let until = waiting; ;) {
    await until
    const next = untilSpent(turns, steps)
    if (next.done) return next.value
    until = next.waiting
  }
}

function untilSpent<T>(
  turns: Turns,
  steps: Steps<T>,
): { done: true; value: T } | { done: false; waiting: Promise<unknown> } {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return { done, value }
    if (value instanceof Promise) return { done: false, waiting: value }
    if (turns.isSpent) return { done: false, waiting: turns.next() }
  }
}

/**
 * The length of a slice. Long enough to make the cost of a turn of the loop negligible, and short enough that a few
 * slices go unnoticed.
 */
export const sliceMs = 4

type Defer = (fn: () => void) => void

/**
 * The turns of the real event loop. All sliced operations share one slice per turn: the first waiter gets the next
 * turn, the waiters behind it the rest of that turn. An operation that starts in a spent turn waits behind the others.
 */
export class LoopTurns implements Turns {
  readonly #now: () => number
  readonly #defer: Defer
  /** Start of the first slice of this turn. */
  #startMs: number | undefined
  readonly #waiting = new FlowQueue<() => void>()
  #isDeferred = false

  /** `defer` must call a function in the next turn. */
  constructor(now: () => number = () => performance.now(), defer: Defer = setImmediate) {
    this.#now = now
    this.#defer = defer
  }

  get isSpent(): boolean {
    if (this.#startMs === undefined) {
      this.#begin()
      return false
    }
    const spentMs = this.#now() - this.#startMs
    // If the clock was set back, the elapsed time is unknown.
    return spentMs >= sliceMs || spentMs < 0
  }

  next(flow = ''): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(flow, resolve)
      this.#await()
    })
  }

  #begin(): void {
    this.#startMs = this.#now()
    this.#await()
  }

  #await(): void {
    if (this.#isDeferred) return
    this.#isDeferred = true
    this.#defer(() => this.#turn())
  }

  #turn(): void {
    this.#isDeferred = false
    this.#startMs = undefined
    const first = this.#waiting.take()
    if (!first) return
    this.#begin()
    first()
    queueMicrotask(() => this.#release())
  }

  /** Gives the rest of the turn to the other waiters: many of them may need only a short time. */
  #release(): void {
    if (this.#waiting.isEmpty || this.#startMs === undefined || this.isSpent) return
    this.#waiting.take()!()
    queueMicrotask(() => this.#release())
  }
}

/** Resolves in the next turn of the loop, after pending I/O, independently of other waiters. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/**
 * Returns slices for an operation of many short steps, which checks the loop after every `steps` steps. An operation
 * that has done fewer continues even in a spent turn, because waiting would take longer.
 */
export function everySteps(steps: number, turns: Turns): Slices {
  let done = 0
  return {
    get isSpent() {
      if (++done < steps) return false
      done = 0
      return turns.isSpent
    },
    next: () => turns.next(),
    add: (more) => (done += more),
  }
}

export interface Slices extends Turns {
  /** Counts the current step as `steps` more. */
  add(steps: number): void
}

/** Returns the number of steps that reading so many bytes counts for. */
export const stepsOfBytes = (bytes: number): number => bytes >> 12

/** Minimum number of steps, of about ten microseconds each, between checks. */
export const shortSteps = 16

/** Runs a short step for each item, in slices. */
export async function inSlices<T>(turns: Turns, items: Iterable<T>, step: (item: T) => void): Promise<void> {
  const slices = everySteps(shortSteps, turns)
  for (const item of items) {
    step(item)
    if (slices.isSpent) await slices.next()
  }
}

/**
 * Runs the steps synchronously, without a promise, while the turn lasts, and then in slices. Calls `done` after the
 * last step. Returns a function that cancels.
 */
export function stepByStep<T>(
  turns: Turns,
  items: readonly T[],
  step: (item: T) => void,
  done: () => void,
): () => void {
  const slices = everySteps(shortSteps, turns)
  let isOver = false
  const from = (start: number): void => {
    for (let i = start; i < items.length; i++) {
      if (isOver) return
      step(items[i]!)
      if (slices.isSpent) return void slices.next().then(() => from(i + 1))
    }
    if (!isOver) done()
  }
  from(0)
  return () => (isOver = true)
}
