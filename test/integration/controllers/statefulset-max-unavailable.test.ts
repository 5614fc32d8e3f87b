import { describe, expect, it } from 'vitest'
import { StatefulSetScene, ordinalOf } from './statefulset-scene.ts'

const policies = ['OrderedReady', 'Parallel'] as const
type Policy = (typeof policies)[number]

const goingOf = async (s: StatefulSetScene): Promise<number[]> => (await s.pods()).filter((p) => p.metadata.deletionTimestamp).map(ordinalOf).toReversed()

/** Lets what goes be gone, and what comes be ready for long enough, until nothing comes any more. */
async function comeBack(s: StatefulSetScene, minReadySeconds: number): Promise<void> {
  await s.reap()
  for (let round = 0; round < 100; round++) {
    const late = (await s.places()).split(' ').filter((place) => place.endsWith('!')).map((place) => Number(place.slice(0, -1)))
    if (late.length === 0) return
    await s.report('ready', ...late)
    if (minReadySeconds === 0) continue
    // Times are in whole seconds: a pod may seem to be ready for nearly a second more than it is.
    await s.pass((minReadySeconds - 2) * 1000)
    expect(await s.places()).not.toMatch(/[-!]/)
    await s.pass(2000)
  }
  throw new Error(`pods come without end: ${await s.places()}`)
}

/** The ordinals that were taken down at the same time, one batch after the other, until the rollout is over. */
async function batchesOf(s: StatefulSetScene, minReadySeconds = 0): Promise<number[][]> {
  const batches: number[][] = []
  for (let going = await goingOf(s); going.length > 0; going = await goingOf(s)) {
    batches.push(going)
    if (batches.length > 100) throw new Error(`a rollout without end takes down ${batches.slice(-3).join(' and ')}`)
    await comeBack(s, minReadySeconds)
  }
  return batches
}

async function running(policy: Policy, replicas: number, rollingUpdate: object, minReadySeconds = 0, s?: StatefulSetScene): Promise<StatefulSetScene> {
  const set = s ?? (await StatefulSetScene.of())
  await set.create(replicas, { podManagementPolicy: policy, minReadySeconds, updateStrategy: { rollingUpdate } })
  await comeBack(set, minReadySeconds)
  return set
}

