/** Shares the turns of the event loop between all that would hold it for long: each works in slices, and others come between. */
export interface Turns {
  /** True if the slices of this turn have used up its time. To be asked after each step; whoever works on regardless delays everybody. */
  readonly isSpent: boolean
  /**
   * Resolves in a later turn; I/O and timers come before. Turns go to flows in turn, within one to who asked first: whoever
   * does many things at once waits no less than who does one.
   */
  next(flow?: string): Promise<void>
}

/** The same turns for what is done for somebody. */
export const turnsFor = (flow: string, turns: Turns): Turns => ({
  get isSpent() {
    return turns.isSpent
  },
  next: () => turns.next(flow),
})

/** Where time stands still nothing takes long. */
export const endlessTurn: Turns = { isSpent: false, next: () => Promise.resolve() }

/** Long enough that going round the loop costs little beside it, short enough that nobody notices a few of them. */
export const sliceMs = 4

type Defer = (fn: () => void) => void

/**
 * The turns of the machine's own event loop. However many work in slices, they share one slice a turn: the first who
 * waits gets the next turn, those behind it what is left of it, and who comes new in a turn that is spent waits behind
 * the others.
 */
export class LoopTurns implements Turns {
  readonly #now: () => number
  readonly #defer: Defer
  /** When the first slice of this turn began. */
  #startMs: number | undefined
  /** Of each flow that waits, who asked first is first; the flow whose turn is next comes first. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #isDeferred = false

  /** `defer` calls a function in the next turn. */
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
    // A clock that was set back says nothing about how long it has been.
    return spentMs >= sliceMs || spentMs < 0
  }

  next(flow = ''): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(flow)
      if (waiting) waiting.push(resolve)
      else this.#waiting.set(flow, [resolve])
      this.#await()
    })
  }

  /** Takes who is next; its flow is the last to be asked again. */
  #take(): (() => void) | undefined {
    for (const [flow, waiting] of this.#waiting) {
      this.#waiting.delete(flow)
      const first = waiting.shift()
      if (waiting.length > 0) this.#waiting.set(flow, waiting)
      return first
    }
    return undefined
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
    const first = this.#take()
    if (!first) return
    this.#begin()
    first()
    queueMicrotask(() => this.#release())
  }

  /** Gives the rest of the turn to those behind the first: many may wait for a short while each. */
  #release(): void {
    if (this.#waiting.size === 0 || this.#startMs === undefined || this.isSpent) return
    this.#take()!()
    queueMicrotask(() => this.#release())
  }
}

/** Resolves in the next turn of the loop, behind I/O that is there already, whoever else waits. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/**
 * The same turns for one piece of work of many short steps: the loop is looked at after every so many of them. Who has
 * done less goes on even in a turn that is spent, as to wait would take longer.
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
  /** The step that is being taken counts as so many more. */
  add(steps: number): void
}

/** How many steps more it takes to read so many bytes. */
export const stepsOfBytes = (bytes: number): number => bytes >> 12

/** How many steps of about ten microseconds are taken at least. */
export const shortSteps = 16

/** Takes one short step for each item, in slices. */
export async function inSlices<T>(turns: Turns, items: Iterable<T>, step: (item: T) => void): Promise<void> {
  const slices = everySteps(shortSteps, turns)
  for (const item of items) {
    step(item)
    if (slices.isSpent) await slices.next()
  }
}

/** The same at once, without a promise, as far as the turn goes; `done` follows the last step. Answers what breaks it off. */
export function stepByStep<T>(turns: Turns, items: readonly T[], step: (item: T) => void, done: () => void): () => void {
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
