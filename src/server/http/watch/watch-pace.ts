/** The batching window under load. A longer one is cheaper for watchers but delays each step of a rollout. */
const windowMs = 4
/** More events within a window are load. Fewer come from a client that waits for each of them. */
const lightEvents = 6

/** Decides when events are sent: at once while there are few, in batches while there are many. */
export class WatchPace {
  #startMs = Number.NEGATIVE_INFINITY
  /** Events in the current window. */
  #events = 0
  #wasBusy = false

  /** The delay before sending, after this many new events. */
  delayMs(nowMs: number, events: number): number {
    const ageMs = nowMs - this.#startMs
    if (ageMs >= windowMs) {
      // A busy window does not count once an idle one has followed.
      this.#wasBusy = this.#events > lightEvents && ageMs < 2 * windowMs
      this.#startMs = nowMs
      this.#events = 0
    }
    this.#events += events
    return this.#wasBusy || this.#events > lightEvents ? this.#startMs + windowMs - nowMs : 0
  }
}