describe.each(policies)('%s', (policy) => {
  describe.each([0, 10])('with minReadySeconds %i', (minReadySeconds) => {
    it.each<[string, object, number[][]]>([
      ['maxUnavailable = 1, same behaviour as today', { maxUnavailable: 1 }, [[4], [3], [2], [1], [0]]],
      ['maxUnavailable greater than 1 without partition', { maxUnavailable: 2 }, [[4, 3], [2, 1], [0]]],
      ['maxUnavailable = 30% of 5, rounded down to 1', { maxUnavailable: '30%' }, [[4], [3], [2], [1], [0]]],
      ['maxUnavailable = 59% of 5, rounded down to 2', { maxUnavailable: '59%' }, [[4, 3], [2, 1], [0]]],
      ['maxUnavailable = 10% of 5, which is 1 at least', { maxUnavailable: '10%' }, [[4], [3], [2], [1], [0]]],
      ['maxUnavailable greater than replicas without partition', { maxUnavailable: 9 }, [[4, 3, 2, 1, 0]]],
      ['maxUnavailable greater than 1 with partition and staged pods less than maxUnavailable', { maxUnavailable: 3, partition: 3 }, [[4, 3]]],
      ['maxUnavailable greater than 1 with partition and staged pods same as maxUnavailable', { maxUnavailable: 3, partition: 2 }, [[4, 3, 2]]],
      ['maxUnavailable greater than 1 with partition and staged pods greater than maxUnavailable', { maxUnavailable: 2, partition: 2 }, [[4, 3], [2]]],
      ['maxUnavailable greater than 1 with partition and maxUnavailable greater than replicas', { maxUnavailable: 9, partition: 2 }, [[4, 3, 2]]],
    ])('%s', async (_, rollingUpdate, batches) => {
      const s = await running(policy, 5, rollingUpdate, minReadySeconds)
      await s.setImage('app:2')
      expect(await batchesOf(s, minReadySeconds)).toEqual(batches)
      const { partition = 0 } = rollingUpdate as { partition?: number }
      expect((await s.pods()).map((p) => p.spec.containers[0]!.image)).toEqual([0, 1, 2, 3, 4].map((o) => (o < partition ? 'app:1' : 'app:2')))
    })

    it('scale down in the middle of a rollout', async () => {
      const s = await running(policy, 5, { maxUnavailable: 2 }, minReadySeconds)
      await s.setImage('app:2')
      expect(await s.places()).toBe('0 1 2 3- 4-')
      await s.change({ replicas: 3 })
      // Those that go are not wanted any more: nothing is missing of the three that are.
      expect(await s.places()).toBe(policy === 'OrderedReady' ? '0 1 2 3- 4-' : '0 1- 2- 3- 4-')
      expect(await batchesOf(s, minReadySeconds)).toEqual(policy === 'OrderedReady' ? [[4, 3], [2, 1], [0]] : [[4, 3, 2, 1], [0]])
      expect((await s.get()).status).toMatchObject({ replicas: 3, updatedReplicas: 3, availableReplicas: 3 })
    })

    it('scale down in the middle of a rollout, of pods that are not available yet', async () => {
      const s = await running(policy, 5, { maxUnavailable: 2 }, minReadySeconds)
      await s.setImage('app:2')
      await s.reap()
      await s.report('unready', 3, 4)
      expect(await s.places()).toBe(policy === 'OrderedReady' ? '0 1 2 3!' : '0 1 2 3! 4!')
      await s.change({ replicas: 3 })
      expect(await s.places()).toBe(policy === 'OrderedReady' ? '0 1 2 3-' : '0 1- 2- 3- 4-')
      await batchesOf(s, minReadySeconds)
      expect((await s.get()).status).toMatchObject({ replicas: 3, updatedReplicas: 3, availableReplicas: 3 })
    })

    it('gate off, on, off in the middle of a rollout', async () => {
      const off = { MaxUnavailableStatefulSet: false }
      const s = await running(policy, 6, { maxUnavailable: 3 }, minReadySeconds)
      await s.setImage('app:2')
      expect(await goingOf(s)).toEqual([5, 4, 3])
      await s.restart({ controllers: off })
      // Those that go are waited for, all of them, and then it is one at a time.
      await s.reap()
      await s.report('ready', 3)
      expect(await goingOf(s)).toEqual([])
      await s.pass(minReadySeconds * 1000)
      await comeBack(s, minReadySeconds)
      expect(await goingOf(s)).toEqual([2])
      await s.restart()
      expect(await goingOf(s)).toEqual(policy === 'OrderedReady' ? [2] : [2, 1, 0])
      await s.restart({ controllers: off })
      expect(await batchesOf(s, minReadySeconds)).toEqual(policy === 'OrderedReady' ? [[2], [1], [0]] : [[2, 1, 0]])
      expect((await s.get()).spec.updateStrategy.rollingUpdate!.maxUnavailable).toBe(3)
    })
  })

  it('who is ready first: the lower one lets the next go in Parallel only, so that two are always under way', async () => {
    const s = await running(policy, 5, { maxUnavailable: 2 })
    await s.setImage('app:2')
    await s.reap()
    await s.report('ready', 3)
    expect(await s.places()).toBe(policy === 'OrderedReady' ? '0 1 2 3 4!' : '0 1 2- 3 4!')
  })
})

