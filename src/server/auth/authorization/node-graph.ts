import type { PersistentVolume, Pod, Volume, VolumeAttachment } from '../../../api/generated/types.ts'
import type { KubeObject } from '../../../api/object.ts'
import { type Turns, inSlices } from '../../../base/turns.ts'
import type { ServerObjects } from '../../objects/objects.ts'

/** A kind of object that a node may read because a pod on it refers to it. */
export type Referenced =
  | 'secrets'
  | 'configmaps'
  | 'persistentvolumeclaims'
  | 'persistentvolumes'
  | 'serviceaccounts'
  | 'volumeattachments'
  | 'resourceclaims'

const edge = (resource: Referenced, namespace: string, name: string): string => `${resource} ${namespace}/${name}`

/** The objects that a pod's spec refers to. Those of its volumes are found through the volume. */
function referencesOf({ metadata, spec }: Pod): Set<string> {
  const { namespace = '', annotations } = metadata
  const found = new Set<string>()
  // The node creates mirror pods itself, so they must not grant it access.
  if (annotations?.['kubernetes.io/config.mirror'] !== undefined) return found
  const add = (resource: Referenced, name: string | undefined) => name && found.add(edge(resource, namespace, name))
  add('serviceaccounts', spec.serviceAccountName)
  for (const { name } of spec.imagePullSecrets ?? []) add('secrets', name)
  for (const container of [...(spec.initContainers ?? []), ...spec.containers, ...(spec.ephemeralContainers ?? [])]) {
    for (const { configMapRef, secretRef } of container.envFrom ?? []) {
      add('configmaps', configMapRef?.name)
      add('secrets', secretRef?.name)
    }
    for (const { valueFrom } of container.env ?? []) {
      add('configmaps', valueFrom?.configMapKeyRef?.name)
      add('secrets', valueFrom?.secretKeyRef?.name)
    }
  }
  for (const volume of spec.volumes ?? []) addVolume(volume, metadata.name ?? '', add)
  for (const claim of spec.resourceClaims ?? []) add('resourceclaims', claim.resourceClaimName)
  return found
}

function addVolume(
  volume: Volume,
  podName: string,
  add: (resource: Referenced, name: string | undefined) => void,
): void {
  add('secrets', volume.secret?.secretName)
  add('configmaps', volume.configMap?.name)
  add('persistentvolumeclaims', volume.persistentVolumeClaim?.claimName)
  if (volume.ephemeral) add('persistentvolumeclaims', `${podName}-${volume.name}`)
  for (const { secret, configMap } of volume.projected?.sources ?? []) {
    add('secrets', secret?.name)
    add('configmaps', configMap?.name)
  }
  for (const ref of [
    volume.csi?.nodePublishSecretRef,
    volume.cephfs?.secretRef,
    volume.rbd?.secretRef,
    volume.iscsi?.secretRef,
    volume.flexVolume?.secretRef,
    volume.scaleIO?.secretRef,
    volume.storageos?.secretRef,
  ])
    add('secrets', ref?.name)
  add('secrets', volume.azureFile?.secretName)
}

/** The secrets of a volume, with the namespaces that the volume names. */
function secretsOf({ spec }: PersistentVolume): string[] {
  const home = spec.claimRef?.namespace ?? ''
  const csi = spec.csi
  const refs = [
    csi?.nodePublishSecretRef,
    csi?.nodeStageSecretRef,
    csi?.nodeExpandSecretRef,
    csi?.controllerPublishSecretRef,
    spec.cephfs?.secretRef,
    spec.rbd?.secretRef,
    spec.iscsi?.secretRef,
    spec.flexVolume?.secretRef,
  ]
  const found = refs.flatMap((ref) => (ref?.name ? [edge('secrets', ref.namespace ?? home, ref.name)] : []))
  if (spec.azureFile) found.push(edge('secrets', spec.azureFile.secretNamespace ?? home, spec.azureFile.secretName))
  return found
}

const none: ReadonlySet<string> = new Set()

/** A many-to-many relation with a reverse index. */
class Relation {
  readonly #targets = new Map<string, ReadonlySet<string>>()
  readonly #sources = new Map<string, Set<string>>()

  set(source: string, targets: ReadonlySet<string>): void {
    const before = this.#targets.get(source) ?? none
    // Most updates of a pod change its status only, and none of its references.
    if (before.size === targets.size && [...targets].every((target) => before.has(target))) return
    for (const target of before) {
      const sources = this.#sources.get(target)
      if (sources?.delete(source) && sources.size === 0) this.#sources.delete(target)
    }
    if (targets.size === 0) this.#targets.delete(source)
    else this.#targets.set(source, targets)
    for (const target of targets) {
      const sources = this.#sources.get(target)
      if (sources) sources.add(source)
      else this.#sources.set(target, new Set([source]))
    }
  }

  sourcesOf(target: string): Iterable<string> {
    return this.#sources.get(target) ?? []
  }

  has(target: string): boolean {
    return this.#sources.has(target)
  }

  get isEmpty(): boolean {
    return this.#targets.size === 0
  }
}

/** The pods of one node. */
class NodePods {
  /** Stored pods that have not been decoded since the server was started, by namespace and name. */
  readonly unread = new Set<string>()
  /** The references of the others. */
  readonly references = new Relation()

  get isEmpty(): boolean {
    return this.unread.size === 0 && this.references.isEmpty
  }
}

const podKey = (namespace: string, name: string): string => `${namespace}/${name}`

