import type {
  Container,
  ContainerStatus,
  PersistentVolumeClaim,
  Pod,
  PodCondition,
  PodStatus,
  Volume,
  VolumeProjection,
} from '../api/generated/types.ts'
import { isPodReady } from '../api/kinds/pods/pod-availability.ts'
import { sandboxConditionType } from '../api/kinds/pods/sandbox-condition.ts'
import { deadlineAnnotation } from '../api/kinds/workloads/rollout-clock.ts'
import { driverSources } from '../api/kinds/volumes/volume-references.ts'
import type { KubeObject } from '../client/index.ts'
import { type Group, keysOf } from './groups.ts'
import { namedObjects } from './sandbox/user-objects.ts'

// A frozen object belongs to the server in this process, and costs nothing.

/** Keeps the sandbox state of a pod, and the selected labels and annotations. */
export function podSlimmer(groups: readonly Group[]): (pod: Pod) => Pod {
  const once = sharer()
  const part = partSharer()
  const slimVolume = volumeSlimmer(part)
  const slimCondition = ({ type, status, reason, lastTransitionTime }: PodCondition) => ({
    type: once(type),
    status: once(status),
    reason: once(reason),
    lastTransitionTime: once(lastTransitionTime ?? undefined),
  })
  const labels = keysOf('label', groups)
  const annotations = keysOf('annotation', groups)
  return (pod) => {
    if (Object.isFrozen(pod)) return pod
    const { metadata, spec, status } = pod
    const { name, namespace, uid, resourceVersion, deletionTimestamp, deletionGracePeriodSeconds } = metadata
    if (!isPodReady(pod) || deletionTimestamp) {
      return unready(pod, pick(metadata.labels, labels), pick(metadata.annotations, annotations), { once, part })
    }
    return {
      metadata: {
        name,
        namespace: once(namespace),
        uid,
        resourceVersion,
        deletionTimestamp,
        deletionGracePeriodSeconds,
        labels: pick(metadata.labels, labels),
        annotations: pick(metadata.annotations, annotations),
      },
      spec: { runtimeClassName: once(spec.runtimeClassName), volumes: spec.volumes?.map(slimVolume) },
      status: {
        phase: once(status?.phase),
        startTime: once(status?.startTime ?? undefined),
        conditions: status?.conditions?.filter(({ type }) => told.has(type)).map(slimCondition),
        initContainerStatuses: status?.initContainerStatuses?.map(slimStatus),
        containerStatuses: status?.containerStatuses?.map(slimStatus),
      },
    } as unknown as Pod
  }
}

interface Sharing {
  once: ReturnType<typeof sharer>
  part: ReturnType<typeof partSharer>
}

/**
 * Keeps everything that explains a pod that is not ready. Pods of one template share equal parts, because an outage may
 * affect all of them.
 */
function unready(
  { metadata, spec, status }: Pod,
  labels: Pod['metadata']['labels'],
  annotations: Pod['metadata']['annotations'],
  { once, part }: Sharing,
): Pod {
  const {
    name,
    namespace,
    uid,
    resourceVersion,
    creationTimestamp,
    deletionTimestamp,
    deletionGracePeriodSeconds,
    finalizers,
  } = metadata
  const { runtimeClassName, nodeName, readinessGates, schedulingGates, volumes, containers, initContainers } = spec
  return {
    metadata: {
      name,
      namespace: once(namespace),
      uid,
      resourceVersion,
      creationTimestamp: once(creationTimestamp),
      deletionTimestamp,
      deletionGracePeriodSeconds,
      finalizers,
      labels,
      annotations,
    },
    spec: part({
      runtimeClassName,
      nodeName,
      readinessGates,
      schedulingGates,
      volumes: volumes?.map(namingVolume),
      containers: containers.map(probed),
      initContainers: initContainers?.map(probed),
    }),
    status: status && unreadyStatus(status, once),
  } as unknown as Pod
}

/** Each object is written as one literal: V8 creates a separate shape for each object made by spreading. */
function unreadyStatus(
  { phase, reason, message, startTime, conditions, initContainerStatuses, containerStatuses }: PodStatus,
  once: Sharing['once'],
) {
  return {
    phase: once(phase),
    reason: once(reason),
    message,
    startTime: once(startTime ?? undefined),
    conditions: conditions?.map((one) => ({
      type: once(one.type),
      status: once(one.status),
      reason: once(one.reason),
      message: one.message,
      lastTransitionTime: once(one.lastTransitionTime ?? undefined),
    })),
    initContainerStatuses,
    containerStatuses,
  }
}

const probed = ({ name, image, restartPolicy, startupProbe, readinessProbe }: Container) => ({
  name,
  image,
  restartPolicy,
  startupProbe,
  readinessProbe,
})

/** Most volumes are only counted. */
const anyVolume = Object.freeze({ name: '' })

