import { describe, expect, it } from 'vitest'
import type { StatefulSet } from '../../../src/api/generated/types.ts'
import { persistentvolumeclaims, persistentvolumes, pods, statefulsets, storageclasses } from '../../../src/client/index.ts'
import { statefulSetController } from '../../../src/controllers/statefulset/controller.ts'
import { ClaimScene, claimControllers } from './claim-scene.ts'
import { Kubelet } from './kubelet.ts'

const localPath = 'coxswain.dev/local-path'

/** Raises what a claim asks for. */
async function grow(s: ClaimScene, name: string, storage: string): Promise<void> {
  await s.client.patch(persistentvolumeclaims, 'default', name, { spec: { resources: { requests: { storage } } } }, { type: 'merge' })
  await s.pass(100)
}

describe('the class standard', () => {
  it('is there, and is what claims get that name none', async () => {
    const s = await ClaimScene.of()
    const { items } = await s.client.list(storageclasses, '')
    expect(items).toEqual([
      expect.objectContaining({ provisioner: localPath, reclaimPolicy: 'Delete', volumeBindingMode: 'WaitForFirstConsumer', allowVolumeExpansion: true }),
    ])
    await s.claim('c')
    expect((await s.getClaim('c')).spec.storageClassName).toBe('standard')
    expect(await s.told('c')).toEqual(['Normal WaitForFirstConsumer: waiting for first consumer to be created before binding'])
  })

  it('stays away once it is deleted', async () => {
    const s = await ClaimScene.of()
    await s.remove(storageclasses, 'standard')
    await s.pass(600_000)
    expect((await s.client.list(storageclasses, '')).items).toEqual([])
  })
})

describe('a volume that is made for a claim', () => {
  it('is a directory of the node of the first pod that uses it', async () => {
    const s = await ClaimScene.of()
    await s.node('n1')
    await s.claim('data')
    s.scene.wire.writes.length = 0
    await s.pod('p', 'data', 'n1')
    const volume = await s.volumeOf('data')
    const { uid } = (await s.getClaim('data')).metadata
    expect(volume.metadata.name).toBe(`pvc-${uid}`)
    expect(volume.metadata.annotations).toEqual({ 'pv.kubernetes.io/provisioned-by': localPath, 'coxswain.dev/local-path-node': 'n1' })
    expect(volume.spec).toMatchObject({
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Delete',
      storageClassName: 'standard',
      hostPath: { path: `/volumes/pvc-${uid}_default_data`, type: 'DirectoryOrCreate' },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['n1.local'] }] }] } },
    })
    expect((await s.getClaim('data')).metadata.annotations).toMatchObject({ 'volume.kubernetes.io/selected-node': 'n1', 'volume.kubernetes.io/storage-provisioner': localPath })
    expect(await s.told('data')).toEqual(
      expect.arrayContaining([expect.stringContaining('Normal ExternalProvisioning: '), `Normal ProvisioningSucceeded: Successfully provisioned volume pvc-${uid}`]),
    )
    await s.pass(600_000)
    expect(s.scene.wire.summary()).toEqual([
      'PUT persistentvolumeclaims',
      'POST persistentvolumes',
      'PUT persistentvolumes status',
      'PUT persistentvolumeclaims',
      'PUT persistentvolumeclaims status',
    ])
  })

  it('is made at once where the class does not wait, on any node or where the class says', async () => {
    const s = await ClaimScene.of()
    const allowedTopologies = [{ matchLabelExpressions: [{ key: 'zone', values: ['a', 'b'] }] }]
    await s.storageClass('now', localPath, { volumeBindingMode: 'Immediate', reclaimPolicy: 'Retain' })
    await s.storageClass('there', localPath, { volumeBindingMode: 'Immediate', allowedTopologies })
    await s.claim('any', { storageClassName: 'now' })
    await s.claim('some', { storageClassName: 'there' })
    expect(await s.claims()).toMatch(/^any Bound pvc-\S+, some Bound pvc-\S+$/)
    const [any, some] = [await s.volumeOf('any'), await s.volumeOf('some')]
    expect([any.spec.nodeAffinity, any.spec.persistentVolumeReclaimPolicy]).toEqual([undefined, 'Retain'])
    expect(some.spec.nodeAffinity?.required?.nodeSelectorTerms).toEqual([{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a', 'b'] }] }])
  })

  it('goes with its claim', async () => {
    const s = await ClaimScene.of()
    await s.claim('c')
    await s.pod('p', 'c', 'n1')
    await s.remove(persistentvolumeclaims, 'c')
    await s.remove(pods, 'p')
    expect([await s.claims(), await s.volumes()]).toEqual(['', ''])
  })

  it('stays until its node has removed the directory, where nodes do that', async () => {
    const s = await ClaimScene.of()
    await s.node('n1', { 'coxswain.dev/removes-local-paths': 'true' })
    await s.claim('c')
    await s.pod('p', 'c', 'n1')
    const { name } = (await s.volumeOf('c')).metadata
    await s.remove(pods, 'p')
    await s.remove(persistentvolumeclaims, 'c')
    await s.pass(60_000)
    expect(await s.volumes()).toBe(`${name} Released c -`)
    expect((await s.getVolume(name!)).metadata.finalizers).toEqual([localPath])
    await s.client.patch(persistentvolumes, '', name!, { metadata: { finalizers: null } }, { type: 'merge' })
    expect(await s.volumes()).toBe('')
  })

  it('is refused in words', async () => {
    const s = await ClaimScene.of()
    await s.storageClass('odd', localPath, { volumeBindingMode: 'Immediate', parameters: { speed: 'high' } })
    await s.storageClass('now', localPath, { volumeBindingMode: 'Immediate' })
    await s.claim('shared', { storageClassName: 'now', accessModes: ['ReadWriteMany'] })
    await s.claim('fast', { storageClassName: 'odd' })
    await s.pass(600_000)
    expect(await s.told('shared')).toContain(
      'Warning ProvisioningFailed: failed to provision volume with StorageClass "now": a local path is on one node: ReadWriteOnce and ReadWriteOncePod are possible, ReadWriteMany is not',
    )
    expect(await s.told('fast')).toContain('Warning ProvisioningFailed: failed to provision volume with StorageClass "odd": unknown parameter "speed": local paths have no parameters')
    expect(await s.claims()).toBe('fast Pending, shared Pending')
  })

  it('grows when its claim asks for more', async () => {
    const s = await ClaimScene.of()
    await s.claim('c')
    await s.pod('p', 'c', 'n1')
    s.scene.wire.writes.length = 0
    await grow(s, 'c', '3Gi')
    expect((await s.getClaim('c')).status.capacity).toEqual({ storage: '3Gi' })
    expect((await s.volumeOf('c')).spec.capacity).toEqual({ storage: '3Gi' })
    await s.pass(60_000)
    expect(s.scene.wire.summary()).toEqual(['PUT persistentvolumes', 'PUT persistentvolumeclaims status'])
    expect(await s.told('c')).toContain('Normal VolumeResizeSuccessful: Resize volume succeeded')
  })

  it('is left to others to grow if it is theirs', async () => {
    const s = await ClaimScene.of()
    await s.storageClass('other', 'example.com/x', { allowVolumeExpansion: true })
    await s.volume('v', '1Gi', { storageClassName: 'other' })
    await s.claim('c', { storageClassName: 'other' })
    await grow(s, 'c', '3Gi')
    await s.pass(60_000)
    expect(await s.told('c')).toEqual([expect.stringMatching(/^Warning ExternalExpanding: Ignoring the PVC: /)])
    expect((await s.getClaim('c')).status.capacity).toEqual({ storage: '1Gi' })
  })
})

const data = { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }
const template = {
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', image: 'app:1', volumeMounts: [{ name: 'data', mountPath: '/data' }] }] },
}
const set = {
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    replicas: 3,
    serviceName: 'web',
    selector: { matchLabels: { app: 'web' } },
    template,
    volumeClaimTemplates: [data],
    persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Retain' },
  },
} as unknown as StatefulSet

