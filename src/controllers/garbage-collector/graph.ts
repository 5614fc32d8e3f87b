import type { KubeObject, OwnerReference } from '../../api/object.ts'
import { type ResourceType, hasFinalizer } from '../../client/index.ts'

export const orphanFinalizer = 'orphan'
export const foregroundFinalizer = 'foregroundDeletion'

/**
 * The deletion phase of an object: before it is deleted, it may orphan its dependents (`orphaning`) or delete them
 * (`foreground`).
 */
export type Phase = 'staying' | 'going' | 'orphaning' | 'foreground'

export function phaseOf(object: KubeObject): Phase {
  if (!object.metadata.deletionTimestamp) return 'staying'
  if (hasFinalizer(object, orphanFinalizer)) return 'orphaning'
  return hasFinalizer(object, foregroundFinalizer) ? 'foreground' : 'going'
}

/** An object that has owners, or that must wait for its dependents. */
export interface Node {
  readonly type: ResourceType
  readonly object: KubeObject
}

/** The UIDs of objects to process. */
export interface Concerns {
  now: string[]
  /** Objects whose owners have not been seen. Most are only late. */
  soon: string[]
}

const ownersOf = (object: KubeObject | undefined): readonly OwnerReference[] => object?.metadata.ownerReferences ?? []
const uidOf = (object: KubeObject): string => object.metadata.uid ?? ''
const isSame = (a: OwnerReference, b: OwnerReference) =>
  a.uid === b.uid && a.name === b.name && a.kind === b.kind && a.apiVersion === b.apiVersion

/** The dependency graph, according to the caches. Objects without owners use no memory here. */
export class Graph {
  readonly #hasSeen: (owner: OwnerReference, namespace: string) => boolean
  readonly #nodes = new Map<string, Node>()
  /** By the UID of the owner, whether it has been seen or not. */
  readonly #dependents = new Map<string, Set<string>>()

  /** `hasSeen` reports whether a cache contains the owner with this UID. */
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

  /** Records the current state of an object, and returns the objects to process. */
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

  /** Records that an object is deleted. */
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

  /**
   * A dependent that blocks the deletion of its owner. Dependents in a cycle of waiting objects do not count, because
   * all of them are to be deleted.
   */
  blocker(uid: string): Node | undefined {
    for (const dependent of this.#blocking(uid)) {
      if (!(this.#phase(uidOf(dependent.object)) === 'foreground' && this.#waitsFor(uidOf(dependent.object), uid))) {
        return dependent
      }
    }
    return undefined
  }

  #phase(uid: string): Phase | undefined {
    const node = this.#nodes.get(uid)
    return node && phaseOf(node.object)
  }

  *#blocking(uid: string): Generator<Node> {
    for (const node of this.dependentsOf(uid)) {
      if (
        uidOf(node.object) !== uid &&
        ownersOf(node.object).some((ref) => ref.uid === uid && ref.blockOwnerDeletion === true)
      )
        yield node
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
        if (old.blockOwnerDeletion && !ref.blockOwnerDeletion && this.#phase(ref.uid) === 'foreground') {
          concerns.now.push(ref.uid)
        }
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
    // A spread of a hundred thousand dependents would fail.
    if (phase === 'foreground') for (const dependent of this.#dependents.get(uid) ?? []) now.push(dependent)
  }
}
