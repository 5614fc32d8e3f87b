import { describe, expect, it } from 'vitest'
import { claimRecovery, claimRecoveryLimit, claimRecoveryRetained, claimUsed, marksClaims, neverUsed } from '../../../src/api/kinds/workloads/claim-recovery.ts'
import { nodes, persistentvolumeclaims, persistentvolumes, pods } from '../../../src/client/index.ts'
import { ClaimRecoveryScene } from './claim-recovery-scene.ts'

// Everything here tries to make the controller delete a claim that holds data, or might.

const csi = { name: 'csi', stage: 'csi', fail: true } as const
const minute = 60_000
const volumeSpec = { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, storageClassName: 'standard' }
const claimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }

/** A set whose volumes fail until told otherwise, ten seconds before its first pod has had its minute. */
async function failing(options: Parameters<ClaimRecoveryScene['create']>[1] = {}): Promise<ClaimRecoveryScene> {
  const s = await ClaimRecoveryScene.start()
  s.breaks(csi)
  await s.create(1, { after: '1m', ...options })
  await s.pass(49_000)
  return s
}

const volumeOf = async (s: ClaimRecoveryScene) => s.client.get(persistentvolumes, '', (await s.claim(0))!.spec.volumeName!)
const patchClaim = (s: ClaimRecoveryScene, annotations: Record<string, string | null>) =>
  s.client.patch(persistentvolumeclaims, 'default', 'data-web-0', { metadata: { annotations } }, { type: 'merge' })
const patchVolume = async (s: ClaimRecoveryScene, patch: object) =>
  s.client.patch(persistentvolumes, '', (await volumeOf(s)).metadata.name!, patch, { type: 'merge' })

