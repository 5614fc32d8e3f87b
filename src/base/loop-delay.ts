import type { Clock } from './clock.ts'
import { type Counts, type MetricsRegistry, countValue, histogramLines, noCounts } from './metrics.ts'

/** How often the loop is measured while it has something to do, and while it has next to nothing: an idle process stays asleep. */
const busyMs = 20
const idleMs = 1000
/** More than this part of the time makes it busy, and keeps it so for a while. */
const busyShare = 0.02
const staysBusy = 250

const slotMs = 10_000
const slots = 6
const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** The clocks that it measures with: a time that never goes back, and milliseconds for which the loop has been busy. */
export interface LoopMeter {
  nowMs(): number
  activeMs(): number
}

const ownLoop: LoopMeter = { nowMs: () => performance.now(), activeMs: () => performance.eventLoopUtilization().active }

/** Measures how long whoever comes to the event loop has to wait. */
export class LoopDelay {
  readonly #clock: Pick<Clock, 'after'>
  readonly #meter: LoopMeter
  readonly #counts: Counts = noCounts(bounds)
  /** The longest delays of the last minute, by time. */
  readonly #longest: { slot: number; ms: number }[] = []
  #busyLeft = 0
  #cancel = () => {}

  constructor(clock: Pick<Clock, 'after'>, meter: LoopMeter = ownLoop) {
    this.#clock = clock
    this.#meter = meter
    this.#wait(this.#meter.activeMs())
  }

  /** Tells of it where metrics are told. */
  register(metrics: MetricsRegistry): void {
    const name = 'coxswain_event_loop_delay_seconds'
    const help = 'How long what is due has to wait for the event loop.'
    metrics.family({ name, help, type: 'histogram', lines: () => histogramLines(name, '', bounds, this.#counts) })
    metrics.gauge('coxswain_event_loop_delay_max_seconds', 'The longest such wait of the last minute.', (gauge) => gauge.with().set(this.longestMs / 1000))
  }

  /** The waits of the last minute. */
  get longestMs(): number {
    const oldest = this.#slot - slots
    return Math.max(0, ...this.#longest.filter(({ slot }) => slot > oldest).map(({ ms }) => ms))
  }

  stop(): void {
    this.#cancel()
  }

  get #slot(): number {
    return Math.floor(this.#meter.nowMs() / slotMs)
  }

  #wait(activeMs: number): void {
    const waitMs = this.#busyLeft > 0 ? busyMs : idleMs
    const dueMs = this.#meter.nowMs() + waitMs
    this.#cancel = this.#clock.after(waitMs, () => {
      const lateMs = Math.max(0, this.#meter.nowMs() - dueMs)
      const active = this.#meter.activeMs()
      this.#note(lateMs)
      const isBusy = active - activeMs > busyShare * (waitMs + lateMs)
      this.#busyLeft = isBusy ? staysBusy : Math.max(0, this.#busyLeft - 1)
      this.#wait(active)
    })
  }

  /** Counts those, too, who would have come while nobody could be heard. */
  #note(lateMs: number): void {
    for (let ms = lateMs, left = 1000; ms >= 0 && left > 0; ms -= busyMs, left--) countValue(this.#counts, bounds, ms / 1000)
    const slot = this.#slot
    const last = this.#longest.at(-1)
    if (last?.slot === slot) last.ms = Math.max(last.ms, lateMs)
    else this.#longest.push({ slot, ms: lateMs })
    if (this.#longest.length > slots) this.#longest.shift()
  }
}
