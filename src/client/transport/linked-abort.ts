import { setMaxListeners } from 'node:events'

/** A signal that follows other signals. */
export interface LinkedAbort {
  readonly signal: AbortSignal
  abort(reason?: unknown): void
  /** Removes the listeners. Call it when done: long-lived signals must not accumulate listeners. */
  unlink(): void
}

/** Returns a signal that is aborted with the first of `signals`. */
export function linkAbort(...signals: readonly (AbortSignal | undefined)[]): LinkedAbort {
  const controller = new AbortController()
  const links = signals.flatMap((signal) =>
    signal ? [{ signal, onAbort: () => controller.abort(signal.reason) }] : [],
  )
  for (const { signal, onAbort } of links) {
    if (signal.aborted) onAbort()
    else {
      setMaxListeners(0, signal) // `unlink` removes each listener, so many are not a leak
      signal.addEventListener('abort', onAbort, { once: true })
    }
  }
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    unlink: () => {
      for (const { signal, onAbort } of links) signal.removeEventListener('abort', onAbort)
    },
  }
}
