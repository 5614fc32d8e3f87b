import type { WorkQueue } from '../../client/index.ts'

/** Takes keys from a queue, one after the other, until the signal is aborted. `work` must not reject. */
export async function workOff<K>(queue: WorkQueue<K>, signal: AbortSignal, work: (key: K) => Promise<void>): Promise<void> {
  for (;;) {
    let key: K
    try {
      key = await queue.get(signal)
    } catch {
      return // stopped
    }
    try {
      await work(key)
    } finally {
      queue.done(key)
    }
  }
}
