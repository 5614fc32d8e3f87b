import type { PersistentVolume, Pod, Volume, VolumeAttachment } from '../../../api/generated/types.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { Objects } from '../../objects/objects.ts'

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
}

/**
 * Tracks which objects each node uses: its pods, the objects they refer to, the volumes of claims and the secrets of
 * volumes.
 */
export class NodeGraph {
  readonly #nodeOfPod = new Map<string, string>()
  readonly #pods = new Relation()
  readonly #volumes = new Relation()
  readonly #claimOfVolume = new Map<string, string>()
  readonly #nodeOfAttachment = new Map<string, string>()

  /** Builds the graph from stored objects and keeps it current. */
  static of(objects: Objects): NodeGraph {
    const graph = new NodeGraph()
    const take = <T extends KubeObject>(
      group: string,
      plural: string,
      put: (namespace: string, name: string, object: T | undefined) => void,
    ) => {
      for (const object of objects.list<T>(group, plural, ''))
        put(object.metadata.namespace ?? '', object.metadata.name ?? '', object)
      objects.follow(group, plural, ({ namespace, name, object }) => put(namespace, name, object() as T | undefined))
    }
    take<Pod>('', 'pods', (namespace, name, pod) => graph.setPod(namespace, name, pod))
    take<PersistentVolume>('', 'persistentvolumes', (_, name, volume) => graph.setVolume(name, volume))
    take<VolumeAttachment>('storage.k8s.io', 'volumeattachments', (_, name, attachment) =>
      graph.setAttachment(name, attachment),
    )
    return graph
  }

  setPod(namespace: string, name: string, pod: Pod | undefined): void {
    const key = `${namespace}/${name}`
    const node = pod?.spec.nodeName
    if (node) this.#nodeOfPod.set(key, node)
    else this.#nodeOfPod.delete(key)
    this.#pods.set(key, node ? referencesOf(pod) : new Set())
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
    if (this.#isOnNode(node, target)) return true
    for (const volume of this.#volumes.sourcesOf(target))
      if (this.#isOnNode(node, this.#claimOfVolume.get(volume)!)) return true
    return false
  }

  nodeOfPod(namespace: string, name: string): string | undefined {
    return this.#nodeOfPod.get(`${namespace}/${name}`)
  }

  #isOnNode(node: string, target: string): boolean {
    for (const pod of this.#pods.sourcesOf(target)) if (this.#nodeOfPod.get(pod) === node) return true
    return false
  }
}
