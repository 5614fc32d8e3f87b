import { isConflict, isNotFound } from '../../api/errors.ts'
import type { KubeObject, OwnerReference } from '../../api/object.ts'
import { compareResourceVersions } from '../../api/resource-version.ts'
import { type ResourceType, finalizersPatch, removeFinalizer } from '../../client/index.ts'
import { type Again, type FreeContext, type ReplacedVersions, type ServedKinds, eachOf } from '../kit/index.ts'
import { type Owners, decide } from './owners.ts'
import { type Graph, type Node, foregroundFinalizer, orphanFinalizer, phaseOf } from './graph.ts'

/** Changes only the version that the decision is based on. The list is replaced completely. */
const ownersPatch = ({ metadata: { uid, resourceVersion } }: KubeObject, refs: readonly OwnerReference[]): object => ({
  metadata: { uid, resourceVersion, ownerReferences: refs.length ? refs : null },
})

export interface CollectorParts {
  graph: Graph
  kinds: ServedKinds
  owners: Owners
  replaced: ReplacedVersions
  /** Enqueues an object. */
  lookAt(uid: string): void
}

/** Processes one object at a time, according to its owners and dependents. */
export class Collector {
  readonly #ctx: FreeContext
  readonly #graph: Graph
  readonly #kinds: ServedKinds
  readonly #owners: Owners
  readonly #replaced: ReplacedVersions
  readonly #lookAt: (uid: string) => void

  constructor(ctx: FreeContext, { graph, kinds, owners, replaced, lookAt }: CollectorParts) {
    this.#ctx = ctx
    this.#graph = graph
    this.#kinds = kinds
    this.#owners = owners
    this.#replaced = replaced
    this.#lookAt = lookAt
  }

  async look(uid: string): Promise<Again> {
    const node = this.#graph.node(uid)
    if (!node) return undefined
    // The cache lacks our own write to this object, and no event reports when it has it. The object is therefore
    // processed again.
    if (this.#replaced.has(node.object)) return 'back off'
    switch (phaseOf(node.object)) {
      case 'staying':
        return (await this.#collect(node)) ? 'back off' : undefined
      case 'orphaning':
        await this.#orphan(node)
        return undefined
      case 'foreground':
        await this.#goLast(node)
        return undefined
      case 'going':
        return undefined
    }
  }

  /** Deletes an object without owners. Returns true if the result is uncertain. */
  async #collect(node: Node): Promise<boolean> {
    let isUnsure = false
    await this.#onNewest(node, async ({ type, object }) => {
      if (phaseOf(object) !== 'staying') return
      const judged = await this.#owners.judge({ type, object })
      if (!judged) return
      const { namespace = '', name = '', uid = '', resourceVersion, ownerReferences = [] } = object.metadata
      // The requests may have taken long. An object that has changed in the cache is processed again, a deleted one
      // needs nothing.
      if (object === node.object && this.#graph.node(uid)?.object !== object) return this.#lookAt(uid)
      isUnsure = judged.isUnsure
      const decision = decide(object, judged.owners, this.#graph.hasDependents(uid))
      if (decision.kind === 'Delete') {
        const options = { uid, resourceVersion, propagationPolicy: decision.policy, signal: this.#ctx.signal }
        await this.#replaced.write(object, () => this.#ctx.client.delete(type, namespace, name, options))
      } else if (decision.kind === 'Disown') {
        const left = ownerReferences.filter((ref) => !decision.refs.includes(ref))
        await this.#patch(type, object, ownersPatch(object, left))
      }
    })
    return isUnsure
  }

  /** Orphans all dependents, then releases the object. */
  async #orphan(node: Node): Promise<void> {
    const owner = node.object.metadata.uid ?? ''
    const dependents = new Map([...this.#graph.dependentsOf(owner)].map((d) => [d.object.metadata.uid, d]))
    // A missed dependent would be deleted against the user's wish, so the server is asked for what the caches may lack.
    for (const unseen of await this.#unseenDependents(node))
      if (!dependents.has(unseen.object.metadata.uid)) {
        dependents.set(unseen.object.metadata.uid, unseen)
      }
    await eachOf([...dependents.values()], (dependent) => this.#disown(dependent, owner))
    await this.#letGo(node, orphanFinalizer)
  }

  #disown(dependent: Node, owner: string): Promise<void> {
    return this.#onNewest(dependent, async ({ type, object }) => {
      const { ownerReferences = [] } = object.metadata
      const left = ownerReferences.filter((ref) => ref.uid !== owner)
      if (left.length < ownerReferences.length) await this.#patch(type, object, ownersPatch(object, left))
    })
  }

  /** The dependents in caches that are older than the deletion of their owner. */
  async #unseenDependents({ object }: Node): Promise<Node[]> {
    const { namespace = '', uid, resourceVersion = '' } = object.metadata
    const isBehind = (seen: string) => seen === '' || compareResourceVersions(seen, resourceVersion) < 0
    const behind = [...this.#kinds.all()].filter(
      ({ type, informer }) => (type.namespaced || namespace === '') && isBehind(informer.lastSyncResourceVersion),
    )
    const found = await Promise.all(behind.map(({ type }) => this.#list(type, namespace)))
    return found.flat().filter((node) => node.object.metadata.ownerReferences?.some((ref) => ref.uid === uid))
  }

  async #list(type: ResourceType, namespace: string): Promise<Node[]> {
    const nodes: Node[] = []
    for await (const page of this.#ctx.client.listAll(type, namespace, { signal: this.#ctx.signal }))
      nodes.push(...page.items.map((object) => ({ type, object })))
    return nodes
  }

  /** Releases an object whose dependents are gone. */
  async #goLast(node: Node): Promise<void> {
    const blocker = this.#graph.blocker(node.object.metadata.uid ?? '')
    if (!blocker) return this.#letGo(node, foregroundFinalizer)
    // The deletion of the blocker enqueues this object again. The blocker itself is enqueued here.
    if (phaseOf(blocker.object) === 'staying') this.#lookAt(blocker.object.metadata.uid ?? '')
  }

  #letGo(node: Node, finalizer: string): Promise<void> {
    const phase = phaseOf(node.object)
    return this.#onNewest(node, async ({ type, object }) => {
      if (phaseOf(object) !== phase) return
      await this.#patch(type, object, finalizersPatch(removeFinalizer(object, finalizer)))
    })
  }

  /** Sends a patch that checks the version that the decision is based on. */
  async #patch(type: ResourceType, object: KubeObject, patch: object): Promise<void> {
    const { namespace = '', name = '' } = object.metadata
    const { client, signal } = this.#ctx
    await this.#replaced.write(object, () => client.patch(type, namespace, name, patch, { type: 'merge', signal }))
  }

  /**
   * Acts on the cached object and, after a conflict, once more on the object as the server has it. A deleted object
   * needs nothing.
   */
  async #onNewest(node: Node, act: (node: Node) => Promise<void>): Promise<void> {
    try {
      // A version that we have replaced would be rejected.
      if (!this.#replaced.has(node.object)) return await act(node)
    } catch (e) {
      if (isNotFound(e)) return
      if (!isConflict(e)) throw e
    }
    const {
      type,
      object: {
        metadata: { namespace = '', name = '', uid },
      },
    } = node
    try {
      const live = await this.#ctx.client.get(type, namespace, name, { signal: this.#ctx.signal })
      if (live.metadata.uid === uid) await act({ type, object: live })
    } catch (e) {
      if (!isNotFound(e)) throw e
    }
  }
}