/**
 * Tracks which objects each node uses: its pods, the objects they refer to, the volumes of claims and the secrets of
 * volumes. The stored pods of a node are found by their bytes, and decoded when the node first asks for something:
 * decoding all of 100,000 pods would delay the start of a server by seconds.
 */
export class NodeGraph {
  readonly #readPod: (namespace: string, name: string) => Pod | undefined
  #visiting: Promise<void> | undefined
  readonly #nodeOfPod = new Map<string, string>()
  readonly #nodes = new Map<string, NodePods>()
  readonly #volumes = new Relation()
  readonly #claimOfVolume = new Map<string, string>()
  readonly #nodeOfAttachment = new Map<string, string>()

  constructor(readPod: (namespace: string, name: string) => Pod | undefined = () => undefined) {
    this.#readPod = readPod
  }

  /** Builds the graph from stored objects, of which the pods are visited in slices, and keeps it current. */
  static of(objects: ServerObjects, turns: Turns): NodeGraph {
    const graph = new NodeGraph((namespace, name) => objects.get<Pod>('', 'pods', namespace, name))
    const stored = objects.glimpse('', 'pods', 'nodeName')
    graph.#visiting = inSlices(turns, stored, ({ namespace, name, text }) =>
      graph.expectPod(namespace, name, text),
    ).then(() => void (graph.#visiting = undefined))
    objects.follow('', 'pods', ({ namespace, name, object }) =>
      graph.setPod(namespace, name, object() as Pod | undefined),
    )
    const take = <T extends KubeObject>(
      group: string,
      plural: string,
      put: (name: string, object: T | undefined) => void,
    ) => {
      for (const object of objects.list<T>(group, plural, '')) put(object.metadata.name ?? '', object)
      objects.follow(group, plural, ({ name, object }) => put(name, object() as T | undefined))
    }
    take<PersistentVolume>('', 'persistentvolumes', (name, volume) => graph.setVolume(name, volume))
    take<VolumeAttachment>('storage.k8s.io', 'volumeattachments', (name, attachment) =>
      graph.setAttachment(name, attachment),
    )
    return graph
  }

  /** Resolves when the graph knows all stored pods; undefined if it does. */
  get incomplete(): Promise<void> | undefined {
    return this.#visiting
  }

  /**
   * Adds a stored pod that is not decoded yet. `node` is its node if the pod has one; '' if it has none; undefined if
   * that is not known.
   */
  expectPod(namespace: string, name: string, node: string | undefined): void {
    if (node === undefined) return this.setPod(namespace, name, this.#readPod(namespace, name))
    if (node === '') return
    const key = podKey(namespace, name)
    this.#nodeOfPod.set(key, node)
    this.#podsOf(node).unread.add(key)
  }

  setPod(namespace: string, name: string, pod: Pod | undefined): void {
    const key = podKey(namespace, name)
    const node = pod?.spec.nodeName
    const before = this.#nodeOfPod.get(key)
    if (before !== undefined && before !== node) this.#leave(before, key)
    if (!node) return
    this.#nodeOfPod.set(key, node)
    const pods = this.#podsOf(node)
    pods.unread.delete(key)
    pods.references.set(key, referencesOf(pod))
  }

  setVolume(name: string, volume: PersistentVolume | undefined): void {
    const ref = volume?.spec.claimRef
    if (ref) this.#claimOfVolume.set(name, edge('persistentvolumeclaims', ref.namespace ?? '', ref.name ?? ''))
    else this.#claimOfVolume.delete(name)
    this.#volumes.set(name, new Set(ref ? [edge('persistentvolumes', '', name), ...secretsOf(volume)] : []))
  }

  setAttachment(name: string, attachment: VolumeAttachment | undefined): void {
    if (attachment) this.#nodeOfAttachment.set(name, attachment.spec.nodeName)
    else this.#nodeOfAttachment.delete(name)
  }

  /** True if a pod on the node uses the object, directly or through a volume. */
  isUsedOn(node: string, resource: Referenced, namespace: string, name: string): boolean {
    if (resource === 'volumeattachments') return this.#nodeOfAttachment.get(name) === node
    const target = edge(resource, namespace, name)
    const references = this.#referencesOn(node)
    if (!references) return false
    if (references.has(target)) return true
    for (const volume of this.#volumes.sourcesOf(target))
      if (references.has(this.#claimOfVolume.get(volume)!)) return true
    return false
  }

  nodeOfPod(namespace: string, name: string): string | undefined {
    const key = podKey(namespace, name)
    const node = this.#nodeOfPod.get(key)
    if (node === undefined || !this.#nodes.get(node)?.unread.has(key)) return node
    this.setPod(namespace, name, this.#readPod(namespace, name))
    return this.#nodeOfPod.get(key)
  }

  /** The references of a node's pods, after all of them have been decoded. */
  #referencesOn(node: string): Relation | undefined {
    for (const key of this.#nodes.get(node)?.unread ?? []) {
      const [namespace, name] = key.split('/') as [string, string]
      this.setPod(namespace, name, this.#readPod(namespace, name))
    }
    return this.#nodes.get(node)?.references
  }

  #podsOf(node: string): NodePods {
    let pods = this.#nodes.get(node)
    if (!pods) this.#nodes.set(node, (pods = new NodePods()))
    return pods
  }

  #leave(node: string, key: string): void {
    this.#nodeOfPod.delete(key)
    const pods = this.#podsOf(node)
    pods.unread.delete(key)
    pods.references.set(key, none)
    if (pods.isEmpty) this.#nodes.delete(node)
  }
}
