import type { KubeObject } from '../../../api/object.ts'
import {
  type InformerHandler,
  controllerOf,
  keyOf,
  refersTo,
  resourceName,
  resyncPriority,
} from '../../../client/index.ts'
import { type Caches, partName } from '../caches.ts'
import type { AnyController } from '../definition.ts'
import type { Watch } from '../sources.ts'

/** Changes by users are processed before changes that follow from them. */
const userPriority = 10
export const changePriority = 0

export interface TriggerTarget {
  /** An owner is to be reconciled. */
  enqueue(key: string, priority: number): void
  /** An owner is deleted, or another object has its name. */
  ownerGone(key: string, uid: string): void
  /**
   * A cache has seen everything up to this version. `part` is the resource, or one of the namespaces that the cache
   * follows.
   */
  seen(part: string, resourceVersion: string): void
}

/** The handlers that a controller needs, by resource. */
export function handlersOf(
  definition: AnyController,
  caches: Caches,
  target: TriggerTarget,
): Map<string, InformerHandler> {
  const owner = resourceName(definition.owner)
  const { owns = [], ownedConcern, reads = [], looksAt, watches: declared = [] } = definition.sources ?? {}
  const owned = new Set(owns.map(resourceName))
  const watches = new Map<string, Watch[]>()
  for (const watch of declared)
    watches.set(resourceName(watch.type), [...(watches.get(resourceName(watch.type)) ?? []), watch])
  const handlers = new Map<string, InformerHandler>()
  for (const resource of new Set([owner, ...owned, ...watches.keys(), ...reads.map(resourceName)])) {
    const relations: InformerHandler[] = []
    if (resource === owner) relations.push(ownerHandler(target, (object) => looksAt?.(object, caches) ?? true))
    if (owned.has(resource)) {
      relations.push(
        relatedHandler((object) => ownerKeys(definition, caches, object), target, ownedConcern, hasSameOwners),
      )
    }
    for (const watch of watches.get(resource) ?? [])
      relations.push(
        relatedHandler((object) => watch.toKeys(object, caches), target, watch.concerns, watch.hasSameKeys),
      )
    handlers.set(
      resource,
      joined(relations, (version, namespace) => target.seen(partName(resource, namespace), version)),
    )
  }
  return handlers
}

function joined(
  handlers: readonly InformerHandler[],
  bookmark: (resourceVersion: string, namespace: string) => void,
): InformerHandler {
  return {
    add: (object, isInitial) => handlers.forEach((h) => h.add?.(object, isInitial)),
    update: (old, object) => handlers.forEach((h) => h.update?.(old, object)),
    delete: (object, isFinal) => handlers.forEach((h) => h.delete?.(object, isFinal)),
    bookmark,
  }
}

function ownerHandler(
  { enqueue, ownerGone }: TriggerTarget,
  isOwner: (object: KubeObject) => boolean,
): InformerHandler {
  return {
    add(object, isInitial) {
      if (isOwner(object)) enqueue(keyOf(object), isInitial ? resyncPriority : userPriority)
    },
    update(old, object) {
      if (old.metadata.uid !== object.metadata.uid) ownerGone(keyOf(old), old.metadata.uid ?? '')
      if (isOwner(object)) enqueue(keyOf(object), updatePriority(old, object))
    },
    delete(object) {
      ownerGone(keyOf(object), object.metadata.uid ?? '')
      if (isOwner(object)) enqueue(keyOf(object), userPriority)
    },
  }
}

function updatePriority(old: KubeObject, object: KubeObject): number {
  const [before, after] = [old.metadata, object.metadata]
  if (before.resourceVersion === after.resourceVersion) return resyncPriority
  const isAsked =
    before.uid !== after.uid ||
    before.generation !== after.generation ||
    before.deletionTimestamp !== after.deletionTimestamp
  return isAsked ? userPriority : changePriority
}

function relatedHandler(
  keysOf: (object: KubeObject) => Iterable<string>,
  { enqueue }: TriggerTarget,
  concerns: Watch['concerns'] = () => true,
  hasSameKeys: Watch['hasSameKeys'] = () => false,
): InformerHandler {
  const enqueueAll = (object: KubeObject, priority: number) => {
    for (const key of keysOf(object)) enqueue(key, priority)
  }
  return {
    add: (object, isInitial) => enqueueAll(object, isInitial ? resyncPriority : changePriority),
    update(old, object) {
      const isResync = old.metadata.resourceVersion === object.metadata.resourceVersion
      if (!isResync && !concerns(old, object)) return
      // The previous owner may have lost the object.
      if (!isResync && !hasSameKeys(old, object)) enqueueAll(old, changePriority)
      enqueueAll(object, isResync ? resyncPriority : changePriority)
    },
    delete: (object) => enqueueAll(object, changePriority),
  }
}

/** Caches share the unchanged parts of an object between versions. */
const hasSameOwners = (old: KubeObject, object: KubeObject): boolean =>
  old.metadata.ownerReferences === object.metadata.ownerReferences

const nobody: readonly string[] = []

/** The key of an object's controller, if it has the type and the UID of an existing owner. */
function ownerKeys({ owner: type }: AnyController, caches: Caches, object: KubeObject): readonly string[] {
  const ref = controllerOf(object)
  if (!ref || !refersTo(ref, type)) return nobody
  const key = type.namespaced ? `${object.metadata.namespace}/${ref.name}` : ref.name
  const owner = caches.of(type).get(key)
  return owner?.metadata.uid === ref.uid ? [key] : nobody
}
