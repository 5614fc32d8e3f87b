import { quantile, rounded } from '../load/measure.ts'

/** Latencies in milliseconds. */
export interface Latencies {
  p50: number
  p99: number
  max: number
  count: number
}

/** The quantiles of these times. Undefined if there are none. */
export function latenciesOf(times: readonly number[]): Latencies | undefined {
  if (times.length === 0) return undefined
  const at = (q: number) => rounded(quantile(times, q))
  return { p50: at(0.5), p99: at(0.99), max: at(1), count: times.length }
}

/**
 * Adds the times of requests that were not sent because the one before had no answer yet. A request every 50 ms that
 * waits 200 ms stands for those that would have waited 150, 100 and 50 ms: without them a server that stands still for
 * seconds has one slow request among many fast ones.
 */
export function withOmitted(times: readonly number[], intervalMs: number): number[] {
  const all: number[] = []
  for (const time of times) for (let t = time; t > 0; t -= intervalMs) all.push(t)
  return all
}

/** Times requests, those that are under way as well. */
export class Stopwatch {
  readonly #intervalMs: number
  readonly #startedAt = new Map<number, number>()
  #times: number[] = []
  #next = 0

  /** `intervalMs`: how often requests are sent that wait for the one before; infinite if they do not wait. */
  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs
  }

  /** Starts to time a request; `stop` takes the number that it answers. */
  start(now: number): number {
    this.#startedAt.set(this.#next, now)
    return this.#next++
  }

  stop(id: number, now: number): void {
    const startedAt = this.#startedAt.get(id)
    if (startedAt === undefined) return
    this.#startedAt.delete(id)
    this.#times.push(now - startedAt)
  }

  /** Forgets a request that will never be answered. */
  cancel(id: number): void {
    this.#startedAt.delete(id)
  }

  get underWay(): number {
    return this.#startedAt.size
  }

  /** Forgets all times so far. What is under way counts from now. */
  reset(now: number): void {
    this.#times = []
    for (const id of this.#startedAt.keys()) this.#startedAt.set(id, now)
  }

  /** All times since the last reset. What is under way counts with the time that it has taken so far. */
  read(now: number): Latencies | undefined {
    const underWay = [...this.#startedAt.values()].map((startedAt) => now - startedAt)
    return latenciesOf(withOmitted([...this.#times, ...underWay], this.#intervalMs))
  }
}
