import type { Node, PersistentVolumeClaim, Pod } from '../../../api/generated/types.ts'
import type { KubeObject } from '../../../api/object.ts'
import {
  type ResourceType,
  type SharedInformer,
  controllerOf,
  isControlledByUid,
  keyOf,
  nodes,
  persistentvolumeclaims,
  pods,
  resourceName,
} from '../../../client/index.ts'
import { type Informers, byController } from '../caches.ts'
import { byNode, podsByClaim } from '../workload/pod-indexes.ts'
import { type Audit, type RosterKind, type RosterSource, Rosters } from './roster.ts'

export function keepRosters(
  kind: RosterKind | undefined,
  informers: Informers,
  audit?: Audit,
): { rosters: Rosters<KubeObject>; stop(): void } {
  if (!kind) return { rosters: new Rosters(() => nothing), stop: () => {} }
  const rosters = new Rosters<KubeObject>((uid) => kind.sourceOf(informers, uid), audit)
  const stops = kind.follow(informers, (key, uid) =>
    uid === undefined ? rosters.noteAll(key) : rosters.note(uid, key),
  )
  return { rosters, stop: () => stops.forEach((stop) => stop()) }
}

const nothing: RosterSource<KubeObject> = { all: () => [], get: () => undefined }

/** Rosters of the pods that an owner manages. */
export const ownedPods: RosterKind = {
  sourceOf(informers, uid) {
    const informer = informerOf(informers, pods)!
    return {
      all: () => informer.byIndex(byController, uid).map((pod) => [keyOf(pod), pod] as const),
      get: (key: string) => {
        const pod = informer.get(key)
        return pod && isControlledByUid(pod, uid) ? pod : undefined
      },
    }
  },
  follow: (informers, note) =>
    followPods(informers, (pod) => {
      const uid = controllerOf(pod)?.uid
      if (uid) note(keyOf(pod), uid)
    }),
}

export const informerOf = <T extends KubeObject>(
  informers: Informers,
  type: ResourceType<T>,
): SharedInformer<T> | undefined => informers.get(resourceName(type)) as unknown as SharedInformer<T> | undefined

/**
 * Reports pods that were added, changed or deleted. A relevant change of a pod's node or claim counts as a change of
 * the pod.
 */
export function followPods(informers: Informers, note: (pod: Pod) => void): (() => void)[] {
  const informer = informerOf(informers, pods)!
  const stops = [
    informer.addHandler({
      add: note,
      delete: note,
      update(old, pod) {
        note(pod)
        if (old.metadata.ownerReferences !== pod.metadata.ownerReferences || old.spec !== pod.spec) note(old)
      },
    }),
  ]
  const noteAll = (index: string, value: string) => informer.byIndex(index, value).forEach(note)
  const nodeCache = informerOf(informers, nodes)
  if (nodeCache) {
    informer.addIndex(byNode.name, byNode.valuesOf as never)
    const changed = ({ metadata }: Node) => noteAll(byNode.name, metadata.name!)
    const update = (old: Node, node: Node) => readiness(old) !== readiness(node) && changed(node)
    stops.push(nodeCache.addHandler({ add: changed, delete: changed, update }))
  }
  const claimCache = informerOf(informers, persistentvolumeclaims)
  if (claimCache) {
    informer.addIndex(podsByClaim.name, podsByClaim.valuesOf as never)
    const changed = (claim: PersistentVolumeClaim) => noteAll(podsByClaim.name, keyOf(claim))
    stops.push(claimCache.addHandler({ add: changed, delete: changed, update: (_, claim) => changed(claim) }))
  }
  return stops
}

/** The part of a node that explains pods. */
function readiness({ status }: Node): string {
  const { status: is, reason, message, lastTransitionTime } = status?.conditions?.find((c) => c.type === 'Ready') ?? {}
  return [is, reason, message, lastTransitionTime].join()
}
