import type { LabelSelector, Pod, PodDisruptionBudget, Service } from '../api/generated/types.ts'
import { storageClassOf } from '../api/kinds/volumes/storage-classes.ts'
import { selectorFromMap } from '../api/selectors/label-selector.ts'
import {
  type InformerFactory,
  type KubeObject,
  type ResourceType,
  type SharedInformer,
  controllerOf,
  csidrivers,
  csinodes,
  csistoragecapacities,
  namespaces,
  nodes,
  persistentvolumeclaims,
  persistentvolumes,
  poddisruptionbudgets,
  pods,
  replicasets,
  replicationcontrollers,
  services,
  statefulsets,
  storageclasses,
} from '../client/index.ts'
import { Cluster } from './cluster/cluster.ts'
import { VolumePlans } from './plugins/volume-binding/volume-plans.ts'
import type { World } from './plugins/world.ts'

const byNamespace = 'namespace'
const byClass = 'storage-class'

const namespaceOf = ({ metadata: { namespace = '' } }: KubeObject): string[] => [namespace]

/** The API objects that the scheduler caches, and the queries of plugins about them. */
export class Caches implements World {
  readonly cluster = new Cluster()
  readonly volumePlans = new VolumePlans()
  readonly pods: SharedInformer<Pod>
  readonly nodes
  readonly claims
  readonly volumes
  readonly classes
  readonly csiNodes
  readonly csiDrivers
  readonly capacities
  readonly namespaces
  readonly #services
  readonly #replicaSets
  readonly #statefulSets
  readonly #replicationControllers
  readonly #budgets

  /** Lists older than `notOlderThan` are not accepted. */
  constructor(factory: InformerFactory, notOlderThan: string) {
    const follow = <T extends KubeObject>(type: ResourceType<T>, indexes?: Record<string, (object: T) => string[]>) =>
      factory.informer(type, { notOlderThan, ...(indexes ? { indexes } : {}) })
    this.pods = follow(pods)
    this.nodes = follow(nodes)
    this.namespaces = follow(namespaces)
    this.claims = follow(persistentvolumeclaims)
    this.volumes = follow(persistentvolumes, { [byClass]: (volume) => [storageClassOf(volume)] })
    this.classes = follow(storageclasses)
    this.csiNodes = follow(csinodes)
    this.csiDrivers = follow(csidrivers)
    this.capacities = follow(csistoragecapacities, { [byClass]: ({ storageClassName }) => [storageClassName] })
    this.#services = follow(services, { [byNamespace]: namespaceOf })
    this.#replicaSets = follow(replicasets)
    this.#statefulSets = follow(statefulsets)
    this.#replicationControllers = follow(replicationcontrollers)
    this.#budgets = follow(poddisruptionbudgets)
  }

  readonly namespaceLabels = (name: string) => this.namespaces.get(name)?.metadata.labels
  readonly claim = (key: string) => this.claims.get(key)
  readonly volume = (name: string) => this.volumes.get(name)
  readonly volumesOfClass = (name: string) => this.volumes.byIndex(byClass, name)
  readonly storageClass = (name: string) => this.classes.get(name)
  readonly csiNode = (name: string) => this.csiNodes.get(name)
  readonly csiDriver = (name: string) => this.csiDrivers.get(name)
  readonly storageCapacities = (storageClass: string) => this.capacities.byIndex(byClass, storageClass)

  budgets(): readonly PodDisruptionBudget[] {
    return this.#budgets.list()
  }

  readonly siblingSelectors = (pod: Pod): readonly LabelSelector[] => {
    const { namespace = '' } = pod.metadata
    const leading = this.#services.byIndex(byNamespace, namespace).flatMap((service) => selectorLeadingTo(service, pod))
    const owned = this.#ownerSelector(pod)
    return owned ? [...leading, owned] : leading
  }

  #ownerSelector(pod: Pod): LabelSelector | undefined {
    const owner = controllerOf(pod)
    if (!owner) return undefined
    const key = `${pod.metadata.namespace}/${owner.name}`
    if (owner.kind === 'ReplicaSet') return this.#replicaSets.get(key)?.spec.selector
    if (owner.kind === 'StatefulSet') return this.#statefulSets.get(key)?.spec.selector
    if (owner.kind !== 'ReplicationController') return undefined
    const matchLabels = this.#replicationControllers.get(key)?.spec.selector
    return matchLabels && { matchLabels }
  }
}

function selectorLeadingTo({ spec }: Service, { metadata: { labels } }: Pod): LabelSelector[] {
  const { selector } = spec
  return selector && Object.keys(selector).length > 0 && selectorFromMap(selector)(labels)
    ? [{ matchLabels: selector }]
    : []
}
