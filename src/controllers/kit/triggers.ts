import type { KubeObject } from '../../api/object.ts'
import { type InformerHandler, controllerOf, keyOf, refersTo, resourceName, resyncPriority } from '../../client/index.ts'
import { type Caches, partName } from './caches.ts'
import type { AnyController, Watch } from './definition.ts'

/** What a user asked for goes before what follows from it. */
const userPriority = 10
export const changePriority = 0

export interface TriggerTarget {
  /** An owner is to be looked at. */
  enqueue(key: string, priority: number): void
  /** An owner is gone, or another one has its name. */
  ownerGone(key: string, uid: string): void
  /** A cache has seen everything up to here; `part` is the resource, or one of the namespaces that its cache follows. */
  seen(part: string, resourceVersion: string): void
}

/** Which handlers a controller needs, by the resource they listen to. */
export function handlersOf(definition: AnyController, caches: Caches, target: TriggerTarget): Map<string, InformerHandler> {
  const owner = resourceName(definition.owner)
  const owned = new Set((definition.owns ?? []).map(resourceName))
  const watches = new Map<string, Watch[]>()
  for (const watch of definition.watches ?? []) watches.set(resourceName(watch.type), [...(watches.get(resourceName(watch.type)) ?? []), watch])
  const handlers = new Map<string, InformerHandler>()
  for (const resource of new Set([owner, ...owned, ...watches.keys(), ...(definition.reads ?? []).map(resourceName)])) {
    const relations: InformerHandler[] = []
    if (resource === owner) relations.push(ownerHandler(target, (object) => definition.looksAt?.(object, caches) ?? true))
    if (owned.has(resource)) relations.push(relatedHandler((object) => ownerKeys(definition, caches, object), target, definition.ownedConcern, hasSameOwners))
    for (const watch of watches.get(resource) ?? []) relations.push(relatedHandler((object) => watch.toKeys(object, caches), target, watch.concerns, watch.hasSameKeys))
    handlers.set(resource, joined(relations, (version, namespace) => target.seen(partName(resource, namespace), version)))
  }
  return handlers
}

function joined(handlers: readonly InformerHandler[], bookmark: (resourceVersion: string, namespace: string) => void): InformerHandler {
  return {
    add: (object, isInitial) => handlers.forEach((h) => h.add?.(object, isInitial)),
    update: (old, object) => handlers.forEach((h) => h.update?.(old, object)),
    delete: (object, isFinal) => handlers.forEach((h) => h.delete?.(object, isFinal)),
    bookmark,
  }
}

function ownerHandler({ enqueue, ownerGone }: TriggerTarget, isOwner: (object: KubeObject) => boolean): InformerHandler {
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
  const isAsked = before.uid !== after.uid || before.generation !== after.generation || before.deletionTimestamp !== after.deletionTimestamp
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
      // Whoever had it before may have lost it.
      if (!isResync && !hasSameKeys(old, object)) enqueueAll(old, changePriority)
      enqueueAll(object, isResync ? resyncPriority : changePriority)
    },
    delete: (object) => enqueueAll(object, changePriority),
  }
}

/** Caches keep what has not changed of an object. */
const hasSameOwners = (old: KubeObject, object: KubeObject): boolean => old.metadata.ownerReferences === object.metadata.ownerReferences

const nobody: readonly string[] = []

/** The owner that manages an object, if it is of the right kind and not merely another one of the same name. */
function ownerKeys({ owner: type }: AnyController, caches: Caches, object: KubeObject): readonly string[] {
  const ref = controllerOf(object)
  if (!ref || !refersTo(ref, type)) return nobody
  const key = type.namespaced ? `${object.metadata.namespace}/${ref.name}` : ref.name
  const owner = caches.of(type).get(key)
  return owner?.metadata.uid === ref.uid ? [key] : nobody
}
