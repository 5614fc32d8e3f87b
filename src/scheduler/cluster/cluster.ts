import { deepEqual } from '../../api/deep-equal.ts'
import type { Node, Pod } from '../../api/generated/types.ts'
import type { WeightedTerm } from './affinity-term.ts'
import { Images } from './images.ts'
import { MatchingPods } from './matching-pods.ts'
import { NodeInfo } from './node-info.ts'
import { NodeLabels } from './node-labels.ts'
import { inTurns, zoneOf } from './node-order.ts'
import { PodInfo } from './pod-info.ts'
import { TermIndex } from './term-index.ts'

interface Placed {
  info: PodInfo
  node: NodeInfo
  /** Only decided here so far: the API does not say so yet. */
  isAssumed: boolean
}

/** The weight of a term that is required, which needs none. */
const required = 1

/** Nodes and the pods on them, as the API tells them and as the scheduler has decided meanwhile. A cycle reads it as it is: nothing changes while it decides. */
export class Cluster {
  readonly images = new Images()
  readonly #nodes = new Map<string, NodeInfo>()
  readonly labels = new NodeLabels(this.#nodes)
  readonly matching = new MatchingPods(this.#nodes, this.labels)
  /** Terms of pods that are there. */
  readonly terms = {
    affinity: new TermIndex(this.labels),
    antiAffinity: new TermIndex(this.labels),
    preferredAffinity: new TermIndex(this.labels),
    preferredAntiAffinity: new TermIndex(this.labels),
  }
  /** By uid. */
  readonly #pods = new Map<string, Placed>()
  #order: readonly NodeInfo[] | undefined
  #softTainted = 0
  #assumed = 0

  /** All nodes, zones taking turns, so that the first hundred are of all zones. */
  get nodes(): readonly NodeInfo[] {
    return (this.#order ??= inTurns([...this.#nodes.values()].filter((node) => node.isKnown)))
  }

  get podCount(): number {
    return this.#pods.size
  }

  get assumedCount(): number {
    return this.#assumed
  }

  /** Whether any node has taints that pods would rather avoid. */
  get hasSoftTaints(): boolean {
    return this.#softTainted > 0
  }

  node(name: string): NodeInfo | undefined {
    const info = this.#nodes.get(name)
    return info?.isKnown ? info : undefined
  }

  /** Whether the pod has a node, be it only in our plans. */
  has(uid: string): boolean {
    return this.#pods.has(uid)
  }

  isAssumed(uid: string): boolean {
    return this.#pods.get(uid)?.isAssumed ?? false
  }

  setNode(node: Node): NodeInfo {
    const info = this.#entry(node.metadata.name!)
    const before = info.isKnown ? info.node : undefined
    this.#softTainted -= info.softTaints.length
    info.set(node)
    this.#softTainted += info.softTaints.length
    this.images.change(info.name, before, node)
    if (!before || zoneOf(before) !== zoneOf(node)) this.#order = undefined
    if (!before || !deepEqual(before.metadata.labels, node.metadata.labels)) this.labels.changed()
    return info
  }

  removeNode(name: string): void {
    const info = this.#nodes.get(name)
    if (!info?.isKnown) return
    this.images.change(name, info.node, undefined)
    this.#softTainted -= info.softTaints.length
    info.set(undefined)
    this.#order = undefined
    this.labels.changed()
    this.#dropIfEmpty(info)
  }

  /** Takes a decision for done until the API says so, or it is taken back. */
  assume(pod: PodInfo, nodeName: string): void {
    this.#place(pod, nodeName, true)
    this.#assumed++
  }

  /** The API says where the pod is. Answers what was known of it before, if anything was. */
  setPod(pod: Pod): { info: PodInfo; before: PodInfo | undefined; wasAssumed: boolean } {
    const placed = this.#pods.get(pod.metadata.uid!)
    const before = placed?.info
    const wasAssumed = placed?.isAssumed ?? false
    if (placed && placed.node.name === pod.spec.nodeName && placed.info.follow(pod)) {
      if (wasAssumed) this.#assumed--
      placed.isAssumed = false
      return { info: placed.info, before, wasAssumed }
    }
    if (placed) this.removePod(pod.metadata.uid!)
    const info = new PodInfo(pod)
    this.#place(info, pod.spec.nodeName!, false)
    return { info, before, wasAssumed }
  }

  /** The pod is gone, or is not going to its node after all. */
  removePod(uid: string): PodInfo | undefined {
    const placed = this.#pods.get(uid)
    if (!placed) return undefined
    const { info, node, isAssumed } = placed
    this.#pods.delete(uid)
    if (isAssumed) this.#assumed--
    node.remove(info)
    this.#index(info, node.name, -1)
    this.#dropIfEmpty(node)
    return info
  }

  #place(info: PodInfo, nodeName: string, isAssumed: boolean): void {
    const node = this.#entry(nodeName)
    node.add(info)
    this.#pods.set(info.uid, { info, node, isAssumed })
    this.#index(info, nodeName, 1)
  }

  #index(pod: PodInfo, node: string, by: 1 | -1): void {
    this.matching.change(pod, node, by)
    const { affinity, antiAffinity, preferredAffinity, preferredAntiAffinity } = pod.affinities
    for (const term of affinity) this.terms.affinity.change(term, required, node, by)
    for (const term of antiAffinity) this.terms.antiAffinity.change(term, required, node, by)
    const change = (index: TermIndex, terms: readonly WeightedTerm[]) => {
      for (const { term, weight } of terms) index.change(term, weight, node, by)
    }
    change(this.terms.preferredAffinity, preferredAffinity)
    change(this.terms.preferredAntiAffinity, preferredAntiAffinity)
  }

  #entry(name: string): NodeInfo {
    let info = this.#nodes.get(name)
    if (!info) this.#nodes.set(name, (info = new NodeInfo(name)))
    return info
  }

  #dropIfEmpty(info: NodeInfo): void {
    if (!info.isKnown && info.pods.size === 0) this.#nodes.delete(info.name)
  }
}
