import type { Container, Pod } from '../../api/generated/types.ts'
import { isPodReady } from '../../api/kinds/pods/pod-availability.ts'
import type { KubeObject } from '../../api/object.ts'

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

/**
 * Removes the fields of an object that no condition depends on. A frozen object is returned unchanged: it belongs to
 * the API server in this process and takes no further memory.
 */
export function slim<T extends KubeObject>(object: T): T {
  if (Object.isFrozen(object)) return object
  const { managedFields: _, annotations, ...metadata } = object.metadata
  const { [lastApplied]: _applied, ...kept } = annotations ?? {}
  const slimmed = { ...object, metadata: Object.keys(kept).length > 0 ? { ...metadata, annotations: kept } : metadata }
  if (!isPod(object)) return slimmed
  return isPodReady(object) && !object.metadata.deletionTimestamp
    ? readyPod(slimmed as T & Pod)
    : { ...slimmed, spec: slimSpec(object.spec) }
}

/**
 * The same for clusters whose Deployments are not evaluated. Only Deployments compare the template of a ReplicaSet, so
 * only its labels are kept.
 */
export function slimWithoutTemplates<T extends KubeObject>(object: T): T {
  const slimmed = slim(object) as T & { spec?: { template?: { metadata?: object } } }
  const { spec } = slimmed
  // No other kind with a template has these fields alone.
  if (
    Object.isFrozen(object) ||
    !spec?.template ||
    !Object.keys(spec).every((field) => replicaSetFields.includes(field))
  )
    return slimmed
  return { ...slimmed, spec: { ...spec, template: { metadata: spec.template.metadata, spec: { containers: [] } } } }
}

const replicaSetFields: readonly string[] = ['replicas', 'minReadySeconds', 'selector', 'template']

/** Conditions about the start of a pod, which no condition of a workload depends on once the pod is ready. */
const past: readonly string[] = ['PodScheduled', 'Initialized', 'ContainersReady', 'PodReadyToStartContainers']

/** A ready pod needs no explanation, so only the fields for counting and finding it are kept. */
function readyPod<T extends Pod>(pod: T): T {
  const { nodeName, restartPolicy, readinessGates, volumes, hostname, subdomain } = pod.spec
  const { phase, startTime } = pod.status ?? {}
  const conditions = pod.status?.conditions?.filter(({ type }) => !past.includes(type))
  const claims = volumes?.filter(({ persistentVolumeClaim }) => persistentVolumeClaim)
  const spec = {
    nodeName,
    restartPolicy,
    readinessGates,
    hostname,
    subdomain,
    containers: [],
    ...(claims?.length ? { volumes: claims } : {}),
  }
  return { metadata: pod.metadata, spec, status: { phase, startTime, conditions } } as unknown as T
}

const isPod = (object: KubeObject): object is Pod & KubeObject =>
  Array.isArray((object as Partial<Pod>).spec?.containers)

function slimSpec(spec: Pod['spec']): Pod['spec'] {
  const { containers, initContainers, ...rest } = spec
  return {
    ...rest,
    containers: containers.map(slimContainer),
    ...(initContainers ? { initContainers: initContainers.map(slimContainer) } : {}),
  }
}

/** The remaining fields of a container do not explain why it is not ready; its probes do. */
const slimContainer = ({ name, image, restartPolicy, readinessProbe, startupProbe, resources }: Container): Container =>
  ({
    name,
    ...(image ? { image } : {}),
    ...(restartPolicy ? { restartPolicy } : {}),
    ...(readinessProbe ? { readinessProbe } : {}),
    ...(startupProbe ? { startupProbe } : {}),
    ...(resources ? { resources } : {}),
  }) as Container
