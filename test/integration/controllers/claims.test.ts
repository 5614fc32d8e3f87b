import { describe, expect, it } from 'vitest'
import { persistentvolumeclaims, persistentvolumes, pods, storageclasses, volumeattributesclasses } from '../../../src/client/index.ts'
import { ClaimScene } from './claim-scene.ts'

const manual = { storageClassName: 'manual' }

describe('claims and volumes that people made', () => {
  it('find each other, whichever comes first', async () => {
    const s = await ClaimScene.of()
    await s.claim('early', manual)
    expect(await s.claims()).toBe('early Pending')
    await s.volume('large', '5Gi')
    expect([await s.claims(), await s.volumes()]).toEqual(['early Bound large', 'large Bound early'])
    await s.volume('small', '2Gi')
    await s.volume('middle', '3Gi')
    await s.claim('late', manual)
    expect([await s.claims(), await s.volumes()]).toEqual(['early Bound large, late Bound small', 'large Bound early, middle Available, small Bound late'])
    const claim = await s.getClaim('late')
    expect(claim.status).toEqual({ phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '2Gi' } })
    expect(claim.metadata.annotations).toEqual({ 'pv.kubernetes.io/bind-completed': 'yes', 'pv.kubernetes.io/bound-by-controller': 'yes' })
    const volume = await s.getVolume('small')
    expect(volume.spec.claimRef).toMatchObject({ kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace: 'default', name: 'late', uid: claim.metadata.uid })
    expect(volume.metadata.annotations).toEqual({ 'pv.kubernetes.io/bound-by-controller': 'yes' })
    expect(s.scene.warnings).toEqual([])
  })

  it('are bound with four writes, and nothing is written afterwards', async () => {
    const s = await ClaimScene.of()
    await s.volume('v')
    s.scene.wire.writes.length = 0
    await s.claim('c', manual)
    await s.pass(600_000)
    expect(s.scene.wire.summary()).toEqual(['PUT persistentvolumes', 'PUT persistentvolumes status', 'PUT persistentvolumeclaims', 'PUT persistentvolumeclaims status'])
  })

  it('that were meant for each other wait for each other', async () => {
    const s = await ClaimScene.of()
    await s.volume('reserved', '5Gi', { claimRef: { namespace: 'default', name: 'mine' } })
    await s.volume('other')
    expect(await s.volumes()).toBe('other Available, reserved Available mine')
    await s.claim('mine', manual)
    await s.claim('named', { ...manual, volumeName: 'later' })
    expect(await s.claims()).toBe('mine Bound reserved, named Pending later')
    await s.volume('later')
    expect(await s.claims()).toBe('mine Bound reserved, named Bound later')
    // A volume that a user chose is not marked as chosen by the controller.
    expect((await s.getVolume('reserved')).metadata.annotations).toBeUndefined()
    expect((await s.getClaim('named')).metadata.annotations).toEqual({ 'pv.kubernetes.io/bind-completed': 'yes' })
  })

  it('say why they do not go together', async () => {
    const s = await ClaimScene.of()
    await s.storageClass('none', 'kubernetes.io/no-provisioner')
    await s.volume('small', '1Gi')
    await s.volume('taken')
    await s.claim('first', { ...manual, volumeName: 'taken' })
    await s.claim('large', { ...manual, volumeName: 'small', resources: { requests: { storage: '2Gi' } } })
    await s.claim('second', { ...manual, volumeName: 'taken' })
    await s.claim('plain', { storageClassName: '' })
    await s.claim('lost', { storageClassName: 'gone' })
    await s.claim('by-hand', { storageClassName: 'none' })
    await s.claim('driver', { storageClassName: 'none', volumeMode: 'Block' })
    await s.volume('files', '1Gi', { storageClassName: 'none', claimRef: { namespace: 'default', name: 'driver', uid: (await s.getClaim('driver')).metadata.uid } })
    await s.pass(600_000)
    expect(await s.told('large')).toEqual(['Warning VolumeMismatch: Cannot bind to requested volume "small": requested PV is too small'])
    expect(await s.told('second')).toEqual(['Warning FailedBinding: volume "taken" already bound to a different claim.'])
    expect(await s.told('plain')).toEqual(['Normal FailedBinding: no persistent volumes available for this claim and no storage class is set'])
    expect(await s.told('lost')).toEqual(['Warning ProvisioningFailed: storageclass.storage.k8s.io "gone" not found'])
    expect(await s.told('by-hand')).toEqual(['Warning ProvisioningFailed: no volume plugin matched name: kubernetes.io/no-provisioner'])
    expect(await s.told('files')).toEqual(['Warning VolumeMismatch: Cannot bind PersistentVolume to requested PersistentVolumeClaim "driver" due to incompatible volumeMode.'])
    expect(await s.claims()).toBe('by-hand Pending, driver Pending, first Bound taken, large Pending small, lost Pending, plain Pending, second Pending taken')
  })

  it('that wait for a consumer wait for a pod on a node that reaches the volume', async () => {
    const s = await ClaimScene.of()
    await s.storageClass('local', 'kubernetes.io/no-provisioner', { volumeBindingMode: 'WaitForFirstConsumer' })
    const on = (host: string) => ({ required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [host] }] }] } })
    for (const name of ['n1', 'n2']) {
      await s.node(name)
      await s.volume(`on-${name}`, '1Gi', { storageClassName: 'local', nodeAffinity: on(`${name}.local`) })
    }
    await s.claim('c', { storageClassName: 'local' })
    await s.pod('p', 'c')
    expect(await s.claims()).toBe('c Pending')
    await s.pod('q', 'c', 'n2')
    expect(await s.claims()).toBe('c Bound on-n2')
    expect((await s.told('c')).toSorted()).toEqual([
      'Normal WaitForFirstConsumer: waiting for first consumer to be created before binding',
      'Normal WaitForPodScheduled: waiting for pod p to be scheduled',
    ])
  })

  it('of which one claim of many gets each: no volume is given to two', async () => {
    const s = await ClaimScene.of()
    for (let i = 0; i < 8; i++) await s.volume(`v${i}`)
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...manual }
    await Promise.all(Array.from({ length: 10 }, (_, i) => s.client.create(persistentvolumeclaims, { metadata: { name: `c${i}`, namespace: 'default' }, spec })))
    await s.pass(60_000)
    const bound = (await s.client.list(persistentvolumeclaims, 'default')).items.filter(({ status }) => status.phase === 'Bound')
    expect(new Set(bound.map((c) => c.spec.volumeName)).size).toBe(8)
    for (const claim of bound) expect((await s.getVolume(claim.spec.volumeName!)).spec.claimRef?.uid).toBe(claim.metadata.uid)
  })

  it('get the default class when there is one', async () => {
    const s = await ClaimScene.of()
    await s.remove(storageclasses, 'standard')
    await s.claim('c')
    expect(await s.told('c')).toEqual(['Normal FailedBinding: no persistent volumes available for this claim and no storage class is set'])
    await s.client.create(storageclasses, {
      metadata: { name: 'mine', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
      provisioner: 'example.com/x',
      volumeBindingMode: 'Immediate',
    })
    await s.pass(100)
    const { spec, metadata } = await s.getClaim('c')
    expect(spec.storageClassName).toBe('mine')
    expect(metadata.annotations).toEqual({ 'volume.beta.kubernetes.io/storage-provisioner': 'example.com/x', 'volume.kubernetes.io/storage-provisioner': 'example.com/x' })
    const waiting = "Normal ExternalProvisioning: Waiting for a volume to be created either by the external provisioner 'example.com/x' or manually"
    expect(await s.told('c')).toContainEqual(expect.stringContaining(waiting))
  })
})

