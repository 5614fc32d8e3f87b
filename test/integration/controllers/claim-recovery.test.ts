import { describe, expect, it } from 'vitest'
import { claimRecovery, claimRecoveryAfter } from '../../../src/api/kinds/workloads/claim-recovery.ts'
import { configmaps, persistentvolumeclaims, pods, statefulsets } from '../../../src/client/index.ts'
import { ClaimRecoveryScene } from './claim-recovery-scene.ts'

const csi = { name: 'csi', stage: 'csi', fail: true } as const
const minute = 60_000
const used = 'coxswain.dev/claim-used'

/** A set whose volumes fail until told otherwise, as it is ten seconds before its first pod has had its minute. */
async function failing(replicas = 1, options: Parameters<ClaimRecoveryScene['create']>[1] = {}): Promise<ClaimRecoveryScene> {
  const s = await ClaimRecoveryScene.start()
  s.breaks(csi)
  await s.create(replicas, { after: '1m', ...options })
  await s.pass(49_000)
  return s
}

describe('a claim whose volume cannot be mounted', () => {
  it.each(['Parallel', 'OrderedReady'])('is made anew with its pod, which then runs: %s', async (policy) => {
    const s = await ClaimRecoveryScene.start()
    s.breaks({ ...csi, for: '6m' })
    await s.create(1, { policy })
    const before = await s.uids(0)
    await s.pass(4 * minute + 50_000)
    expect([await s.says(), await s.uids(0)]).toEqual(['nothing', before])
    await s.pass(20_000)
    const after = await s.uids(0)
    expect([after.claim !== before.claim, after.pod !== before.pod]).toEqual([true, true])
    expect(await s.says()).toBe('True RecreatingClaim')
    await s.pass(3 * minute)
    expect([await s.isReady(0), await s.says(), await s.uids(0)]).toEqual([true, 'False ClaimRecreated', after])
    const deadline = 'driver coxswain.dev/local-path: rpc error: code = DeadlineExceeded desc = context deadline exceeded'
    const why = `VolumeMountFailed: MountVolume.SetUp failed for volume "data" : ${deadline}`
    expect(await s.told('web')).toEqual([
      `Normal RecreatingClaim ×1: Pod web-0 is made anew with data-web-0: it has had no sandbox since 2026-01-01T00:00:01Z: ${why}`,
      'Normal ClaimRecreated ×1: Pod web-0 was made anew with data-web-0.',
    ])
    expect(await s.told('data-web-0')).toEqual(['Normal RecreatingClaim ×1: Deleted, to be made anew: pod web-0 could not start with it'])
    expect((await s.claim(0))!.metadata.annotations).toMatchObject({ [used]: expect.stringMatching(/^2026-01-01T00:0/) })
    const writes = s.wire.writes.length
    await s.pass(10 * minute)
    expect(s.wire.writes.length).toBe(writes)
  })

  it('is made anew again and again while that lasts, and one pod after the other', async () => {
    const s = await failing(3)
    const first = [await s.uids(0), await s.uids(1), await s.uids(2)]
    const changed = async () => (await Promise.all([0, 1, 2].map((i) => s.uids(i)))).map(({ pod, claim }, i) => pod !== first[i]!.pod && claim !== first[i]!.claim)
    const states: boolean[][] = []
    for (const ms of [12_000, 50_000, 12_000, 50_000, 12_000]) {
      await s.pass(ms)
      states.push(await changed())
    }
    expect(states).toEqual([[true, false, false], [true, false, false], [true, true, false], [true, true, false], [true, true, true]])
    s.breaks()
    await s.pass(3 * minute)
    expect(await Promise.all([0, 1, 2].map((i) => s.isReady(i)))).toEqual([true, true, true])
  })

  it.each([['before it is due', 1000], ['just when it is', 10_500]])('is made anew once if everything is restarted %s', async (_, restartMs) => {
    const s = await failing()
    const before = await s.uids(0)
    await s.pass(restartMs)
    await s.restart()
    await s.pass(15_000)
    const after = await s.uids(0)
    expect([after.claim !== before.claim, after.pod !== before.pod]).toEqual([true, true])
    s.breaks()
    await s.pass(2 * minute)
    expect([await s.isReady(0), await s.says(), await s.uids(0)]).toEqual([true, 'False ClaimRecreated', after])
  })

  it.each(['pods', 'persistentvolumeclaims', 'statefulsets', 'nothing'])('is made anew by the same writes if watches of %s are 5 s late', async (plural) => {
    const s = await ClaimRecoveryScene.start()
    s.breaks({ ...csi, for: '70s' })
    s.wire.delaysMs.set(plural, 5000)
    await s.create(1, { after: '1m' })
    await s.pass(3 * minute)
    expect([await s.isReady(0), await s.says()]).toEqual([true, 'False ClaimRecreated'])
    expect(s.wire.counts()).toMatchObject({ 'DELETE persistentvolumeclaims': 1, 'POST persistentvolumeclaims': 2, 'DELETE pods': 1, 'POST pods': 2 })
  })
})

