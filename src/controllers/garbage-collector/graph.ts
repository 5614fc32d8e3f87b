import type { KubeObject, OwnerReference } from '../../api/object.ts'
import type { ResourceType } from '../../client/index.ts'
import { type Phase, phaseOf } from './phase.ts'

/** An object that has owners, or that has to let go of its dependents before it goes. */
export interface Node {
  readonly type: ResourceType
  readonly object: KubeObject
}

/** Objects to be looked at, by uid. */
export interface Concerns {
  now: string[]
  /** Their owners have not been seen; most are only late. */
  soon: string[]
}

const ownersOf = (object: KubeObject | undefined): readonly OwnerReference[] => object?.metadata.ownerReferences ?? []
const uidOf = (object: KubeObject): string => object.metadata.uid ?? ''
const isSame = (a: OwnerReference, b: OwnerReference) => a.uid === b.uid && a.name === b.name && a.kind === b.kind && a.apiVersion === b.apiVersion

/** Who depends on whom, as far as the caches know. Objects without owners cost nothing here. */
export class Graph {
  readonly #hasSeen: (owner: OwnerReference, namespace: string) => boolean
  readonly #nodes = new Map<string, Node>()
  /** By the uid of the owner, whether that was ever seen or not. */
  readonly #dependents = new Map<string, Set<string>>()

  /** `hasSeen` says whether a cache has the very owner that a dependent in a namespace names. */
  constructor(hasSeen: (owner: OwnerReference, namespace: string) => boolean) {
    this.#hasSeen = hasSeen
  }

  node(uid: string): Node | undefined {
    return this.#nodes.get(uid)
  }

  get size(): number {
    return this.#nodes.size
  }

  *dependentsOf(uid: string): Generator<Node> {
    for (const dependent of this.#dependents.get(uid) ?? []) {
      const node = this.#nodes.get(dependent)
      if (node) yield node
    }
  }

  hasDependents(uid: string): boolean {
    return this.#dependents.has(uid)
  }

  /** Takes in an object as it is now, and says who is to be looked at. */
  set(type: ResourceType, object: KubeObject): Concerns {
    const uid = uidOf(object)
    const before = this.#nodes.get(uid)?.object
    const concerns: Concerns = { now: [], soon: [] }
    const phase = phaseOf(object)
    const owners = ownersOf(object)
    if (owners.length > 0 || phase === 'orphaning' || phase === 'foreground') this.#nodes.set(uid, { type, object })
    else this.#nodes.delete(uid)
    this.#relink(uid, before, object, concerns)
    if (phase !== (before ? phaseOf(before) : 'staying')) this.#enter(uid, phase, concerns)
    return concerns
  }

  /** Takes in that an object is gone. */
  remove(object: KubeObject): Concerns {
    const uid = uidOf(object)
    const now = [...(this.#dependents.get(uid) ?? [])]
    const owners = ownersOf(this.#nodes.get(uid)?.object)
    this.#nodes.delete(uid)
    for (const owner of owners) {
      this.#unlink(owner.uid, uid)
      if (this.#phase(owner.uid) === 'foreground') now.push(owner.uid)
    }
    return { now, soon: [] }
  }

  /** A dependent without which its owner may not go yet. Those that wait for each other in a circle do not count: all of them are to go. */
  blocker(uid: string): Node | undefined {
    for (const dependent of this.#blocking(uid)) {
      if (!(this.#phase(uidOf(dependent.object)) === 'foreground' && this.#waitsFor(uidOf(dependent.object), uid))) return dependent
    }
    return undefined
  }

  #phase(uid: string): Phase | undefined {
    const node = this.#nodes.get(uid)
    return node && phaseOf(node.object)
  }

  *#blocking(uid: string): Generator<Node> {
    for (const node of this.dependentsOf(uid)) {
      if (uidOf(node.object) !== uid && ownersOf(node.object).some((ref) => ref.uid === uid && ref.blockOwnerDeletion === true)) yield node
    }
  }

  #waitsFor(from: string, target: string): boolean {
    const seen = new Set([from])
    const open = [from]
    for (let uid = open.pop(); uid !== undefined; uid = open.pop()) {
      for (const { object } of this.#blocking(uid)) {
        const next = uidOf(object)
        if (next === target) return true
        if (seen.has(next) || phaseOf(object) !== 'foreground') continue
        seen.add(next)
        open.push(next)
      }
    }
    return false
  }

  #relink(uid: string, before: KubeObject | undefined, object: KubeObject, concerns: Concerns): void {
    const owners = ownersOf(object)
    for (const old of ownersOf(before)) {
      if (owners.some((ref) => ref.uid === old.uid)) continue
      this.#unlink(old.uid, uid)
      if (this.#phase(old.uid) === 'foreground') concerns.now.push(old.uid)
    }
    for (const ref of owners) {
      const old = ownersOf(before).find((o) => o.uid === ref.uid)
      if (old && isSame(old, ref)) {
        if (old.blockOwnerDeletion && !ref.blockOwnerDeletion && this.#phase(ref.uid) === 'foreground') concerns.now.push(ref.uid)
        continue
      }
      const dependents = this.#dependents.get(ref.uid)
      if (dependents) dependents.add(uid)
      else this.#dependents.set(ref.uid, new Set([uid]))
      if (this.#phase(ref.uid) === 'foreground') concerns.now.push(uid)
      else if (!this.#hasSeen(ref, object.metadata.namespace ?? '')) concerns.soon.push(uid)
    }
  }

  #unlink(owner: string, uid: string): void {
    const dependents = this.#dependents.get(owner)
    if (dependents?.delete(uid) && dependents.size === 0) this.#dependents.delete(owner)
  }

  #enter(uid: string, phase: Phase, { now }: Concerns): void {
    if (phase !== 'orphaning' && phase !== 'foreground') return
    now.push(uid)
    if (phase === 'foreground') now.push(...(this.#dependents.get(uid) ?? []))
  }
}