describe('an outdated pod that is broken', () => {
  const broken = async (policy: Policy, annotations: Record<string, string> = {}) => {
    const s = await StatefulSetScene.of()
    await s.create(3, { podManagementPolicy: policy }, { annotations })
    await s.settle()
    await s.setImage('no-such-image')
    await s.reap()
    await s.report({ waiting: 'ImagePullBackOff' }, 2)
    await s.setImage('app:3')
    return s
  }

  it('blocks its own repair in OrderedReady, as in Kubernetes', async () => {
    const s = await broken('OrderedReady')
    expect(await s.places()).toBe('0 1 2!')
    await s.pass(600_000)
    expect(await s.places()).toBe('0 1 2!')
  })

  it('is replaced in OrderedReady where that is asked for', async () => {
    const s = await broken('OrderedReady', { 'coxswain.dev/recover-broken-rollout': 'true' })
    expect(await s.places()).toBe('0 1 2-')
    await s.settle()
    expect((await s.get()).status).toMatchObject({ updatedReplicas: 3, availableReplicas: 3 })
  })

  it('is replaced in Parallel, whatever the budget, and others wait for it', async () => {
    const s = await broken('Parallel')
    expect(await s.places()).toBe('0 1 2-')
    await s.settle()
    expect((await s.get()).status).toMatchObject({ updatedReplicas: 3, availableReplicas: 3 })
  })

  it('is left alone in Parallel if it has recovered before that was seen: it is healthy, and there is no budget for it', async () => {
    const s = await StatefulSetScene.of()
    await s.create(3, { podManagementPolicy: 'Parallel' })
    await s.settle()
    await s.report('unready', 0)
    s.scene.wire.delaysMs.set('pods', 5000)
    await s.report('ready', 0)
    await s.setImage('app:2')
    expect(await s.places()).toBe('0 1 2')
    await s.pass(20_000)
    expect(await s.places()).toBe('0 1 2-')
  })
})

/** The list by which the KEP's authors tried upgrades and downgrades by hand. A version without the feature is one whose gate is off. */
describe.each(policies)('upgrade, downgrade, upgrade: %s', (policy) => {
  const without = { server: { MaxUnavailableStatefulSet: false } }

  it('with server and controllers of one version', async () => {
    const a = await StatefulSetScene.of(without.server)
    await a.restart()
    await running(policy, 6, { maxUnavailable: 3 }, 0, a)
    await a.setImage('app:2')
    expect(await batchesOf(a)).toEqual([[5, 4, 3], [2, 1, 0]])

    await a.restart(without)
    expect((await a.get()).spec.updateStrategy.rollingUpdate).toEqual({ partition: 0, maxUnavailable: 3 })
    await a.setImage('app:3')
    expect(await batchesOf(a)).toEqual([[5], [4], [3], [2], [1], [0]])
    const b = await running(policy, 3, {}, 0, a.another('b'))

    await a.restart()
    await b.setImage('app:2')
    expect(await batchesOf(b)).toEqual([[2], [1], [0]])
    await a.change({ updateStrategy: { rollingUpdate: { maxUnavailable: 2 } } })
    await a.setImage('app:4')
    expect(await batchesOf(a)).toEqual([[5, 4], [3, 2], [1, 0]])
  })

  const all = [[3, 2], [1, 0]]
  const oneByOne = [[3], [2], [1], [0]]
  it.each<[string, boolean, boolean, number[][], number | undefined]>([
    ['both with it', true, true, all, 2],
    ['the controllers without it: it is kept and ignored', true, false, oneByOne, 2],
    ['the server without it: it is dropped', false, true, oneByOne, undefined],
    ['both without it', false, false, oneByOne, undefined],
  ])('of a new set: %s', async (_, server, controllers, batches, kept) => {
    const s = await StatefulSetScene.of()
    await s.restart({ server: { MaxUnavailableStatefulSet: server }, controllers: { MaxUnavailableStatefulSet: controllers } })
    await running(policy, 4, { maxUnavailable: 2 }, 0, s)
    expect((await s.get()).spec.updateStrategy.rollingUpdate!.maxUnavailable).toBe(kept)
    await s.setImage('app:2')
    expect(await batchesOf(s)).toEqual(batches)
  })

  it.each<[string, boolean, boolean, number[][]]>([
    ['the server without it keeps what is there', false, true, all],
    ['the controllers without it ignore it', true, false, oneByOne],
  ])('of a set that has it: %s', async (_, server, controllers, batches) => {
    const s = await running(policy, 4, { maxUnavailable: 2 })
    await s.restart({ server: { MaxUnavailableStatefulSet: server }, controllers: { MaxUnavailableStatefulSet: controllers } })
    await s.setImage('app:2')
    expect(await batchesOf(s)).toEqual(batches)
    expect((await s.get()).spec.updateStrategy.rollingUpdate!.maxUnavailable).toBe(2)
  })
})
