import type { Clock } from '../../src/base/clock.ts'
import type { Happening, Timeline } from './timeline.ts'

type Turn = { kind: 'timer' | 'message'; run: () => void; isCancelled: boolean }

/**
 * One life of a simulated process. Its timers and messages have no effect after its death, and wait while it is paused.
 * A dead process is not informed: the events it waits for never occur.
 */
export class Process {
  readonly name: string
  /**
   * The clock of the process, which may differ from the true time. Timers are not affected, because they measure
   * durations.
   */
  readonly clock: Clock
  readonly #timeline: Timeline
  #state: 'running' | 'paused' | 'dead' = 'running'
  #offsetMs = 0
  readonly #pending = new Set<Happening>()
  /** Events that arrived during a pause. */
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

  /** Delivers an event from outside after a delay. */
  receive(delayMs: number, run: () => void): void {
    this.#set('message', delayMs, run)
  }

  jumpClock(ms: number): void {
    this.#offsetMs += ms
  }

  pause(): void {
    if (this.#state === 'running') this.#state = 'paused'
  }

  /** Delivers the events of a pause one by one: either messages or due timers first. */
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

  /** For the world, not for the process itself. */
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