describe('a volume whose claim is gone', () => {
  it.each([
    ['stays, with its data, for people to look after', 'Retain', 'v Released c', []],
    ['is not recycled', 'Recycle', 'v Failed c', ['Warning VolumeFailedRecycle: No recycler plugin found for the volume!']],
    ['cannot be deleted by who did not make it', 'Delete', 'v Failed c', ['Warning VolumeFailedDelete: host_path deleter only supports /tmp/.+ but received provided /d']],
  ])('%s', async (_, persistentVolumeReclaimPolicy, left, told) => {
    const s = await ClaimScene.of()
    await s.volume('v', '1Gi', { persistentVolumeReclaimPolicy })
    await s.claim('c', manual)
    await s.remove(persistentvolumeclaims, 'c')
    await s.pass(60_000)
    expect([await s.claims(), await s.volumes(), await s.told('v')]).toEqual(['', left, told])
    // The next claim of that name is not the one it had.
    await s.claim('c', manual)
    expect(await s.claims()).toBe('c Pending')
  })

  it('is free again when somebody says so', async () => {
    const s = await ClaimScene.of()
    await s.volume('v')
    await s.claim('c', manual)
    await s.remove(persistentvolumeclaims, 'c')
    await s.claim('next', manual)
    expect([await s.claims(), await s.volumes()]).toEqual(['next Pending', 'v Released c'])
    await s.client.patch(persistentvolumes, '', 'v', { spec: { claimRef: null } }, { type: 'merge' })
    await s.pass(100)
    expect([await s.claims(), await s.volumes()]).toEqual(['next Bound v', 'v Bound next'])
  })

  it('is not one whose claim is merely not in the cache yet', async () => {
    const s = await ClaimScene.of()
    s.scene.wire.delaysMs.set('persistentvolumeclaims', 5000)
    await s.claim('c', manual)
    await s.volume('v', '1Gi', { claimRef: { namespace: 'default', name: 'c', uid: (await s.getClaim('c')).metadata.uid } })
    expect(await s.volumes()).toBe('v Pending c')
    await s.pass(20_000)
    expect([await s.claims(), await s.volumes()]).toEqual(['c Bound v', 'v Bound c'])
    expect(s.scene.warnings).toEqual([])
  })

  it('is lost to a claim that is still there', async () => {
    const s = await ClaimScene.of()
    await s.volume('v')
    await s.claim('c', manual)
    await s.client.patch(persistentvolumes, '', 'v', { metadata: { finalizers: null } }, { type: 'merge' })
    await s.client.delete(persistentvolumes, '', 'v')
    await s.client.patch(persistentvolumes, '', 'v', { metadata: { finalizers: null } }, { type: 'merge' }).catch(() => {})
    await s.pass(100)
    expect([await s.claims(), await s.volumes()]).toEqual(['c Lost v', ''])
    expect(await s.told('c')).toEqual(['Warning ClaimLost: Bound claim has lost its PersistentVolume. Data on the volume is lost!'])
    await s.volume('v')
    expect(await s.claims()).toBe('c Bound v')
  })
})