describe('a claim is kept that might hold data', () => {
  it('bound to a volume that was restored from a backup', async () => {
    const s = await ClaimRecoveryScene.start()
    s.breaks(csi)
    const claimRef = { kind: 'PersistentVolumeClaim', namespace: 'default', name: 'data-web-0' }
    const annotations = { 'pv.kubernetes.io/provisioned-by': 'coxswain.dev/local-path' }
    const spec = { ...volumeSpec, persistentVolumeReclaimPolicy: 'Delete', claimRef, hostPath: { path: '/backup' } }
    await s.client.create(persistentvolumes, { metadata: { name: 'restored', annotations }, spec })
    await s.pass(1000)
    await s.create(1, { after: '1m' })
    const before = await s.uids(0)
    await s.pass(5 * minute)
    expect([(await s.claim(0))!.spec.volumeName, await s.uids(0)]).toEqual(['restored', before])
    expect((await s.condition())?.message).toMatch(/^Claim data-web-0 of pod web-0 is kept: its volume restored /)
  })

  it('whose container has written on a node that then lost its memory', async () => {
    const s = await ClaimRecoveryScene.start()
    s.breaks(csi)
    await s.create(1, { after: '1m' })
    const before = await s.uids(0)
    await s.pass(3000)
    // Nobody hears that the pod runs, and has run.
    s.link.isMute = true
    s.breaks()
    await s.pass(15_000)
    s.breaks(csi)
    await s.restart({ forgets: true })
    await s.pass(5 * minute)
    expect((await s.claim(0))!.metadata.uid).toBe(before.claim)
    expect((await s.claim(0))!.metadata.annotations?.[claimUsed]).toMatch(/^2026-/)
  })

  it('also if it was not, but the node cannot vouch for that', async () => {
    const s = await failing({ after: '3m' })
    const before = await s.uids(0)
    await s.restart({ forgets: true })
    await s.pass(10 * minute)
    expect([await s.uids(0), await s.says()]).toEqual([before, 'False ClaimKept'])
    expect((await s.condition())?.message).toContain('it is not known whether pod web-0 ever had a ready sandbox')
  })

  const used = { annotations: { [claimUsed]: '2026-01-01T00:00:00Z' } }
  it.each<[string, (s: ClaimRecoveryScene) => Promise<unknown>]>([
    ['a user removes the mark', (s) => patchClaim(s, { [claimUsed]: null })],
    ['a user marks it', (s) => patchClaim(s, { [claimUsed]: '2026-01-01T00:00:00Z' })],
    ['somebody clones it', (s) => s.client.create(persistentvolumeclaims, { metadata: { name: 'copy', namespace: 'default' }, spec: { ...claimSpec, dataSource: { apiGroup: '', kind: 'PersistentVolumeClaim', name: 'data-web-0' } } })],
    ['its volume is to be retained', (s) => patchVolume(s, { spec: { persistentVolumeReclaimPolicy: 'Retain' } })],
    ['its volume does not say who made it', (s) => patchVolume(s, { metadata: { annotations: { 'pv.kubernetes.io/provisioned-by': null } } })],
    ['another volume has the same directory', async (s) => s.client.create(persistentvolumes, { metadata: { name: 'twin' }, spec: { ...volumeSpec, hostPath: (await volumeOf(s)).spec.hostPath! } })],
    ['a pod of somebody else names it', (s) => s.createUser('debug', 0)],
    ['a pod of somebody else names it, and has no node', (s) => s.client.create(pods, { metadata: { name: 'later', namespace: 'default' }, spec: { containers: [{ name: 'main', image: 'app:1' }], nodeSelector: { no: 'where' }, volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data-web-0' } }] } })],
    ['a kubelet joins the cluster', (s) => s.client.create(nodes, { metadata: { name: 'kubelet' } })],
    ['its node does not mark claims any more', (s) => s.client.patch(nodes, '', 'n1', { metadata: { annotations: { [marksClaims]: null } } }, { type: 'merge' })],
    ['its pod forgets that it came first', (s) => s.client.patch(pods, 'default', 'web-0', { metadata: { annotations: { 'coxswain.dev/new-claims': null } } }, { type: 'merge' })],
    ['its owner is somebody else', (s) => s.client.patch(persistentvolumeclaims, 'default', 'data-web-0', { metadata: { ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'Backup', name: 'b', uid: 'b', controller: true }] } }, { type: 'merge' })],
    ['the set only observes', (s) => s.annotate({ [claimRecovery]: 'observe' })],
  ])('because %s, just before', async (_, tamper) => {
    const s = await failing()
    const before = await s.uids(0)
    await tamper(s)
    await s.pass(5 * minute)
    expect((await s.uids(0)).claim).toBe(before.claim)
    expect(s.wire.counts()['DELETE persistentvolumeclaims']).toBeUndefined()
  })

  it.each<[string, (s: ClaimRecoveryScene) => Promise<unknown>]>([
    ['a node marks it', (s) => patchClaim(s, used.annotations)],
    ['its volume is to be retained', (s) => patchVolume(s, { spec: { persistentVolumeReclaimPolicy: 'Retain' } })],
    ['a pod of somebody else uses it', (s) => s.createUser('debug', 0)],
    ['somebody clones it', (s) => s.client.create(persistentvolumeclaims, { metadata: { name: 'copy', namespace: 'default' }, spec: { ...claimSpec, dataSource: { apiGroup: '', kind: 'PersistentVolumeClaim', name: 'data-web-0' } } })],
    ['the set only observes from now on', (s) => s.annotate({ [claimRecovery]: 'observe' })],
  ])('because %s while its pod is being deleted', async (_, tamper) => {
    const s = await failing()
    const before = await s.uids(0)
    s.link.latencyMs = 60_000
    await s.pass(15_000)
    expect((await s.pod(0))!.metadata.deletionTimestamp).toBeDefined()
    await tamper(s)
    await s.pass(4 * minute)
    expect((await s.claim(0))!.metadata.uid).toBe(before.claim)
  })

  it('whose volume is lost', async () => {
    const s = await failing()
    const before = await s.uids(0)
    const { metadata } = await volumeOf(s)
    await s.client.delete(persistentvolumes, '', metadata.name!, { gracePeriodSeconds: 0 })
    await s.client.patch(persistentvolumes, '', metadata.name!, { metadata: { finalizers: null } }, { type: 'merge' })
    await s.pass(3 * minute)
    expect([(await s.claim(0))!.metadata.uid, await s.says()]).toEqual([before.claim, 'False ClaimKept'])
  })

  it('by a template that says so', async () => {
    const s = await ClaimRecoveryScene.start()
    s.breaks(csi)
    await s.create(1, { after: '1m', claimAnnotations: { [claimUsed]: 'keep' } })
    const before = await s.uids(0)
    await s.pass(3 * minute)
    expect([await s.uids(0), await s.says()]).toEqual([before, 'False ClaimKept'])
  })
})

it('a claim whose volume stays behind goes if the set allows that', async () => {
  const s = await failing({ annotations: { [claimRecoveryRetained]: 'recreate' } })
  const before = await s.uids(0)
  const { metadata } = await volumeOf(s)
  await patchVolume(s, { spec: { persistentVolumeReclaimPolicy: 'Retain' } })
  await s.pass(30_000)
  expect((await s.uids(0)).claim).not.toBe(before.claim)
  expect((await s.client.get(persistentvolumes, '', metadata.name!)).status?.phase).toBe('Released')
})

it('a claim says that nobody has used it, until a pod starts with it', async () => {
  const s = await failing()
  expect((await s.claim(0))!.metadata.annotations?.[claimUsed]).toBe(neverUsed)
  s.breaks()
  await s.pass(2 * minute)
  expect([await s.isReady(0), (await s.claim(0))!.metadata.annotations?.[claimUsed]]).toEqual([true, expect.stringMatching(/^2026-/)])
})

it('an init container may take longer than the pod has', async () => {
  const s = await ClaimRecoveryScene.start()
  const podSpec = { initContainers: [{ name: 'load', image: 'app:1' }] }
  await s.create(1, { after: '1m', podSpec, podAnnotations: { 'coxswain.dev/simulate-exit-after.load': '10m' } })
  const before = await s.uids(0)
  await s.pass(9 * minute)
  expect([await s.uids(0), await s.says()]).toEqual([before, 'nothing'])
  await s.pass(2 * minute)
  expect([await s.uids(0), await s.isReady(0)]).toEqual([before, true])
})

it('a pod that does not become ready after its init container has its time from then on', async () => {
  const s = await ClaimRecoveryScene.start()
  const podSpec = { initContainers: [{ name: 'load', image: 'app:1' }] }
  const podAnnotations = { 'coxswain.dev/simulate-exit-after.load': '5m', 'coxswain.dev/simulate-readiness-after': '1h' }
  await s.create(1, { after: '1m', podSpec, podAnnotations })
  const before = await s.uids(0)
  await s.pass(5 * minute + 50_000)
  expect(await s.uids(0)).toEqual(before)
  await s.pass(15_000)
  expect((await s.uids(0)).pod).not.toBe(before.pod)
})

describe('a claim that fails again and again', () => {
  it('is made anew after twice as long each time, and not for ever', async () => {
    const s = await ClaimRecoveryScene.start()
    s.breaks(csi)
    await s.create(1, { after: '10s', annotations: { [claimRecoveryLimit]: '4' } })
    const made: number[] = []
    for (let minutes = 1; minutes <= 6; minutes++) {
      await s.pass(minute)
      made.push((s.wire.counts()['POST persistentvolumeclaims'] ?? 0) - 1)
    }
    // After 10 s, 20 s, 40 s and 80 s.
    expect(made).toEqual([2, 3, 4, 4, 4, 4])
    expect([await s.says(), (await s.condition())?.message]).toEqual(['False LimitReached', expect.stringMatching(/^Pods of the set were made anew 4 times without success; the limit is 4\. Pod web-0 is left as it is: /)])
    const writes = s.wire.writes.length
    await s.pass(10 * minute)
    expect(s.wire.writes.length).toBe(writes)
    await s.annotate({ [claimRecoveryLimit]: '5' })
    await s.pass(2 * minute)
    expect((s.wire.counts()['POST persistentvolumeclaims'] ?? 0) - 1).toBe(5)
  })

  it('says until when it is left alone, and that it is well', async () => {
    const s = await ClaimRecoveryScene.start()
    s.breaks(csi)
    await s.create(1, { after: '2m' })
    await s.pass(4 * minute + 5000)
    expect([await s.says(), (await s.condition())?.message]).toEqual(['False BackingOff', 'Pod web-0 was made anew once and is in trouble again. It is left alone until 2026-01-01T00:06:01Z.'])
    s.breaks()
    await s.pass(20_000)
    expect([await s.says(), await s.isReady(0)]).toEqual(['False NotNeeded', true])
  })
})

it('a dry run tells what it would do, once, and does nothing', async () => {
  const s = await failing({ annotations: { [claimRecovery]: 'observe' } })
  const before = await s.uids(0)
  await s.pass(minute)
  expect([await s.says(), await s.uids(0)]).toEqual(['False WouldRecreateClaim', before])
  const writes = s.wire.writes.length
  await s.pass(10 * minute)
  expect([await s.uids(0), s.wire.writes.length, (await s.told('web')).length]).toEqual([before, writes, 1])
  await s.annotate({ [claimRecovery]: 'recreate' })
  await s.pass(10_000)
  expect((await s.uids(0)).claim).not.toBe(before.claim)
})
