import { describe, expect, it } from 'vitest'
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../../src/api/generated/types.ts'
import { selectedNode } from '../../../src/api/kinds/volumes/volume-binding.ts'
import { csinodes, persistentvolumeclaims, persistentvolumes, pods, storageclasses } from '../../../src/client/index.ts'
import { claimBinder } from '../../../src/controllers/claim-binder/controller.ts'
import { volumeBinder } from '../../../src/controllers/claim-binder/volumes.ts'
import { localPathControllers } from '../../../src/controllers/local-path-provisioner/index.ts'
import { SchedulerScene } from './scene.ts'

const controllers = [claimBinder, volumeBinder, ...localPathControllers('/var/lib/volumes')]
const using = (...claims: string[]) => ({ volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })) })

const claim = (scene: SchedulerScene, name: string, storageClassName: string, size = '1Gi'): Promise<PersistentVolumeClaim> =>
  scene.client.create(persistentvolumeclaims, {
    metadata: { name, namespace: 'default' },
    spec: { storageClassName, accessModes: ['ReadWriteOnce'], resources: { requests: { storage: size } } },
  } as unknown as PersistentVolumeClaim)

const storageClass = (scene: SchedulerScene, name: string, provisioner: string, volumeBindingMode = 'WaitForFirstConsumer'): Promise<StorageClass> =>
  scene.client.create(storageclasses, { metadata: { name }, provisioner, volumeBindingMode } as StorageClass)

const localVolume = (scene: SchedulerScene, name: string, node: string, storageClassName: string): Promise<PersistentVolume> =>
  scene.client.create(persistentvolumes, {
    metadata: { name },
    spec: {
      storageClassName,
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      hostPath: { path: '/data' },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }] }] } },
    },
  } as unknown as PersistentVolume)

describe('the scheduler and volumes', () => {
  it('chooses the node for a claim that waits for its consumer, and binds the pod when the volume is there', async () => {
    const scene = await SchedulerScene.start({ controllers })
    await scene.node('node-1')
    await scene.pass(1000)
    await claim(scene, 'data', 'standard')
    await scene.pod('db', using('data'))
    await scene.pass(5000)
    expect(await scene.nodeOf('db')).toBe('node-1')
    const { metadata, status } = await scene.client.get(persistentvolumeclaims, 'default', 'data')
    expect([metadata.annotations?.[selectedNode], status?.phase]).toEqual(['node-1', 'Bound'])
  })

  it('takes a volume that is there, and the node that reaches it', async () => {
    const scene = await SchedulerScene.start({ controllers })
    for (const name of ['node-1', 'node-2', 'node-3']) await scene.node(name)
    await storageClass(scene, 'local', 'kubernetes.io/no-provisioner')
    await localVolume(scene, 'disk', 'node-2', 'local')
    await scene.pass(1000)
    await claim(scene, 'data', 'local')
    await claim(scene, 'more', 'local')
    await scene.pod('db', using('data'))
    await scene.pass(5000)
    expect([await scene.nodeOf('db'), (await scene.client.get(persistentvolumeclaims, 'default', 'data')).spec.volumeName]).toEqual(['node-2', 'disk'])
    await scene.pod('db-2', using('more'))
    expect(await scene.whyNot('db-2')).toBe(
      "Unschedulable: 0/3 nodes are available: 3 node(s) didn't find available persistent volumes to bind. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
    )
    await localVolume(scene, 'disk-2', 'node-3', 'local')
    await scene.pass(15_000)
    expect(await scene.nodeOf('db-2')).toBe('node-3')
  })

  it('waits for claims that are missing, and for those that others have to bind', async () => {
    const scene = await SchedulerScene.start()
    await scene.node('node-1')
    await storageClass(scene, 'fast', 'example.com/disks', 'Immediate')
    await scene.pod('db', using('data'))
    const helpless = 'preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.'
    expect(await scene.whyNot('db')).toBe(`Unschedulable: 0/1 nodes are available: persistentvolumeclaim "data" not found. ${helpless}`)
    await claim(scene, 'data', 'fast')
    await scene.settle()
    expect(await scene.whyNot('db')).toBe(`Unschedulable: 0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. ${helpless}`)
    await scene.client.create(persistentvolumes, {
      metadata: { name: 'disk' },
      spec: { storageClassName: 'fast', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' } },
    } as unknown as PersistentVolume)
    const bound = { metadata: { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } }, spec: { volumeName: 'disk' } }
    await scene.client.patch(persistentvolumeclaims, 'default', 'data', bound, { type: 'merge' })
    await scene.settle()
    expect(await scene.nodeOf('db')).toBe('node-1')
  })

  it('tries another node when a volume cannot be made on the first', async () => {
    const scene = await SchedulerScene.start()
    for (const name of ['node-1', 'node-2']) await scene.node(name)
    await storageClass(scene, 'slow', 'example.com/disks')
    await claim(scene, 'data', 'slow')
    await scene.pod('db', using('data'))
    const chosen = (await scene.client.get(persistentvolumeclaims, 'default', 'data')).metadata.annotations?.[selectedNode]
    expect(['node-1', 'node-2']).toContain(chosen)
    expect(await scene.nodeOf('db')).toBeUndefined()
    await scene.client.patch(persistentvolumeclaims, 'default', 'data', { metadata: { annotations: { [selectedNode]: null } } }, { type: 'merge' })
    await scene.settle()
    expect(await scene.whyNot('db')).toBe('SchedulerError: binding volumes: provisioning failed for PVC "data"')
    await scene.pass(2000)
    expect((await scene.client.get(persistentvolumeclaims, 'default', 'data')).metadata.annotations?.[selectedNode]).toBeDefined()
  })

  it('stops waiting for volumes of a pod that is deleted', async () => {
    const scene = await SchedulerScene.start()
    await scene.node('node-1')
    await storageClass(scene, 'slow', 'example.com/disks')
    await claim(scene, 'data', 'slow')
    await scene.pod('db', using('data'))
    await scene.client.delete(pods, 'default', 'db', { gracePeriodSeconds: 0 })
    await scene.settle()
    expect([scene.metric('scheduler_pending_pods'), scene.metric('scheduler_scheduler_cache_size', 'pods')]).toEqual([0, 0])
  })

  it('has a node attach no more volumes than it can', async () => {
    const scene = await SchedulerScene.start()
    await scene.node('node-1')
    await storageClass(scene, 'csi', 'disks.example.com')
    await scene.client.create(csinodes, { metadata: { name: 'node-1' }, spec: { drivers: [{ name: 'disks.example.com', nodeID: 'n', topologyKeys: [], allocatable: { count: 1 } }] } } as never)
    for (const name of ['one', 'two']) {
      await scene.client.create(persistentvolumes, {
        metadata: { name },
        spec: { storageClassName: 'csi', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], csi: { driver: 'disks.example.com', volumeHandle: name } },
      } as unknown as PersistentVolume)
      await claim(scene, name, 'csi')
      await scene.client.patch(persistentvolumeclaims, 'default', name, { metadata: { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } }, spec: { volumeName: name } }, { type: 'merge' })
    }
    await scene.settle()
    await scene.pod('a', using('one'))
    await scene.pod('b', using('two'))
    expect(await scene.nodeOf('a')).toBe('node-1')
    expect(await scene.whyNot('b')).toMatch(/1 node\(s\) exceed max volume count\./)
    await scene.remove('a')
    expect(await scene.nodeOf('b')).toBe('node-1')
  })
})