describe('a claim is kept', () => {
  it('if its pod starts and does not become ready: only the pod is made anew', async () => {
    const s = await ClaimRecoveryScene.start()
    await s.create(1, { after: '1m', podAnnotations: { 'coxswain.dev/simulate-readiness-after': '1h' } })
    const before = await s.uids(0)
    await s.pass(65_000)
    const after = await s.uids(0)
    expect([after.claim === before.claim, after.pod !== before.pod, await s.says()]).toEqual([true, true, 'True RecreatingPod'])
    await s.pass(65_000)
    expect(await s.says()).toBe('False BackingOff')
    await s.pass(60_000)
    expect((await s.told('web')).map((line) => line.split(' ×')[0])).toEqual(['Normal RecreatingPod', 'Normal PodRecreated', 'Normal BackingOff', 'Normal RecreatingPod'])
    expect((await s.claim(0))!.metadata.uid).toBe(before.claim)
  })

  it('and so is the pod, if a config map is missing: it starts by itself when that is there', async () => {
    const s = await ClaimRecoveryScene.start()
    await s.create(1, { after: '1m', podSpec: { volumes: [{ name: 'config', configMap: { name: 'late' } }] } })
    const before = await s.uids(0)
    await s.pass(5 * minute)
    expect([await s.uids(0), await s.says()]).toEqual([before, 'nothing'])
    await s.client.create(configmaps, { metadata: { name: 'late', namespace: 'default' } })
    await s.pass(minute)
    expect([await s.isReady(0), await s.uids(0)]).toEqual([true, before])
  })

  it('and so is the pod, if there is no network, also if its volume failed at first', async () => {
    const s = await ClaimRecoveryScene.start()
    s.breaks({ ...csi, for: '30s' }, { name: 'ipam', stage: 'ipam', fail: true })
    await s.create(1, { after: '1m' })
    const before = await s.uids(0)
    await s.pass(5 * minute)
    expect([await s.uids(0), await s.says()]).toEqual([before, 'nothing'])
  })

  it.each([['while the controller watched', true], ['while it was off', false]])('if an earlier pod has used it %s', async (_, isOn) => {
    const s = await ClaimRecoveryScene.start()
    await s.restart({ isOn })
    await s.create(1, { after: '1m' })
    await s.pass(10_000)
    expect(await s.isReady(0)).toBe(true)
    s.breaks(csi)
    await s.client.delete(pods, 'default', 'web-0')
    await s.pass(10_000)
    await s.restart()
    const before = await s.uids(0)
    await s.pass(2 * minute)
    expect([await s.uids(0), await s.says()]).toEqual([before, 'False ClaimKept'])
    expect(await s.told('web')).toHaveLength(1)
    expect((await s.condition())!.message).toMatch(/^Claim data-web-0 of pod web-0 is kept: it was used since 2026-/)
    const writes = s.wire.writes.length
    await s.pass(5 * minute)
    expect(s.wire.writes.length).toBe(writes)
  })

  it('if somebody else uses it, or did', async () => {
    const s = await ClaimRecoveryScene.start()
    s.breaks({ ...csi, pods: { name: 'web-*' } })
    await s.create(1, { after: '1m' })
    const before = await s.uids(0)
    await s.createUser('debug', 0)
    await s.client.delete(pods, 'default', 'debug')
    await s.pass(3 * minute)
    expect([await s.uids(0), await s.says()]).toEqual([before, 'False ClaimKept'])
  })

  it('while its node is lost: what the node said last may be over', async () => {
    const s = await ClaimRecoveryScene.start()
    const silent = { name: 'silent', stage: 'heartbeat', fail: true } as const
    s.breaks(csi, silent)
    await s.create(1, { after: '2m' })
    const before = await s.uids(0)
    await s.pass(10 * minute)
    expect([await s.uids(0), await s.says()]).toEqual([before, 'nothing'])
    s.breaks(csi)
    await s.pass(2 * minute)
    const after = await s.uids(0)
    expect([after.claim !== before.claim, after.pod !== before.pod]).toEqual([true, true])
  })

  it('if its sandbox gets ready while its node is not heard of', async () => {
    const s = await failing()
    const before = await s.uids(0)
    s.breaks()
    s.link.latencyMs = 60_000
    s.link.isMute = true
    await s.pass(30_000)
    // By now the controller has deleted the pod, and the node, which does not know, runs it.
    expect([(await s.pod(0))!.metadata.deletionTimestamp !== undefined, await s.says(), await s.uids(0)]).toEqual([true, 'True RecreatingClaim', before])
    s.link.isMute = false
    await s.pass(5 * minute)
    const after = await s.uids(0)
    expect([after.claim === before.claim, after.pod !== before.pod, await s.isReady(0)]).toEqual([true, true, true])
    expect(await s.told('web')).toContainEqual(expect.stringMatching(/^Warning ClaimKept ×1: Pod web-0 is made anew. Claim data-web-0 is kept: /))
  })

  it('if somebody forces its pod out of the way before the node has told how it ended', async () => {
    const s = await failing()
    const before = await s.uids(0)
    s.link.latencyMs = 90_000
    await s.pass(20_000)
    expect((await s.pod(0))!.metadata.finalizers).toEqual(['coxswain.dev/claim-recovery'])
    await s.client.delete(pods, 'default', 'web-0', { gracePeriodSeconds: 0 })
    await s.pass(1000)
    expect((await s.claim(0))!.metadata).toMatchObject({ uid: before.claim })
    expect((await s.pod(0))!.metadata.uid).not.toBe(before.pod)
    expect((await s.condition())!.message).toBe('Pod web-0 is made anew. Claim data-web-0 is kept: the node of pod web-0 has not told how it ended.')
  })

  it('if the set was told otherwise meanwhile, and its pod goes', async () => {
    const s = await failing()
    const before = await s.uids(0)
    s.link.latencyMs = 30_000
    await s.pass(20_000)
    expect((await s.pod(0))!.metadata.finalizers).toEqual(['coxswain.dev/claim-recovery'])
    await s.annotate({ [claimRecovery]: null })
    expect((await s.pod(0))!.metadata.finalizers).toBeUndefined()
    await s.pass(2 * minute)
    expect([(await s.claim(0))!.metadata.uid, await s.says()]).toEqual([before.claim, 'False NotAskedFor'])
    expect((await s.pod(0))!.metadata.uid).not.toBe(before.pod)
  })

  it('if the set is deleted meanwhile, and its pod goes', async () => {
    const s = await failing()
    const before = await s.uids(0)
    s.link.latencyMs = 30_000
    await s.pass(20_000)
    await s.client.delete(statefulsets, 'default', 'web')
    await s.pass(2 * minute)
    expect(await s.uids(0)).toEqual({ pod: undefined, claim: before.claim })
  })

  it('if somebody else made it', async () => {
    const s = await ClaimRecoveryScene.start()
    s.breaks(csi)
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } }
    await s.client.create(persistentvolumeclaims, { metadata: { name: 'data-web-0', namespace: 'default', labels: { app: 'web' } }, spec })
    await s.create(1, { after: '1m' })
    const before = await s.uids(0)
    await s.pass(2 * minute)
    expect([await s.uids(0), await s.says()]).toEqual([before, 'False ClaimKept'])
  })
})

