import type { Int64 } from '../../api/numbers/int64.ts'

/** The time of the last deletion of a failed pod on a node, and the delay of the next. */
interface Delay {
  sinceMs: number
  delayMs: number
}

/** The nodes on which pods of one generation of a set have failed. */
export interface FailedPods {
  generation: Int64 | undefined
  nodes: ReadonlyMap<string, Delay>
}

const firstMs = 1000
const longestMs = 15 * 60_000

/** A node without failures for this time starts with the first delay again. */
const isForgotten = ({ sinceMs }: Delay, nowMs: number): boolean => nowMs - sinceMs > 2 * longestMs

/** The time until the failed pod on a node is deleted. The delay limits the load by a node that rejects every pod. */
export function waitMs({ nodes }: FailedPods, node: string, nowMs: number): number {
  const delay = nodes.get(node)
  return delay && !isForgotten(delay, nowMs) ? Math.max(0, delay.sinceMs + delay.delayMs - nowMs) : 0
}

/** Adds failed pods that were just deleted on these nodes. */
export function withFailures({ generation, nodes }: FailedPods, failedOn: Iterable<string>, nowMs: number): FailedPods {
  const next = new Map([...nodes].filter(([, delay]) => !isForgotten(delay, nowMs)))
  for (const node of failedOn) {
    const delay = next.get(node)
    next.set(node, { sinceMs: nowMs, delayMs: delay ? Math.min(delay.delayMs * 2, longestMs) : firstMs })
  }
  return { generation, nodes: next }
}

/** The known failures of a generation. A new generation has none. */
export const failuresOf = (known: FailedPods | undefined, generation: Int64 | undefined): FailedPods =>
  known?.generation === generation && known ? known : { generation, nodes: new Map() }
