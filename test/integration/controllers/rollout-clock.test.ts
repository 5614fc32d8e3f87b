import { describe, expect, it } from 'vitest'
import { nodes, pods } from '../../../src/client/index.ts'
import { EveryKindScene, type KindName, isReady, rollingKinds } from './every-kind-scene.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const exceeded = 'False ProgressDeadlineExceeded'
const noDeadline = 2_147_483_647

/** A scene with one workload of a kind that wants two pods. */
async function begun(name: KindName, spec: object): Promise<EveryKindScene> {
  const s = await EveryKindScene.begin('n1', 'n2')
  await s.create(name, {}, { ...(name === 'daemonset' ? {} : { replicas: 2 }), ...spec })
  return s
}

/** The same, complete. */
async function complete(name: KindName, spec: object = {}): Promise<EveryKindScene> {
  const s = await begun(name, { progressDeadlineSeconds: 60, ...spec })
  await s.settle(name)
  await s.pass(second)
  expect(await s.says(name)).toMatch(/^True New(ReplicaSet|Revision)Available$/)
  return s
}

const clockOf = async (s: EveryKindScene, name: KindName) => Date.parse((await s.condition(name))!.lastUpdateTime!)
const passUntil = (s: EveryKindScene, ms: number) => s.pass(ms - s.scene.clock.now())

const progressEvent = /^(\w+ (?:ProgressDeadlineExceeded|RolloutComplete|RolloutRecovered)) ×(\d+)/

/** The events about the progress of a workload with their number: `Warning ProgressDeadlineExceeded ×1`. */
async function told(s: EveryKindScene, name: KindName): Promise<string[]> {
  const counts = new Map<string, number>()
  for (const line of await s.scene.events(name)) {
    const [, what = '', count] = progressEvent.exec(line) ?? []
    if (what) counts.set(what, (counts.get(what) ?? 0) + Number(count))
  }
  return [...counts].map(([what, count]) => `${what} ×${count}`).sort()
}

describe.each(
  rollingKinds.map((name) => ({ name })),
)('$name: a pod that becomes ready and crashes, again and again', ({ name }) => {
  /** Has all pods be ready for so long, and not for so long, and gathers what Progressing says from time to time. */
  async function flap(s: EveryKindScene, readyMs: number, crashedMs: number, rounds: number): Promise<string[]> {
    const said: string[] = []
    const note = async () => {
      const now = await s.says(name)
      if (said.at(-1) !== now) said.push(now)
    }
    for (let round = 0; round < rounds; round++) {
      for (const pod of await s.pods(name)) await s.ready(pod)
      await s.pass(readyMs)
      await note()
      for (const pod of await s.pods(name)) await s.unready(pod)
      await s.pass(crashedMs)
      await note()
    }
    return said
  }

  it('is no progress: ten minutes without any are told, though minReadySeconds never pass', async () => {
    const s = await begun(name, { progressDeadlineSeconds: 600, minReadySeconds: 20 })
    const said = await flap(s, 10 * second, 5 * second, 84)
    expect(said.at(-1)).toBe(exceeded)
    expect(said.filter((text) => text === exceeded)).toHaveLength(1)
    expect(await told(s, name)).toEqual(['Warning ProgressDeadlineExceeded ×1'])
  })

  it('does not make the condition flap where the deadline is shorter than a round', async () => {
    const s = await begun(name, { progressDeadlineSeconds: 15, minReadySeconds: 10 })
    const said = await flap(s, 5 * second, 35 * second, 10)
    expect(said.slice(said.indexOf(exceeded))).toEqual([exceeded])
    expect(await told(s, name)).toEqual(['Warning ProgressDeadlineExceeded ×1'])
  })
})

