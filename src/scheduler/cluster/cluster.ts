import { deepEqual } from '../../api/deep-equal.ts'
import type { ContainerImage, Node, Pod } from '../../api/generated/types.ts'
import type { WeightedTerm } from './affinity-terms.ts'
import { MatchingPods, TermIndex } from './matching-pods.ts'
import { NodeLabels } from './node-counts.ts'
import { NodeInfo } from './node-info.ts'
import { PodInfo } from './pod-info.ts'

/** The zone of a node, including its region. */
const zoneOf = ({ metadata: { labels } }: Node): string =>
  `${labels?.['topology.kubernetes.io/region'] ?? ''}/${labels?.['topology.kubernetes.io/zone'] ?? ''}`

/** The nodes, alternating between zones. */
function inTurns(nodes: readonly NodeInfo[]): NodeInfo[] {
  const zones = new Map<string, NodeInfo[]>()
  for (const node of nodes) {
    const zone = zoneOf(node.node)
    const members = zones.get(zone)
    if (members) members.push(node)
    else zones.set(zone, [node])
  }
  const ordered: NodeInfo[] = []
  for (let turn = 0; ordered.length < nodes.length; turn++) {
    for (const members of zones.values()) if (turn < members.length) ordered.push(members[turn]!)
  }
  return ordered
}

interface Image {
  bytes: number
  nodes: Set<string>
}

/** The images of all nodes. */
class Images {
  readonly #byName = new Map<string, Image>()

  get(name: string): { readonly bytes: number; readonly nodes: ReadonlySet<string> } | undefined {
    return this.#byName.get(name)
  }

  /** The images of a node have changed. */
  change(node: string, before: Node | undefined, after: Node | undefined): void {
    const old = before?.status?.images
    const current = after?.status?.images
    if (old === current) return
    for (const image of old ?? []) this.#remove(node, image)
    for (const { names, sizeBytes = 0 } of current ?? []) {
      for (const name of names ?? []) {
        const known = this.#byName.get(name)
        if (known) known.nodes.add(node)
        else this.#byName.set(name, { bytes: Number(sizeBytes), nodes: new Set([node]) })
      }
    }
  }

  #remove(node: string, { names }: ContainerImage): void {
    for (const name of names ?? []) {
      const image = this.#byName.get(name)
      if (image?.nodes.delete(node) && image.nodes.size === 0) this.#byName.delete(name)
    }
  }
}

interface Placed {
  info: PodInfo
  node: NodeInfo
  /** True for a decision that the API does not show yet. */
  isAssumed: boolean
}

/** The weight of a required term, which is not used. */
const required = 1

/**
 * Nodes and their pods, from the API and from the scheduler's own decisions. A scheduling cycle reads it directly,
 * because nothing changes during a cycle.
 */
export class Cluster {
  readonly images = new Images()
  readonly #nodes = new Map<string, NodeInfo>()
  readonly labels = new NodeLabels(this.#nodes)
  readonly matching = new MatchingPods(this.#nodes, this.labels)
  /** Affinity terms of existing pods. */
  readonly terms = {
    affinity: new TermIndex(this.labels),
    antiAffinity: new TermIndex(this.labels),
    preferredAffinity: new TermIndex(this.labels),
    preferredAntiAffinity: new TermIndex(this.labels),
  }
  /** By UID. */
  readonly #pods = new Map<string, Placed>()
  #order: readonly NodeInfo[] | undefined
  #softTainted = 0
  #assumed = 0

  /** All nodes, alternating between zones, so that the first hundred are from all zones. */
  get nodes(): readonly NodeInfo[] {
    return (this.#order ??= inTurns([...this.#nodes.values()].filter((node) => node.isKnown)))
  }

  get podCount(): number {
    return this.#pods.size
  }

  get assumedCount(): number {
    return this.#assumed
  }

  /** Reports whether any node has PreferNoSchedule taints. */
  get hasSoftTaints(): boolean {
    return this.#softTainted > 0
  }

  node(name: string): NodeInfo | undefined {
    const info = this.#nodes.get(name)
    return info?.isKnown ? info : undefined
  }

  /** Reports whether the pod has a node, or is assumed to. */
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

  /** Assumes a decision until the API shows it, or it is withdrawn. */
  assume(pod: PodInfo, nodeName: string): void {
    this.#place(pod, nodeName, true)
    this.#assumed++
  }

  /** The API shows the node of the pod. Returns the previous entry, if any. */
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

  /** The pod is deleted, or is not bound to its node after all. */
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
