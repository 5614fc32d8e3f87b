import type { Clock } from '../../src/base/clock.ts'
import type { Happening, Timeline } from './timeline.ts'

type Turn = { kind: 'timer' | 'message'; run: () => void; isCancelled: boolean }

/**
 * One life of a simulated process: what it sets and what is sent to it comes to nothing once it is dead, and waits while it is paused.
 * A dead one is never told: whatever it waited for simply does not come.
 */
export class Process {
  readonly name: string
  /** Its own idea of the time, which jumps may set apart from the true one. Timers do not care: they count, they do not read. */
  readonly clock: Clock
  readonly #timeline: Timeline
  #state: 'running' | 'paused' | 'dead' = 'running'
  #offsetMs = 0
  readonly #pending = new Set<Happening>()
  /** What came while it was paused. */
  #held: Turn[] = []
  readonly #deaths: (() => void)[] = []

  constructor(name: string, timeline: Timeline) {
    this.name = name
    this.#timeline = timeline
    this.clock = {
      now: () => Math.round(timeline.ask() + this.#offsetMs),
      after: (delayMs, run) => this.#set('timer', delayMs, run),
    }
  }

  get isDead(): boolean {
    return this.#state === 'dead'
  }

  get isRunning(): boolean {
    return this.#state === 'running'
  }

  /** Something arrives from outside after a while. */
  receive(delayMs: number, run: () => void): void {
    this.#set('message', delayMs, run)
  }

  jumpClock(ms: number): void {
    this.#offsetMs += ms
  }

  pause(): void {
    if (this.#state === 'running') this.#state = 'paused'
  }

  /** What was held comes now, each on its own: either what has arrived or what fell due is noticed first. */
  resume(messagesFirst: boolean): void {
    if (this.#state !== 'paused') return
    this.#state = 'running'
    const held = this.#held
    this.#held = []
    const first = messagesFirst ? 'message' : 'timer'
    const inOrder = [...held.filter((t) => t.kind === first), ...held.filter((t) => t.kind !== first)]
    for (const turn of inOrder) this.#schedule(turn, 0)
  }

  kill(): void {
    if (this.#state === 'dead') return
    this.#state = 'dead'
    for (const happening of this.#pending) this.#timeline.cancel(happening)
    this.#pending.clear()
    this.#held = []
    for (const tell of this.#deaths.splice(0)) tell()
  }

  /** For the world around it, not for the process itself. */
  onDeath(tell: () => void): void {
    if (this.isDead) tell()
    else this.#deaths.push(tell)
  }

  #set(kind: Turn['kind'], delayMs: number, run: () => void): () => void {
    const turn: Turn = { kind, run, isCancelled: false }
    const cancel = this.isDead ? () => {} : this.#schedule(turn, delayMs)
    return () => {
      turn.isCancelled = true
      cancel()
    }
  }

  #schedule(turn: Turn, delayMs: number): () => void {
    const happening = this.#timeline.after(delayMs, () => {
      this.#pending.delete(happening)
      if (this.#state === 'paused') this.#held.push(turn)
      else if (!turn.isCancelled) turn.run()
    })
    this.#pending.add(happening)
    return () => {
      if (this.#pending.delete(happening)) this.#timeline.cancel(happening)
    }
  }
}