/** Keeps the names of the objects that the pod may wait for. Equal volumes share one object. */
function volumeSlimmer(part: ReturnType<typeof partSharer>): (volume: Volume) => Volume {
  return (volume) => {
    const isNaming =
      volume.ephemeral || namedObjects({ metadata: {}, spec: { volumes: [volume] } } as unknown as Pod).length > 0
    return isNaming ? part(namingVolume(volume) as Volume) : (anyVolume as Volume)
  }
}

/** Returns one object for all equal ones. */
function partSharer(): <T extends object>(part: T) => T {
  const known = new Map<string, object>()
  return <T extends object>(part: T) => {
    const text = JSON.stringify(part)
    const same = known.get(text)
    if (same) return same as T
    if (known.size >= maxTexts) known.clear()
    known.set(text, part)
    return part
  }
}

/** Keeps the names of all objects that a volume needs. */
const namingVolume = (volume: Volume) => {
  const { name, persistentVolumeClaim, ephemeral, configMap, secret, projected } = volume
  const driver = driverSources.find((source) => volume[source])
  return {
    name,
    ...(persistentVolumeClaim && { persistentVolumeClaim }),
    ...(ephemeral && { ephemeral }),
    ...(configMap && { configMap: { name: configMap.name, optional: configMap.optional } }),
    ...(secret && { secret: { secretName: secret.secretName, optional: secret.optional } }),
    ...(projected && { projected: { sources: projected.sources?.flatMap(namingSource) } }),
    // CSI volumes are rare, and each driver has its own attributes.
    ...(driver && { [driver]: volume[driver] }),
  }
}

const namingSource = ({ configMap, secret }: VolumeProjection) => [
  ...(configMap ? [{ configMap: { name: configMap.name, optional: configMap.optional } }] : []),
  ...(secret ? [{ secret: { name: secret.name, optional: secret.optional } }] : []),
]

const told: ReadonlySet<string> = new Set(['PodScheduled', 'Ready', sandboxConditionType])

const running = Object.freeze({ restartCount: 0, state: Object.freeze({ running: Object.freeze({}) }) })
const waiting = Object.freeze({ restartCount: 0 })

/** Most containers run, or do not run yet, without further state. */
function slimStatus({ restartCount, state, lastState }: ContainerStatus) {
  if (restartCount === 0 && !state?.terminated && !lastState?.terminated) return state?.running ? running : waiting
  const ended = lastState?.terminated && { terminated: { startedAt: lastState.terminated.startedAt } }
  return {
    restartCount,
    state: state?.running
      ? running.state
      : state?.terminated
        ? { terminated: { startedAt: state.terminated.startedAt } }
        : {},
    lastState: ended ?? {},
  }
}

const maxTexts = 10_000

/** Returns one string for all equal ones: each API object has strings of its own. */
function sharer(): <S extends string | undefined>(text: S) => S {
  const texts = new Map<string, string>()
  return (text) => {
    if (text === undefined) return text
    const known = texts.get(text)
    if (known !== undefined) return known as typeof text
    // Timestamps are interned: most pods share a few recent ones.
    if (texts.size >= maxTexts) texts.clear()
    texts.set(text, text)
    return text
  }
}

function pick(
  from: Readonly<Record<string, string>> | undefined,
  keys: readonly string[],
): Record<string, string> | undefined {
  const found = keys.flatMap((key) => (from?.[key] === undefined ? [] : [[key, from[key]] as const]))
  return found.length > 0 ? Object.fromEntries(found) : undefined
}

/** Keeps the class and the age of a claim. */
export function slimClaim(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  if (Object.isFrozen(claim)) return claim
  const { name, namespace, uid, resourceVersion, creationTimestamp, annotations } = claim.metadata
  return {
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion,
      creationTimestamp,
      annotations: pick(annotations, ['volume.beta.kubernetes.io/storage-class']),
    },
    spec: { storageClassName: claim.spec.storageClassName },
  } as unknown as PersistentVolumeClaim
}

/** Keeps a workload without its templates and managed fields. */
export function slimWorkload<T extends KubeObject>(object: T): T {
  if (Object.isFrozen(object)) return object
  const { metadata, spec, status } = object as T & { spec?: object; status?: object }
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp, deletionTimestamp, ownerReferences } =
    metadata
  const deadline = metadata.annotations?.[deadlineAnnotation]
  const { template: _, jobTemplate: __, volumeClaimTemplates: ___, ...rest } = (spec ?? {}) as Record<string, unknown>
  return {
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion,
      generation,
      creationTimestamp,
      deletionTimestamp,
      ownerReferences,
      ...(deadline === undefined ? {} : { annotations: { [deadlineAnnotation]: deadline } }),
    },
    spec: rest,
    status,
  } as unknown as T
}