describe('what is in use', () => {
  it('is kept until its last pod is gone', async () => {
    const s = await ClaimScene.of()
    await s.volume('v')
    await s.claim('c', manual)
    await s.pod('p', 'c', 'n1')
    await s.pod('unscheduled', 'c')
    await s.remove(persistentvolumeclaims, 'c')
    await s.remove(persistentvolumes, 'v')
    await s.pass(60_000)
    expect([await s.claims(), await s.volumes()]).toEqual(['c Bound v -', 'v Bound c -'])
    await s.remove(pods, 'p')
    expect([await s.claims(), await s.volumes()]).toEqual(['', ''])
  })

  it('is found out by asking where the cache of pods is behind', async () => {
    const s = await ClaimScene.of()
    await s.volume('v')
    await s.claim('c', manual)
    s.scene.wire.delaysMs.set('pods', 5000)
    await s.pod('p', 'c', 'n1')
    await s.remove(persistentvolumeclaims, 'c')
    expect(await s.claims()).toBe('c Bound v -')
    await s.pass(20_000)
    expect(await s.claims()).toBe('c Bound v -')
    await s.remove(pods, 'p')
    await s.pass(6000)
    expect(await s.claims()).toBe('')
  })

  it('is protected even if it was made without', async () => {
    const s = await ClaimScene.of()
    await s.volume('v')
    await s.claim('c', manual)
    await s.client.patch(persistentvolumeclaims, 'default', 'c', { metadata: { finalizers: null } }, { type: 'merge' })
    await s.client.patch(persistentvolumes, '', 'v', { metadata: { finalizers: null } }, { type: 'merge' })
    await s.pass(100)
    expect((await s.getClaim('c')).metadata.finalizers).toEqual(['kubernetes.io/pvc-protection'])
    expect((await s.getVolume('v')).metadata.finalizers).toEqual(['kubernetes.io/pv-protection'])
  })

  it('may be an attributes class', async () => {
    const s = await ClaimScene.of()
    for (const name of ['gold', 'silver']) await s.client.create(volumeattributesclasses, { metadata: { name }, driverName: 'example.com/x', parameters: { iops: '1' } })
    await s.claim('c', { ...manual, volumeAttributesClassName: 'gold' })
    await s.remove(volumeattributesclasses, 'gold')
    await s.remove(volumeattributesclasses, 'silver')
    const left = async () => (await s.client.list(volumeattributesclasses, '')).items.map(({ metadata }) => metadata.name)
    expect(await left()).toEqual(['gold'])
    await s.remove(persistentvolumeclaims, 'c')
    expect(await left()).toEqual([])
  })
})
