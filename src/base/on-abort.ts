/**
 * The waiting callbacks of each signal. A signal has one listener of ours: ten thousand requests may share it, and
 * addEventListener goes through all listeners that are there.
 */
const waiting = new WeakMap<AbortSignal, Set<() => void>>()

/** Calls `fn` when the signal is aborted, unless the returned function is called before. Not for one that is aborted already. */
export function onAbort(signal: AbortSignal, fn: () => void): () => void {
  let all = waiting.get(signal)
  if (!all) {
    const set = new Set<() => void>()
    waiting.set(signal, (all = set))
    signal.addEventListener('abort', () => {
      for (const one of set) one()
      set.clear()
    }, { once: true })
  }
  const set = all
  set.add(fn)
  return () => void set.delete(fn)
}