/** A set of three comes up pod by pod, gets more room, and loses one pod with its claim. What was written is counted after each. */
async function life(s: ClaimScene): Promise<Record<string, number>[]> {
  const kubelet = new Kubelet(s.client, s.scene.clock)
  const counts: Record<string, number>[] = []
  const count = () => counts.push({ ...s.scene.wire.counts() })
  await s.client.create(statefulsets, set)
  for (let i = 0; i < 3; i++) {
    await s.pass(20_000)
    await kubelet.report('ready', (await s.client.list(pods, 'default')).items)
  }
  await s.pass(60_000)
  count()
  await grow(s, 'data-web-0', '2Gi')
  await s.pass(60_000)
  count()
  await s.client.patch(statefulsets, 'default', 'web', { spec: { replicas: 2 } }, { type: 'merge' })
  await s.pass(60_000)
  await kubelet.reap((await s.client.list(pods, 'default')).items)
  await s.pass(60_000)
  // Here the garbage collector would come: the claim belongs to the pod that is gone.
  await s.client.delete(persistentvolumeclaims, 'default', 'data-web-2')
  await s.pass(60_000)
  count()
  return counts
}

describe('a StatefulSet with claims', () => {
  const late = ['nothing', 'persistentvolumes', 'persistentvolumeclaims', 'pods', 'storageclasses']
  it.each(late)('has a volume for each pod, and the same writes bring it about: %s 5 s late', async (plural) => {
    const s = await ClaimScene.of([...claimControllers, statefulSetController])
    s.scene.wire.delaysMs.set(plural, 5000)
    const [up, grown, down] = await life(s)
    const claims = { 'POST persistentvolumeclaims': 3, 'POST persistentvolumes': 3, 'PUT persistentvolumes status': 3, 'PUT persistentvolumeclaims status': 3 }
    expect(up).toMatchObject(claims)
    expect(grown).toMatchObject({ ...claims, 'PUT persistentvolumes': 1, 'PUT persistentvolumeclaims status': 4 })
    expect(down).toMatchObject({ 'DELETE persistentvolumes': 1 })
    expect(await s.claims()).toMatch(/^data-web-0 Bound pvc-\S+, data-web-1 Bound pvc-\S+$/)
    expect(await s.volumes()).toMatch(/^pvc-\S+ Bound data-web-\d, pvc-\S+ Bound data-web-\d$/)
  })
})