describe.each(rollingKinds.map((name) => ({ name })))('$name: the deadline is changed', ({ name }) => {
  const deadline = (progressDeadlineSeconds: number) => ({ progressDeadlineSeconds })
  /** A Deployment without a deadline has no condition Progressing, as in Kubernetes. */
  const endless = name === 'deployment' ? 'nothing' : 'True'

  /** [case, deadline, changed after seconds, to, what is said then, at which second it is exceeded] */
  it.each<[string, number, number, number, string, number | undefined]>([
    ['raised before it has passed', 60, 50, 120, 'True', 120],
    ['raised after it has passed', 60, 70, 120, 'True', 120],
    ['raised after it has passed, not far enough', 60, 90, 80, 'False', 0],
    ['lowered to a time that is to come', 600, 30, 60, 'True', 60],
    ['lowered to a time that has passed', 600, 90, 60, 'False', 0],
    ['lowered after it has passed', 60, 70, 30, 'False', 0],
    ['taken away before it has passed', 60, 50, noDeadline, endless, undefined],
    ['taken away after it has passed', 60, 70, noDeadline, endless, undefined],
  ])('%s', async (_, before, changedAt, after, then, exceededAt) => {
    const s = await begun(name, deadline(before))
    await s.pass(second)
    const start = await clockOf(s, name)
    await passUntil(s, start + changedAt * second)
    await s.change(name, deadline(after))
    expect((await s.says(name)).split(' ')[0]).toBe(then)
    if (exceededAt === undefined) {
      await s.pass(24 * hour)
      expect((await s.says(name)).split(' ')[0]).toBe(then)
      return
    }
    if (then === 'True') {
      await passUntil(s, start + (exceededAt - 1) * second)
      expect([(await s.says(name)).split(' ')[0], await clockOf(s, name)]).toEqual(['True', start])
      await passUntil(s, start + (exceededAt + 1) * second)
    }
    expect([await s.says(name), await clockOf(s, name)]).toEqual([exceeded, start])
  })
})

describe.each(
  rollingKinds.map((name) => ({ name })),
)('$name: a rollout that is complete stays complete', ({ name }) => {
  it.each<[string, (s: EveryKindScene) => Promise<unknown>]>([
    ['a pod is not ready any more', async (s) => s.unready(await s.pod(name))],
    [
      'a pod has failed',
      async (s) => s.report(await s.pod(name), { phase: 'Failed', conditions: [{ type: 'Ready', status: 'False' }] }),
    ],
    [
      'a pod is deleted',
      async (s) => {
        const pod = await s.pod(name)
        await s.client.delete(pods, 'default', pod.metadata.name!)
        await s.unready(pod)
      },
    ],
  ])('%s', async (_, harm) => {
    const s = await complete(name, name === 'deployment' ? { strategy: { rollingUpdate: { maxUnavailable: 0 } } } : {})
    const before = await s.condition(name)
    await harm(s)
    await s.pass(second)
    expect(
      [await s.condition(name), await s.says(name, 'Available')],
    ).toEqual([before, 'False MinimumReplicasUnavailable'])
    await s.pass(hour)
    expect(await s.condition(name)).toEqual(before)
    await s.settle(name)
    await s.pass(10 * minute)
    await s.settle(name)
    expect(
      [await s.condition(name), await s.says(name, 'Available')],
    ).toEqual([before, 'True MinimumReplicasAvailable'])
    expect(await told(s, name)).toEqual(['Normal RolloutComplete ×1'])
  })
})

