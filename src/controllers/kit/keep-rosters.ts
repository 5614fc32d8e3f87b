import type { Node, PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import {
  type ResourceType, type SharedInformer, controllerOf, isControlledByUid, keyOf, nodes, persistentvolumeclaims, pods,
  resourceName,
} from '../../client/index.ts'
import { type Informers, byController } from './caches.ts'
import { type Audit, Rosters } from './roster.ts'
import { byNode } from './workload/pod-indexes.ts'
import { podsByClaim } from './workload/pods-of-claims.ts'

/**
 * Keeps rosters up to date by the events of their cache. What a pod is read by besides itself, its node and its claims,
 * counts as a change of the pod when it makes a difference.
 */
export function keepRosters(
  type: ResourceType | undefined, informers: Informers, audit?: Audit,
): { rosters: Rosters<KubeObject>; stop(): void } {
  const informer = type && informers.get(resourceName(type))
  if (!informer) return { rosters: new Rosters(() => nothing), stop: () => {} }
  const rosters = new Rosters<KubeObject>((uid) => sourceOf(informer, uid), audit)
  const note = (object: KubeObject) => {
    const uid = controllerOf(object)?.uid
    if (uid) rosters.note(uid, keyOf(object))
  }
  const stops = [informer.addHandler({
    add: note,
    delete: note,
    update(old, object) {
      note(object)
      if (old.metadata.ownerReferences !== object.metadata.ownerReferences) note(old)
    },
  })]
  if (type === (pods as ResourceType)) stops.push(...followSurroundings(informer as unknown as SharedInformer<Pod>, informers, note))
  return { rosters, stop: () => stops.forEach((stop) => stop()) }
}

const nothing = { all: () => [], get: () => undefined }

const sourceOf = (informer: SharedInformer, uid: string) => ({
  all: () => informer.byIndex(byController, uid).map((object) => [keyOf(object), object] as const),
  get: (key: string) => {
    const object = informer.get(key)
    return object && isControlledByUid(object, uid) ? object : undefined
  },
})

function* followSurroundings(informer: SharedInformer<Pod>, informers: Informers, note: (pod: Pod) => void): Generator<() => void> {
  const nodeCache = informers.get(resourceName(nodes)) as unknown as SharedInformer<Node> | undefined
  const claimCache = informers.get(resourceName(persistentvolumeclaims)) as unknown as SharedInformer<PersistentVolumeClaim> | undefined
  const noteAll = (index: string, value: string) => informer.byIndex(index, value).forEach(note)
  if (nodeCache) {
    informer.addIndex(byNode.name, byNode.valuesOf as never)
    const changed = ({ metadata }: Node) => noteAll(byNode.name, metadata.name!)
    const update = (old: Node, node: Node) => readiness(old) !== readiness(node) && changed(node)
    yield nodeCache.addHandler({ add: changed, delete: changed, update })
  }
  if (claimCache) {
    informer.addIndex(podsByClaim.name, podsByClaim.valuesOf as never)
    const changed = (claim: PersistentVolumeClaim) => noteAll(podsByClaim.name, keyOf(claim))
    yield claimCache.addHandler({ add: changed, delete: changed, update: (_, claim) => changed(claim) })
  }
}

/** The part of a node that explains pods. */
function readiness({ status }: Node): string {
  const { status: is, reason, message, lastTransitionTime } = status?.conditions?.find((c) => c.type === 'Ready') ?? {}
  return [is, reason, message, lastTransitionTime].join()
}
