/** How long events are gathered under load. Longer is cheaper for who watches, and each step of a rollout waits for it. */
const windowMs = 4
/** More events than this within a window are load; fewer are somebody who waits for each of them, as for one pod after the other. */
const lightEvents = 6

/** Decides when a watch's events are sent: each at once while there are few, those of a window together while there are many. */
export class WatchPace {
  #startMs = Number.NEGATIVE_INFINITY
  /** In this window. */
  #events = 0
  #wasBusy = false

  /** How long to wait before sending, now that so many events more have come. */
  delayMs(nowMs: number, events: number): number {
    const ageMs = nowMs - this.#startMs
    if (ageMs >= windowMs) {
      // A window that nothing followed is no sign of load any more.
      this.#wasBusy = this.#events > lightEvents && ageMs < 2 * windowMs
      this.#startMs = nowMs
      this.#events = 0
    }
    this.#events += events
    return this.#wasBusy || this.#events > lightEvents ? this.#startMs + windowMs - nowMs : 0
  }
}
