/** Who wants to hear of each signal. A signal has one listener of ours, however many wait for it: a thousand requests may share one. */
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