describe('daemonset: what becomes of a node after the rollout is for Available to tell', () => {
  const name = 'daemonset'
  const onSecond = async (s: EveryKindScene) => (await s.pods(name)).find(({ spec }) => spec.nodeName === 'n2')!
  const taint = (...keys: string[]) => (s: EveryKindScene) =>
    s.client.patch(
      nodes, '', 'n2', { spec: { taints: keys.map((key) => ({ key, effect: 'NoSchedule' })) } }, { type: 'merge' },
    )
  /** The actions of the node life cycle controller for a lost node, without its taints. */
  const lose = async (s: EveryKindScene) => {
    await s.setNode('Unknown', { reason: 'NodeStatusUnknown' }, 'n2')
    await s.report(await onSecond(s), { conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: s.now }] })
  }
  const comeBack = async (s: EveryKindScene) => {
    await s.setNode('True', { reason: 'KubeletReady' }, 'n2')
    await s.client.patch(nodes, '', 'n2', { spec: { taints: null, unschedulable: null } }, { type: 'merge' })
    await s.settle(name)
  }
  const cordon = async (s: EveryKindScene) => {
    await s.client.patch(nodes, '', 'n2', { spec: { unschedulable: true } }, { type: 'merge' })
    await taint('node.kubernetes.io/unschedulable')(s)
  }
  const lost = 'False 1 of 2 nodes has an available pod. ' +
    'Pod POD is on node n2, which has stopped reporting, since TIME.'
  const all = 'True 2 of 2 nodes have an available pod.'
  const one = 'True 1 of 1 node has an available pod.'
  const later = (s: EveryKindScene) => s.pass(10 * minute)
  const deletePod = async (s: EveryKindScene) => s.client.delete(pods, 'default', (await onSecond(s)).metadata.name!)

  it.each<[string, ((s: EveryKindScene) => Promise<unknown>)[], string]>([
    ['is lost', [lose], lost],
    // As in Kubernetes, a node with this taint is not counted among those that are to have a pod.
    ['is lost and tainted', [lose, taint('node.kubernetes.io/unreachable')], one],
    ['is lost and back', [lose, later, comeBack], all],
    ['is cordoned', [cordon], all],
    ['is cordoned and drained', [cordon, deletePod, (s) => s.reap(name)], 'False 1 of 2 nodes has an available pod.'],
    ['is tainted so that no pod is made there', [taint('example.com/broken')], one],
    ['is tainted and free again', [taint('example.com/broken'), later, comeBack], all],
    ['is deleted', [(s) => s.client.delete(nodes, '', 'n2'), deletePod, (s) => s.reap(name)], one],
  ])('%s', async (_, harm, expected) => {
    const s = await complete(name)
    const before = await s.condition(name)
    const pod = (await onSecond(s)).metadata.name!
    for (const step of harm) await step(s)
    await s.pass(2 * minute)
    await s.change(name, { revisionHistoryLimit: 3 })
    const { status, message = '' } = (await s.condition(name, 'Available'))!
    expect(`${status} ${message.replace(pod, 'POD').replace(/20\d\d-[\d:T-]+Z/, 'TIME')}`).toBe(expected)
    expect(await s.condition(name)).toEqual(before)
    await s.pass(hour)
    expect(await s.condition(name)).toEqual(before)
    expect(await told(s, name)).toEqual(['Normal RolloutComplete ×1'])
  })
})

describe('a canary that is held is no failed rollout', () => {
  it.each<[KindName, object]>([
    ['statefulset', { updateStrategy: { rollingUpdate: { partition: 2 } } }],
    ['parallel', { updateStrategy: { rollingUpdate: { partition: 2 } } }],
    ['cloneset', { updateStrategy: { partition: 2 } }],
  ])('%s: whatever becomes of a pod of the old revision', async (name, spec) => {
    const s = await complete(name, { replicas: 3, ...spec })
    const old = async () =>
      (await s.pods(name)).find((pod) => pod.spec.containers[0]!.image === 'app:1' && isReady(pod))!
    await s.setImage(name, 'app:2')
    await s.reap(name)
    await s.unready(await old())
    await s.pass(second)
    const canary = (await s.pods(name)).find((pod) => pod.spec.containers[0]!.image === 'app:2')!
    await s.ready(canary)
    await s.pass(second)
    const held = await s.condition(name)
    expect(`${held!.status} ${held!.reason}`).toBe('True PartitionReached')
    await s.pass(hour)
    expect(
      [await s.condition(name), await s.says(name, 'Available')],
    ).toEqual([held, 'False MinimumReplicasUnavailable'])
    expect(await told(s, name)).toEqual(['Normal RolloutComplete ×1'])
  })

  it.each<[KindName, (paused: boolean) => object]>([
    ['deployment', (paused) => ({ paused })],
    ['cloneset', (paused) => ({ updateStrategy: { paused } })],
  ])('%s: while it is paused', async (name, paused) => {
    const s = await complete(
      name, { replicas: 3, ...(name === 'deployment' ? { strategy: { rollingUpdate: { maxUnavailable: 0 } } } : {}) },
    )
    await s.change(name, paused(true))
    await s.setImage(name, 'app:2')
    await s.unready(await s.pod(name))
    await s.pass(hour)
    expect([await s.says(name), await s.says(name, 'Available')]).toEqual([
      expect.stringMatching(/^Unknown (Deployment|Rollout)Paused$/), 'False MinimumReplicasUnavailable',
    ])
    await s.change(name, paused(false))
    await s.pass(30 * second)
    expect(await s.says(name)).not.toBe(exceeded)
    expect(await told(s, name)).toEqual(['Normal RolloutComplete ×1'])
    await s.pass(2 * minute)
    expect([await s.says(name), await told(s, name)]).toEqual(
      [exceeded, ['Normal RolloutComplete ×1', 'Warning ProgressDeadlineExceeded ×1']],
    )
  })
})

