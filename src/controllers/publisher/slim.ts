import type { Container, Node, Pod } from '../../api/generated/types.ts'
import { isPodReady } from '../../api/kinds/pods/pod-availability.ts'
import type { KubeObject } from '../../api/object.ts'
import { type ResourceType, resourceName } from '../../client/index.ts'

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

type Kind = Pick<ResourceType, 'group' | 'plural'>

/**
 * Removes the fields of an object that no condition depends on. A frozen object is returned unchanged: it belongs to
 * the API server in this process and takes no further memory.
 */
export function slim<T extends KubeObject>(object: T, type: Kind): T {
  if (Object.isFrozen(object)) return object
  const { managedFields: _, annotations, ...metadata } = object.metadata
  const { [lastApplied]: _applied, ...kept } = annotations ?? {}
  const slimmed = { ...object, metadata: Object.keys(kept).length > 0 ? { ...metadata, annotations: kept } : metadata }
  switch (resourceName(type)) {
    case 'pods':
      return slimPod(slimmed as T & Pod)
    case 'nodes':
      return slimNode(slimmed as T & Node)
    default:
      return slimmed
  }
}

/**
 * The same for clusters whose Deployments are not evaluated. Only Deployments compare the template of a ReplicaSet, so
 * only its labels are kept.
 */
export function slimWithoutTemplates<T extends KubeObject>(object: T, type: Kind): T {
  const slimmed = slim(object, type) as T & { spec?: { template?: { metadata?: object } } }
  const { spec } = slimmed
  if (Object.isFrozen(object) || !spec?.template || !withoutTemplate.includes(resourceName(type))) return slimmed
  return { ...slimmed, spec: { ...spec, template: { metadata: spec.template.metadata, spec: { containers: [] } } } }
}

const withoutTemplate: readonly string[] = ['replicasets.apps', 'replicationcontrollers']

/** The images that a node has are most of its bytes. */
function slimNode<T extends Node>(node: T): T {
  const { taints, unschedulable } = node.spec ?? {}
  const { conditions } = node.status ?? {}
  return {
    ...node,
    spec: { ...(taints ? { taints } : {}), ...(unschedulable ? { unschedulable } : {}) },
    status: conditions ? { conditions } : {},
  }
}

const slimPod = <T extends Pod>(pod: T): T =>
  isPodReady(pod) && !pod.metadata.deletionTimestamp ? readyPod(pod) : { ...pod, spec: slimSpec(pod.spec) }

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
