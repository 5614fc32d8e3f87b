import type { Node, Taint } from '../../api/generated/types.ts'
import type { Labels } from '../../api/selectors/label-selector.ts'
import { quantityValue } from '../../api/quantity.ts'
import { type Amounts, addAmounts, amountsOf, copyAmounts, noAmounts } from '../../api/kinds/counted-amounts.ts'
import type { HostPort } from '../../api/kinds/host-ports.ts'
import type { PodInfo } from './pod-info.ts'

const isHard = ({ effect }: Taint): boolean => effect === 'NoSchedule' || effect === 'NoExecute'

/** A node, the pods on it and what they take together. */
export class NodeInfo {
  readonly name: string
  /** By uid; those included that are only assumed to be there. */
  readonly pods: Map<string, PodInfo>
  /** What the pods take together. */
  readonly requested: Amounts
  /** CPU and memory of the pods as they count for the scores. */
  readonly scored: { cpu: number; memory: number }
  /** How many pods mount the volume of a claim, by the claim's key. */
  readonly claims: Map<string, number>
  allocatable: Amounts = noAmounts()
  maxPods = 0
  isCordoned = false
  /** Taints that keep pods away. */
  hardTaints: readonly Taint[] = []
  /** Taints that pods would rather avoid. */
  softTaints: readonly Taint[] = []
  /** Undefined while only pods name the node. */
  labels: Labels
  #node: Node | undefined
  /** How many of the pods want ports of the node. */
  #withPorts = 0

  constructor(name: string, from?: NodeInfo) {
    this.name = name
    this.pods = new Map(from?.pods)
    this.requested = from ? copyAmounts(from.requested) : noAmounts()
    this.scored = from ? { ...from.scored } : { cpu: 0, memory: 0 }
    this.claims = new Map(from?.claims)
    if (!from) return
    this.#withPorts = from.#withPorts
    this.allocatable = from.allocatable
    this.maxPods = from.maxPods
    this.isCordoned = from.isCordoned
    this.hardTaints = from.hardTaints
    this.softTaints = from.softTaints
    this.labels = from.labels
    this.#node = from.#node
  }

  /** Whether the node itself is known, and not only pods that name it. */
  get isKnown(): boolean {
    return this.#node !== undefined
  }

  get node(): Node {
    if (!this.#node) throw new Error(`node ${this.name} is not known`)
    return this.#node
  }

  set(node: Node | undefined): void {
    this.#node = node
    this.labels = node?.metadata.labels
    const { allocatable, capacity } = node?.status ?? {}
    const amounts = allocatable ?? capacity
    this.allocatable = amountsOf(amounts)
    this.maxPods = Number(quantityValue(amounts?.['pods'] ?? '0'))
    this.isCordoned = node?.spec?.unschedulable ?? false
    const taints = node?.spec?.taints ?? []
    this.hardTaints = taints.filter(isHard)
    this.softTaints = taints.filter(({ effect }) => effect === 'PreferNoSchedule')
  }

  add(pod: PodInfo): void {
    this.pods.set(pod.uid, pod)
    this.#count(pod, 1)
  }

  remove(pod: PodInfo): void {
    if (this.pods.delete(pod.uid)) this.#count(pod, -1)
  }

  /** The ports of the node that its pods have. */
  *usedPorts(): Iterable<HostPort> {
    if (this.#withPorts === 0) return
    for (const pod of this.pods.values()) yield* pod.hostPorts
  }

  /** One to try things on. */
  copy(): NodeInfo {
    return new NodeInfo(this.name, this)
  }

  #count(pod: PodInfo, times: 1 | -1): void {
    addAmounts(this.requested, pod.requests, times)
    this.scored.cpu += times * pod.scored.cpu
    this.scored.memory += times * pod.scored.memory
    if (pod.hostPorts.length) this.#withPorts += times
    for (const key of pod.claimKeys) {
      const count = (this.claims.get(key) ?? 0) + times
      if (count > 0) this.claims.set(key, count)
      else this.claims.delete(key)
    }
  }
}