describe.each(rollingKinds.map((name) => ({ name })))('$name: the controllers are restarted', ({ name }) => {
  it('in the middle of a rollout: the mark and the clock are kept', async () => {
    const s = await begun(name, { progressDeadlineSeconds: 60 })
    await s.ready(await s.pod(name))
    await s.pass(second)
    const before = (await s.condition(name))!
    expect(before.progress).toMatchObject(
      { revision: expect.any(String) as string, desiredReplicas: 2, readyReplicas: 1 },
    )
    const start = await clockOf(s, name)
    await passUntil(s, start + 30 * second)
    await s.restart(5 * second)
    expect(await s.condition(name)).toEqual(before)
    await passUntil(s, start + 59 * second)
    expect((await s.condition(name))!.status).toBe('True')
    await passUntil(s, start + 61 * second)
    expect(await s.says(name)).toBe(exceeded)
    await s.restart()
    await s.pass(minute)
    expect(await told(s, name)).toEqual(['Warning ProgressDeadlineExceeded ×1'])
  })

  it('while a pod was ready and crashed again: it is no progress that it is ready again', async () => {
    const s = await begun(name, { progressDeadlineSeconds: 60 })
    const pod = await s.pod(name)
    await s.ready(pod)
    await s.pass(second)
    const start = await clockOf(s, name)
    await s.unready(pod)
    await s.restart(10 * second)
    await s.ready(pod)
    await s.pass(second)
    expect(await clockOf(s, name)).toBe(start)
    await passUntil(s, start + 61 * second)
    expect(await s.says(name)).toBe(exceeded)
  })
})

describe.each(rollingKinds.map((name) => ({ name })))('$name: events', ({ name }) => {
  it('tell once that a deadline has passed, that the rollout goes on, and that it is complete', async () => {
    const s = await begun(name, { progressDeadlineSeconds: 60 })
    await s.pass(3 * minute)
    expect(await told(s, name)).toEqual(['Warning ProgressDeadlineExceeded ×1'])
    await s.ready(await s.pod(name))
    await s.pass(second)
    expect(await told(s, name)).toEqual(['Normal RolloutRecovered ×1', 'Warning ProgressDeadlineExceeded ×1'])
    await s.pass(3 * minute)
    expect(await told(s, name)).toEqual(['Normal RolloutRecovered ×1', 'Warning ProgressDeadlineExceeded ×2'])
    await s.settle(name)
    await s.pass(hour)
    const all = ['Normal RolloutComplete ×1', 'Normal RolloutRecovered ×1', 'Warning ProgressDeadlineExceeded ×2']
    expect(await told(s, name)).toEqual(all)
    await s.setImage(name, 'app:2')
    await s.settle(name)
    await s.pass(hour)
    expect(await told(s, name)).toEqual(['Normal RolloutComplete ×2', ...all.slice(1)])
  })
})

it.each(rollingKinds)('a %s says that its rollout moves as soon as there is a pod of the new revision', async (name) => {
  const s = await complete(name)
  const before = new Set((await s.pods(name)).map(({ metadata }) => metadata.uid))
  await s.setImage(name, 'app:2')
  await s.pass(second)
  await s.reap(name)
  await s.pass(second)
  expect((await s.pods(name)).some(({ metadata }) => !before.has(metadata.uid))).toBe(true)
  expect(await s.says(name)).toMatch(/^True (ReplicaSetUpdated|ReplicasUpdated)$/)
})
