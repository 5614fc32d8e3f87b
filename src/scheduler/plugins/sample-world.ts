import type {
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  LabelSelector,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '../../api/generated/types.ts'
import { storageClassOf } from '../../api/kinds/volumes/storage-classes.ts'
import { type KubeObject, keyOf } from '../../client/index.ts'
import { Cluster } from '../cluster/cluster.ts'
import { PodInfo } from '../cluster/pod-info.ts'
import { type FilterPlugin, type ScorePlugin, isRejection } from './plugin.ts'
import { VolumePlans } from './volume-binding/volume-plans.ts'
import type { World } from './world.ts'

/** A world for tests, empty by default. */
export interface WorldSketch {
  nodes?: readonly Node[]
  pods?: readonly Pod[]
  namespaces?: Readonly<Record<string, Record<string, string>>>
  siblings?: readonly LabelSelector[]
  claims?: readonly PersistentVolumeClaim[]
  volumes?: readonly PersistentVolume[]
  classes?: readonly StorageClass[]
  csiNodes?: readonly CSINode[]
  drivers?: readonly CSIDriver[]
  capacities?: readonly CSIStorageCapacity[]
}

const finder =
  <T extends KubeObject>(objects: readonly T[] = []) =>
  (key: string): T | undefined =>
    objects.find((object) => keyOf(object) === key)

export function sampleWorld(sketch: WorldSketch = {}): World {
  const cluster = new Cluster()
  for (const node of sketch.nodes ?? []) cluster.setNode(node)
  for (const pod of sketch.pods ?? []) cluster.setPod(pod)
  return {
    cluster,
    namespaceLabels: (name) => sketch.namespaces?.[name],
    siblingSelectors: () => sketch.siblings ?? [],
    claim: finder(sketch.claims),
    volume: finder(sketch.volumes),
    volumesOfClass: (name) => (sketch.volumes ?? []).filter((volume) => storageClassOf(volume) === name),
    storageClass: finder(sketch.classes),
    csiNode: finder(sketch.csiNodes),
    csiDriver: finder(sketch.drivers),
    storageCapacities: (name) => (sketch.capacities ?? []).filter(({ storageClassName }) => storageClassName === name),
    volumePlans: new VolumePlans(),
  }
}

export interface NodeSketch {
  labels?: Record<string, string>
  allocatable?: Record<string, string>
  spec?: Node['spec']
  status?: Partial<NonNullable<Node['status']>>
}

export const sampleNode = (name: string, { labels, allocatable, spec, status }: NodeSketch = {}): Node =>
  ({
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
    spec: spec ?? {},
    status: { allocatable: { cpu: '4', memory: '8Gi', pods: '110', ...allocatable }, ...status },
  }) as Node

export interface PodSketch {
  namespace?: string
  labels?: Record<string, string>
  metadata?: Partial<Pod['metadata']>
  node?: string
  requests?: Record<string, string>
  claims?: readonly string[]
  spec?: Partial<Pod['spec']>
  status?: Pod['status']
}

/** A pod with one container. With `node`, it is bound. */
export function samplePod(
  name: string,
  { namespace = 'default', labels, metadata, node, requests, claims, spec, status }: PodSketch = {},
): Pod {
  return {
    metadata: { name, namespace, uid: `uid-of-${name}`, generation: 1, ...(labels ? { labels } : {}), ...metadata },
    spec: {
      containers: [{ name: 'main', image: 'registry.example/app:1', resources: requests ? { requests } : {} }],
      ...(node ? { nodeName: node } : {}),
      ...(claims
        ? { volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })) }
        : {}),
      ...spec,
    },
    status: status ?? {},
  } as Pod
}

/**
 * The rejections of a plugin per node, or for all nodes, as sentences. `(final)` marks those that preemption cannot
 * resolve. Suitable nodes are omitted.
 */
export function rejections(plugin: FilterPlugin, pod: Pod, world: World): Record<string, string> | string {
  const filter = plugin.filter(new PodInfo(pod), world)
  const text = ({ reasons, isFinal }: { reasons: readonly string[]; isFinal: boolean }) =>
    `${reasons.join(', ')}${isFinal ? ' (final)' : ''}`
  if (isRejection(filter)) return text(filter)
  const told: Record<string, string> = {}
  for (const node of world.cluster.nodes) {
    const rejection = filter?.check(node)
    if (rejection) told[node.name] = text(rejection)
  }
  return told
}

/** The scores of a plugin before weighting. Undefined if it does not score the pod. */
export function scores(plugin: ScorePlugin, pod: Pod, world: World): Record<string, number> | undefined {
  const { nodes } = world.cluster
  const scorer = plugin.scorer(new PodInfo(pod), world, nodes)
  if (!scorer) return undefined
  const given = Float64Array.from(nodes, (node) => scorer.score(node))
  scorer.normalize?.(given)
  return Object.fromEntries(nodes.map(({ name }, i) => [name, given[i]!]))
}
