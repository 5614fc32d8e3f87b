import type { ContainerStatus, CoreV1Event, PersistentVolumeClaim, Pod } from '../api/generated/types.ts'
import type { KubeObject } from '../client/index.ts'
import { type Group, keysOf } from './groups.ts'

// What is frozen belongs to the server of this process, and costs nothing as it is.

/** Keeps of a pod what tells of its sandbox, and the labels and annotations that were chosen. */
export function podSlimmer(groups: readonly Group[]): (pod: Pod) => Pod {
  const labels = keysOf('label', groups)
  const annotations = keysOf('annotation', groups)
  return (pod) => {
    if (Object.isFrozen(pod)) return pod
    const { metadata, spec, status } = pod
    const { name, namespace, uid, resourceVersion, deletionTimestamp, deletionGracePeriodSeconds } = metadata
    const volumes = (spec.volumes ?? []).map(({ name: volume, persistentVolumeClaim, ephemeral }) => ({ name: volume, ...(persistentVolumeClaim ? { persistentVolumeClaim } : {}), ...(ephemeral ? { ephemeral } : {}) }))
    const conditions = status?.conditions?.filter(({ type }) => type === 'PodScheduled' || type === 'PodReadyToStartContainers')
    const containers = (statuses: readonly ContainerStatus[] = []) => statuses.filter((one) => one.restartCount > 0 || one.state?.running || one.state?.terminated).map(slimStatus)
    return {
      metadata: { name, namespace, uid, resourceVersion, deletionTimestamp, deletionGracePeriodSeconds, labels: pick(metadata.labels, labels), annotations: pick(metadata.annotations, annotations) },
      spec: { runtimeClassName: spec.runtimeClassName, volumes },
      status: {
        phase: status?.phase,
        startTime: status?.startTime,
        conditions: conditions?.map(({ type, status: is, lastTransitionTime }) => ({ type, status: is, lastTransitionTime })),
        initContainerStatuses: containers(status?.initContainerStatuses),
        containerStatuses: containers(status?.containerStatuses),
      },
    } as unknown as Pod
  }
}

const slimStatus = ({ restartCount, state, lastState }: ContainerStatus) => ({
  restartCount,
  state: { ...(state?.running ? { running: {} } : {}), ...(state?.terminated ? { terminated: {} } : {}) },
  lastState: lastState?.terminated ? { terminated: { startedAt: lastState.terminated.startedAt } } : {},
})

function pick(from: Readonly<Record<string, string>> | undefined, keys: readonly string[]): Record<string, string> | undefined {
  const found = keys.flatMap((key) => (from?.[key] === undefined ? [] : [[key, from[key]] as const]))
  return found.length > 0 ? Object.fromEntries(found) : undefined
}

/** Keeps of a claim what tells its class. */
export function slimClaim(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  if (Object.isFrozen(claim)) return claim
  const { name, namespace, uid, resourceVersion, annotations } = claim.metadata
  return { metadata: { name, namespace, uid, resourceVersion, annotations: pick(annotations, ['volume.beta.kubernetes.io/storage-class']) }, spec: { storageClassName: claim.spec.storageClassName } } as unknown as PersistentVolumeClaim
}

/** Keeps of an event whom it is about, when it was, and what it says. */
export function slimEvent(event: CoreV1Event): CoreV1Event {
  if (Object.isFrozen(event)) return event
  const { metadata, involvedObject, reason, message, series, lastTimestamp, eventTime, firstTimestamp } = event
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata
  return { metadata: { name, namespace, uid, resourceVersion, creationTimestamp }, involvedObject: { uid: involvedObject.uid }, reason, message, series, lastTimestamp, eventTime, firstTimestamp } as unknown as CoreV1Event
}

/** Keeps of a workload all but its templates and who wrote what. */
export function slimWorkload<T extends KubeObject>(object: T): T {
  if (Object.isFrozen(object)) return object
  const { metadata, spec, status } = object as T & { spec?: object; status?: object }
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp, ownerReferences } = metadata
  const { template: _, jobTemplate: __, volumeClaimTemplates: ___, ...rest } = (spec ?? {}) as Record<string, unknown>
  return { metadata: { name, namespace, uid, resourceVersion, generation, creationTimestamp, ownerReferences }, spec: rest, status } as unknown as T
}

