import type { PersistentVolume, PersistentVolumeClaim } from '../../../src/api/generated/types.ts'
import { type KubeObject, type New, type ResourceType, events, nodes, persistentvolumeclaims, persistentvolumes, pods, storageclasses } from '../../../src/client/index.ts'
import { claimBinder } from '../../../src/controllers/claim-binder/controller.ts'
import { volumeBinder } from '../../../src/controllers/claim-binder/volumes.ts'
import { claimExpander } from '../../../src/controllers/claim-expander/controller.ts'
import { attributesClassProtector, claimProtector, volumeProtector } from '../../../src/controllers/claim-protection/controller.ts'
import type { ManagedController } from '../../../src/controllers/index.ts'
import { localPathControllers } from '../../../src/controllers/local-path-provisioner/index.ts'
import { Scene } from '../kit/scene.ts'

/** All who have to do with claims. */
export const claimControllers: readonly ManagedController[] = [
  claimBinder,
  volumeBinder,
  claimProtector,
  volumeProtector,
  attributesClassProtector,
  claimExpander,
  ...localPathControllers('/volumes'),
]

/** Claims, volumes and their controllers. */
export class ClaimScene {
  readonly scene: Scene

  private constructor(scene: Scene) {
    this.scene = scene
  }

  static async of(controllers: readonly ManagedController[] = claimControllers): Promise<ClaimScene> {
    const scene = await Scene.start({ controllers, startMs: Date.parse('2026-01-01T00:00:00Z') })
    await scene.pass(100)
    return new ClaimScene(scene)
  }

  async claim(name: string, spec: object = {}): Promise<void> {
    const given = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec }
    await this.#make(persistentvolumeclaims, { metadata: { name, namespace: 'default' }, spec: given })
  }

  async volume(name: string, storage = '1Gi', spec: object = {}, metadata: object = {}): Promise<void> {
    const given = { capacity: { storage }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/d' }, storageClassName: 'manual', ...spec }
    await this.#make(persistentvolumes, { metadata: { name, ...metadata }, spec: given })
  }

  async storageClass(name: string, provisioner: string, more: object = {}): Promise<void> {
    await this.#make(storageclasses, { metadata: { name }, provisioner, ...more })
  }

  /** A pod that mounts a claim, on a node or on none. */
  async pod(name: string, claimName: string, nodeName?: string): Promise<void> {
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName } }]
    const spec = { containers: [{ name: 'main', image: 'app:1' }], volumes, ...(nodeName ? { nodeName } : {}) }
    await this.#make(pods, { metadata: { name, namespace: 'default' }, spec })
  }

  async node(name: string, annotations: Record<string, string> = {}): Promise<void> {
    await this.#make(nodes, { metadata: { name, annotations, labels: { 'kubernetes.io/hostname': `${name}.local` } } })
  }

  async remove(type: ResourceType, name: string): Promise<void> {
    await this.client.delete(type, type.namespaced ? 'default' : '', name, type === pods ? { gracePeriodSeconds: 0 } : {})
    await this.pass(100)
  }

  async #make<T extends KubeObject>(type: ResourceType<T>, object: New<T>): Promise<void> {
    await this.client.create(type, object)
    await this.pass(100)
  }

  get client() {
    return this.scene.client
  }

  pass(ms: number): Promise<void> {
    return this.scene.pass(ms)
  }

  getClaim(name: string): Promise<PersistentVolumeClaim> {
    return this.client.get(persistentvolumeclaims, 'default', name)
  }

  getVolume(name: string): Promise<PersistentVolume> {
    return this.client.get(persistentvolumes, '', name)
  }

  /** The volume that a claim has. */
  async volumeOf(claim: string): Promise<PersistentVolume> {
    return this.getVolume((await this.getClaim(claim)).spec.volumeName!)
  }

  /** `a Bound small, b Pending` and, of those that are going, `c Bound large -`. */
  async claims(): Promise<string> {
    const { items } = await this.client.list(persistentvolumeclaims, 'default')
    return items.map(({ metadata, spec, status }) => words(metadata.name, status.phase, spec.volumeName, metadata.deletionTimestamp && '-')).join(', ')
  }

  /** `small Bound a, large Available`. */
  async volumes(): Promise<string> {
    const { items } = await this.client.list(persistentvolumes, '')
    return items.map(({ metadata, spec, status }) => words(metadata.name, status.phase, spec.claimRef?.name, metadata.deletionTimestamp && '-')).join(', ')
  }

  /** The events about an object, in any order. */
  async told(name: string): Promise<string[]> {
    const { items } = await this.client.list(events, '', { fieldSelector: `involvedObject.name=${name}` })
    return items.map(({ type, reason, message }) => `${type} ${reason}: ${message}`)
  }
}

const words = (...parts: (string | undefined)[]): string => parts.filter((part) => part).join(' ')