it('an annotation that makes no sense is told once, and nothing is done', async () => {
  const s = await failing(1, { after: 'soon' })
  const before = await s.uids(0)
  const wrong = 'Warning InvalidAnnotation ×1: metadata.annotations[coxswain.dev/claim-recovery-after]: Invalid value: "soon": must be a duration like 5m or 90s, of at least 5s'
  await s.pass(6 * minute)
  await s.restart()
  await s.pass(2 * minute)
  expect([await s.told('web'), await s.says(), await s.uids(0)]).toEqual([[wrong], 'False InvalidAnnotation', before])
  await s.annotate({ [claimRecovery]: 'destroy', [claimRecoveryAfter]: null })
  expect((await s.told('web'))[1]).toBe('Warning InvalidAnnotation ×1: metadata.annotations[coxswain.dev/claim-recovery]: Invalid value: "destroy": must be "recreate" or "observe"')
  s.breaks()
  await s.pass(2 * minute)
  await s.annotate({ [claimRecovery]: 'recreate' })
  expect([await s.says(), await s.isReady(0)]).toEqual(['nothing', true])
})

it('an annotation that made no sense and is gone is no longer told of', async () => {
  const s = await failing(1, { after: 'soon' })
  await s.pass(minute)
  expect(await s.says()).toBe('False InvalidAnnotation')
  await s.annotate({ [claimRecovery]: null, [claimRecoveryAfter]: null })
  await s.pass(minute)
  expect(await s.says()).toBe('nothing')
})
