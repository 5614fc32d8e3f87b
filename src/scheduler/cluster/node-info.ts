import type { Node, Taint } from '../../api/generated/types.ts'
import type { Labels } from '../../api/selectors/label-selector.ts'
import { quantityValue } from '../../api/numbers/quantity.ts'
import {
  type Amounts,
  addAmounts,
  amountsOf,
  copyAmounts,
  noAmounts,
} from '../../api/kinds/quantities/counted-amounts.ts'
import type { HostPort } from '../../api/kinds/pods/host-ports.ts'
import type { PodInfo } from './pod-info.ts'

const isHard = ({ effect }: Taint): boolean => effect === 'NoSchedule' || effect === 'NoExecute'

/** A node with its pods and the sum of their requests. */
export class NodeInfo {
  readonly name: string
  /** By UID, including assumed pods. */
  readonly pods: Map<string, PodInfo>
  /** The sum of the pods' requests. */
  readonly requested: Amounts
  /** The CPU and memory of the pods for scoring. */
  readonly scored: { cpu: number; memory: number }
  /** The number of pods per mounted claim. */
  readonly claims: Map<string, number>
  allocatable: Amounts = noAmounts()
  maxPods = 0
  isCordoned = false
  /** NoSchedule and NoExecute taints. */
  hardTaints: readonly Taint[] = []
  /** PreferNoSchedule taints. */
  softTaints: readonly Taint[] = []
  /** Undefined while only pods name the node. */
  labels: Labels
  #node: Node | undefined
  /** The number of pods with host ports. */
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

  /** Reports whether the node itself is known, not only pods that name it. */
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

  /** The host ports of the node's pods. */
  *usedPorts(): Iterable<HostPort> {
    if (this.#withPorts === 0) return
    for (const pod of this.pods.values()) yield* pod.hostPorts
  }

  /** A copy for trials. */
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
