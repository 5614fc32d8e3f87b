import { setMaxListeners } from 'node:events'

/** A signal of one's own that also follows others. */
export interface LinkedAbort {
  readonly signal: AbortSignal
  abort(reason?: unknown): void
  /** Follows no longer. To be called when done: signals that live long must not collect listeners. */
  unlink(): void
}

/** Is aborted with the first of `signals`. */
export function linkAbort(...signals: readonly (AbortSignal | undefined)[]): LinkedAbort {
  const controller = new AbortController()
  const links = signals.flatMap((signal) => (signal ? [{ signal, onAbort: () => controller.abort(signal.reason) }] : []))
  for (const { signal, onAbort } of links) {
    if (signal.aborted) onAbort()
    else {
      setMaxListeners(0, signal) // each is removed by `unlink`: many are not a leak
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
