/**
 * The callbacks of each signal. Each signal has one listener: ten thousand requests may share a signal, and
 * addEventListener scans all existing listeners.
 */
const waiting = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls `fn` when the signal is aborted, unless the returned function is called first. Does nothing if the signal is
 * already aborted.
 */
export function onAbort(signal: AbortSignal, fn: () => void): () => void {
  let all = waiting.get(signal)
  if (!all) {
    const set = new Set<() => void>()
    waiting.set(signal, (all = set))
    signal.addEventListener(
      'abort',
      () => {
        for (const one of set) one()
        set.clear()
      },
      { once: true },
    )
  }
  const set = all
  set.add(fn)
  return () => void set.delete(fn)
}
