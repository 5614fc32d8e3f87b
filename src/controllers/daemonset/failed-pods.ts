import type { Int64 } from '../../api/int64.ts'
/** When a failed pod was last deleted on a node, and how long the next has to wait since then. */
interface Delay {
  sinceMs: number
  delayMs: number
}

/** Nodes on which pods of one generation of a set have failed. */
export interface FailedPods {
  generation: Int64 | undefined
  nodes: ReadonlyMap<string, Delay>
}

const firstMs = 1000
const longestMs = 15 * 60_000

/** A node that had no failure for this long starts afresh. */
const isForgotten = ({ sinceMs }: Delay, nowMs: number): boolean => nowMs - sinceMs > 2 * longestMs

/** How long the failed pod on a node has to wait until it is deleted: a node that refuses every pod would keep everybody busy. */
export function waitMs({ nodes }: FailedPods, node: string, nowMs: number): number {
  const delay = nodes.get(node)
  return delay && !isForgotten(delay, nowMs) ? Math.max(0, delay.sinceMs + delay.delayMs - nowMs) : 0
}

/** The same with failed pods deleted on these nodes just now. */
export function withFailures({ generation, nodes }: FailedPods, failedOn: Iterable<string>, nowMs: number): FailedPods {
  const next = new Map([...nodes].filter(([, delay]) => !isForgotten(delay, nowMs)))
  for (const node of failedOn) {
    const delay = next.get(node)
    next.set(node, { sinceMs: nowMs, delayMs: delay ? Math.min(delay.delayMs * 2, longestMs) : firstMs })
  }
  return { generation, nodes: next }
}

/** What is known of a generation: a new one has not failed yet. */
export const failuresOf = (known: FailedPods | undefined, generation: Int64 | undefined): FailedPods =>
  known?.generation === generation && known ? known : { generation, nodes: new Map() }
