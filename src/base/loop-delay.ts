import type { Clock } from './clock.ts'
import { type Counts, type MetricsRegistry, countValue, histogramLines, noCounts } from './metrics.ts'

/** Measuring intervals of a busy and of an idle loop. The longer one lets an idle process sleep. */
const busyMs = 20
const idleMs = 1000
/** A loop that is busy for more than this share of the time is measured at the busy interval for a while. */
const busyShare = 0.02
const staysBusy = 250

const slotMs = 10_000
const slots = 6
const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** The clocks to measure with: a monotonic time, and the milliseconds for which the loop has been busy. */
export interface LoopMeter {
  nowMs(): number
  activeMs(): number
}

const ownLoop: LoopMeter = { nowMs: () => performance.now(), activeMs: () => performance.eventLoopUtilization().active }

/** Measures how long new work waits for the event loop. */
export class LoopDelay {
  readonly #clock: Pick<Clock, 'after'>
  readonly #meter: LoopMeter
  readonly #counts: Counts = noCounts(bounds)
  /** The longest delays of the last minute, by time slot. */
  readonly #longest: { slot: number; ms: number }[] = []
  #busyLeft = 0
  #cancel = () => {}

  constructor(clock: Pick<Clock, 'after'>, meter: LoopMeter = ownLoop) {
    this.#clock = clock
    this.#meter = meter
    this.#wait(this.#meter.activeMs())
  }

  /** Registers the metrics. */
  register(metrics: MetricsRegistry): void {
    const name = 'coxswain_event_loop_delay_seconds'
    const help = 'Delay of due work by the event loop.'
    metrics.family({ name, help, type: 'histogram', lines: () => histogramLines(name, '', bounds, this.#counts) })
    metrics.gauge(
      'coxswain_event_loop_delay_max_seconds',
      'Longest delay of due work by the event loop in the last minute.',
      (gauge) => gauge.with().set(this.longestMs / 1000),
    )
  }

  /** The longest wait of the last minute. */
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

  /** Records a delay, including the ticks that were missed meanwhile. */
  #note(lateMs: number): void {
    for (let ms = lateMs, left = 1000; ms >= 0 && left > 0; ms -= busyMs, left--)
      countValue(this.#counts, bounds, ms / 1000)
    const slot = this.#slot
    const last = this.#longest.at(-1)
    if (last?.slot === slot) last.ms = Math.max(last.ms, lateMs)
    else this.#longest.push({ slot, ms: lateMs })
    if (this.#longest.length > slots) this.#longest.shift()
  }
}
