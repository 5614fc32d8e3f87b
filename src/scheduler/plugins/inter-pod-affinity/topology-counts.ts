import type { Labels } from '../../../api/selectors/label-selector.ts'
import type { NodeCounts } from '../../cluster/node-counts.ts'

/** Sums by node label and value: `topology.kubernetes.io/zone` → `a` → 3. */
export class TopologyCounts {
  readonly #byKey = new Map<string, Map<string, number>>()

  get isEmpty(): boolean {
    return this.#byKey.size === 0
  }

  get(key: string, value: string | undefined): number {
    return value === undefined ? 0 : (this.#byKey.get(key)?.get(value) ?? 0)
  }

  /** A sum of zero is removed. */
  add(key: string, value: string | undefined, by: number): void {
    if (value === undefined || by === 0) return
    let byValue = this.#byKey.get(key)
    if (!byValue) this.#byKey.set(key, (byValue = new Map()))
    const sum = (byValue.get(value) ?? 0) + by
    if (sum !== 0) byValue.set(value, sum)
    else if (byValue.delete(value) && byValue.size === 0) this.#byKey.delete(key)
  }

  /** Adds counts per node to the sums of the label. */
  addCounts(key: string, counts: NodeCounts, times: number): void {
    for (const [value, count] of counts.byLabel(key)) this.add(key, value, count * times)
  }

  /** The sum for all labels of a node. */
  total(labels: Labels): number {
    let sum = 0
    for (const key of this.#byKey.keys()) sum += this.get(key, labels?.[key])
    return sum
  }

  /** Reports whether any label of a node has a positive sum. */
  hasAny(labels: Labels): boolean {
    for (const key of this.#byKey.keys()) if (this.get(key, labels?.[key]) > 0) return true
    return false
  }
}
