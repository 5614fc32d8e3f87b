import { describe, expect, it } from 'vitest'
import { soonest } from '../../base/soonest.ts'
import type { Pod, PodDisruptionBudget } from '../generated/types.ts'
import { type Cause, byName, byWeight, sentenceOf, worstOf } from './cause.ts'
import { at, condition, ended, podOf, podWith, readyPod, timeAt, waiting } from './sample.ts'
import {
  type Workload, type WorkloadObject, causeIn, explain, firstOf, onDeleteCause, recoveryAnnotation,
} from './workload-causes.ts'

const named = (name: string, pod: Pod): Pod => ({ ...pod, metadata: { ...pod.metadata, name } })

const broken = (name: string) => named(name, podWith(waiting('ErrImagePull', 'no')))
const crashing = (name: string) =>
  named(name, podWith(waiting('CrashLoopBackOff'), { lastState: ended(1), restartCount: 2 }))
const gated = (name: string) =>
  named(name, podOf({
    spec: { nodeName: undefined, schedulingGates: [{ name: 'a' }] },
    status: { conditions: [condition('PodScheduled', 'False', 2, { reason: 'SchedulingGated' })] },
  }))
const young = (name: string) => named(name, readyPod({ status: { conditions: [condition('Ready', 'True', 95)] } }))
const fresh = (name: string) => named(name, podOf())
const going = (name: string) =>
  named(name, podOf({ metadata: { deletionTimestamp: timeAt(110), deletionGracePeriodSeconds: 30 } }))
const healthy = (name: string) => named(name, readyPod())

const workload = (pods: readonly Pod[], over: Partial<Workload> = {}, object: Partial<WorkloadObject> = {}): Workload =>
  ({
  kind: 'StatefulSet',
  object: { metadata: { name: 'web', namespace: 'default' }, ...object } as WorkloadObject,
  pods,
  around: { nowMs: at(100), minReadySeconds: 10 },
  ...over,
})
/** The first cause of a workload, and when a cause of its pods changes without an event, as rosters keep them. */
function firstCause(given: Workload) {
  const causesOf = (pods: Iterable<Pod> = []) => [...pods].map((pod) => causeIn(given, pod))
  const [staying, leaving] = [causesOf(given.pods), causesOf(given.going)]
  return {
    cause: firstOf(given, worstOf(staying), worstOf(leaving)),
    changesAtMs: soonest(...[...staying, ...leaving].map((cause) => cause?.changesAtMs)),
  }
}

const refusal = { what: 'CreateRefused', message: 'exceeded quota: q.', since: timeAt(40) } as const

/** `web-1 ImagePull`. */
const gist = ({ object: { name }, what }: Cause) => `${name} ${what}`

describe('the order of causes', () => {
  const all = [young('web-1'), fresh('web-2'), gated('web-3'), healthy('web-4'), broken('web-10'), crashing('web-9')]
  const wanted = [
    'web-9 CrashLoop',
    'web-10 ImagePull', 'web-3 SchedulingGated', 'web-1 MinReadySeconds', 'web-2 Starting',
  ]

  it.each<[string, readonly Pod[], Partial<Workload>, string[]]>([
    ['trouble, held, timed, starting, and among equals by name as people count', all, {}, wanted],
    ['the same in another order of pods', all.toReversed(), {}, wanted],
    ['a refusal before everything', all, { refusal }, ['web CreateRefused', ...wanted]],
    [
      'pods that are being deleted among those that start',
      [going('web-1'), fresh('web-0')], {}, ['web-0 Starting', 'web-1 Terminating'],
    ],
    [
      'the words of the plan after pods that merely start',
      [fresh('web-1')], { wait: 'it waits' }, ['web-1 Starting', 'web Waiting'],
    ],
    ['no words of the plan beside trouble', [broken('web-1')], { wait: 'it waits' }, ['web-1 ImagePull']],
    ['no words of the plan beside what is held', [gated('web-1')], { wait: 'it waits' }, ['web-1 SchedulingGated']],
    ['the words of the plan alone', [healthy('web-1')], { wait: 'it waits' }, ['web Waiting']],
    ['nothing', [healthy('web-1')], {}, []],
  ])('%s', (_, pods, over, expected) => {
    const causes = explain(workload(pods, over))
    expect(causes.map(gist)).toEqual(expected)
    expect(firstCause(workload(pods, over)).cause).toEqual(causes[0])
  })

  it('counts as people do', () => {
    expect(['web-10', 'web-2', 'db-3', 'web-1'].sort(byName)).toEqual(['db-3', 'web-1', 'web-2', 'web-10'])
  })

  it('worstOf() is the first by weight, then by name', () => {
    const causes = explain(workload(all))
    expect(worstOf([undefined, ...causes.toReversed()])).toBe(causes[0])
    expect(worstOf([undefined])).toBeUndefined()
    expect(causes.toReversed().sort(byWeight)).toEqual(causes)
  })
})

describe('pods that are going and keep nobody waiting', () => {
  const late = named('a-0', podOf({ metadata: { deletionTimestamp: timeAt(10) } }))

  it.each<[string, readonly Pod[], readonly Pod[], string | undefined]>([
    ['are named where nothing else is', [healthy('web-1')], [late], 'a-0 TerminationHangs'],
    ['are named before pods that merely start', [fresh('web-1')], [late], 'a-0 TerminationHangs'],
    ['are not named before pods in trouble', [broken('web-1')], [late], 'web-1 ImagePull'],
    ['are not named before pods that are held', [gated('web-1')], [late], 'web-1 SchedulingGated'],
    ['are not named before pods that start, while they have time', [fresh('web-1')], [going('a-0')], 'web-1 Starting'],
    ['are named in time where there is nothing else', [], [going('a-0')], 'a-0 Terminating'],
    ['are nothing where there are none', [], [], undefined],
  ])('%s', (_, pods, leaving, expected) => {
    const { cause } = firstCause(workload(pods, { going: leaving }))
    expect(cause && gist(cause)).toBe(expected)
  })
})

describe('the time at which a cause changes by itself', () => {
  it.each<[string, readonly Pod[], number | undefined]>([
    [
      'the first pod that is available',
      [young('web-1'), named('web-2', readyPod({ status: { conditions: [condition('Ready', 'True', 92)] } }))], 102,
    ],
    ['a pod that is late', [going('web-1')], 120],
    ['the sooner of both', [going('web-1'), young('web-2')], 105],
    ['beside trouble', [broken('web-1'), young('web-2')], 105],
    ['none', [broken('web-1'), fresh('web-2')], undefined],
  ])('%s', (_, pods, seconds) => {
    expect(firstCause(workload(pods)).changesAtMs).toBe(seconds === undefined ? undefined : at(seconds))
  })
})

describe('refusals', () => {
  it.each<[Workload['refusal'], string]>([
    [refusal, `StatefulSet web cannot create a pod: exceeded quota: q, since ${timeAt(40)}.`],
    [{ what: 'DeleteRefused', message: 'no' }, 'StatefulSet web cannot delete a pod: no.'],
    [{ what: 'UpdateRefused', message: 'no' }, 'StatefulSet web cannot update a pod: no.'],
  ])('%o', (some, sentence) => {
    const { cause } = firstCause(workload([broken('web-1')], { refusal: some }))
    expect(sentenceOf(cause!)).toBe(sentence)
    expect(cause).toMatchObject({ weight: 'trouble', help: expect.stringMatching(/^\S.+\.$/) as string })
  })
})

describe('a broken pod of an old revision', () => {
  const isUpdated = () => false
  const spec = { updateStrategy: { type: 'RollingUpdate' }, podManagementPolicy: 'OrderedReady' }
  const cause = (over: Partial<Workload> = {}, object: object = {}, pod: Pod = broken('web-1')) =>
    firstCause(workload([pod], { isUpdated, ...over }, { spec, ...object })).cause!

  it('is told with the way out', () => {
    const told = cause()
    expect(told.what).toBe('BrokenOldPod')
    expect(sentenceOf(told)).toBe(
      'Pod web-1 cannot pull image "app:1" for container "main": no; ' +
        'it is of an old revision and keeps the new one from being rolled out: ' +
        `delete it manually, or annotate the set with coxswain.dev/recover-broken-rollout=true, since ${timeAt(5)}.`,
    )
    expect(told.help).toBe(
      'kubectl delete pod web-1, or kubectl annotate statefulset web coxswain.dev/recover-broken-rollout=true.',
    )
  })

  it.each<[string, Cause, string]>([
    [
      'the set has the annotation',
      cause({}, { metadata: { name: 'web', annotations: { [recoveryAnnotation]: 'true' } } }), 'ImagePull',
    ],
    [
      'the annotation says no',
      cause({}, { metadata: { name: 'web', annotations: { [recoveryAnnotation]: 'false' } } }), 'BrokenOldPod',
    ],
    ['it is of the new revision', cause({ isUpdated: () => true }), 'ImagePull'],
    ['nobody knows its revision', cause({ isUpdated: undefined as never }), 'ImagePull'],
    ['pods are replaced in parallel', cause({}, { spec: { ...spec, podManagementPolicy: 'Parallel' } }), 'ImagePull'],
    ['pods are replaced by hand', cause({}, { spec: { ...spec, updateStrategy: { type: 'OnDelete' } } }), 'ImagePull'],
    ['another kind', cause({ kind: 'CloneSet' }), 'ImagePull'],
    ['it merely starts', cause({}, {}, fresh('web-1')), 'Starting'],
    ['it is going', cause({}, {}, going('web-1')), 'Terminating'],
  ])('%s', (_, { what }, expected) => {
    expect(what).toBe(expected)
  })
})

describe('what the workload itself waits for', () => {
  const metadata = { name: 'web', namespace: 'default' }
  const progressing = (reason: string) => ({ conditions: [condition('Progressing', 'True', 60, { reason })] })
  const old = [healthy('web-1'), healthy('web-0')]

  it.each<[string, Partial<Workload>, object, string]>([
    [
      'paused',
      { kind: 'Deployment' }, { spec: { paused: true }, status: progressing('DeploymentPaused') },
      `Paused held: Deployment web is paused, since ${timeAt(60)}.`,
    ],
    [
      'a paused CloneSet',
      { kind: 'CloneSet' }, { spec: { updateStrategy: { paused: true } } }, 'Paused held: CloneSet web is paused.',
    ],
    [
      'suspended', { kind: 'Job' },
      { spec: { suspend: true }, status: { conditions: [condition('Suspended', 'True', 30)] } },
      `Suspended held: Job web is suspended, since ${timeAt(30)}.`,
    ],
    [
      'held by a partition',
      {},
      { status: { conditions: [condition('Progressing', 'True', 10, { reason: 'PartitionReached', lastUpdateTime: timeAt(60) })] } },
      `PartitionReached held: StatefulSet web is held by its partition, since ${timeAt(60)}.`,
    ],
    [
      'OnDelete', { pods: old, isUpdated: () => false }, { spec: { updateStrategy: { type: 'OnDelete' } } },
      'OnDelete held: StatefulSet web waits for you to delete 2 outdated pods, such as web-0 (OnDelete).',
    ],
    [
      'a Job after failures', { kind: 'Job' },
      {
        status: {
          conditions: [
            condition(
              'Waiting', 'False', 9,
              { message: `After 2 failures in a row, the next pod is due at ${timeAt(900)}. Pod x` },
            ),
          ],
        },
      },
      `BackOff timed: Job web backs off: after 2 failures in a row, the next pod is due at ${timeAt(900)}.`,
    ],
    [
      'deleted with a finalizer', {},
      { metadata: { ...metadata, deletionTimestamp: timeAt(20), finalizers: ['a/b', 'c/d'] } },
      `Finalizer held: StatefulSet web is being deleted and is held by finalizers "a/b", "c/d", since ${timeAt(20)}.`,
    ],
    [
      'deleted after all that it owns', {},
      { metadata: { ...metadata, deletionTimestamp: timeAt(20), finalizers: ['foregroundDeletion'] } },
      'Terminating starting: StatefulSet web is deleted after all its dependents (foregroundDeletion), ' +
        `since ${timeAt(20)}.`,
    ],
    [
      'not observed', {}, { metadata: { ...metadata, generation: 5 }, status: { observedGeneration: 3 } },
      'NotObserved trouble: StatefulSet web is at generation 5, of which its controller has observed 3.',
    ],
  ])('%s', (_, over, object, expected) => {
    const causes = explain(workload([], over, { metadata, ...object } as Partial<WorkloadObject>))
    expect(causes.map((cause) => `${cause.what} ${cause.weight}: ${sentenceOf(cause)}`)).toEqual([expected])
    expect(causes[0]!.help).toMatch(/^\S.+\.$/)
  })

  it.each<[string, object]>([
    ['observed', { metadata: { ...metadata, generation: 5 }, status: { observedGeneration: 5 } }],
    ['a kind that does not say what it has observed', { metadata: { ...metadata, generation: 5 }, status: {} }],
    ['going, without a finalizer', { metadata: { ...metadata, deletionTimestamp: timeAt(20) } }],
    ['not paused', { spec: { paused: false, suspend: false, updateStrategy: { type: 'OnDelete' } } }],
  ])('nothing: %s', (_, object) => {
    expect(explain(workload([], { isUpdated: () => false }, { metadata, ...object }))).toEqual([])
  })

  it('comes after the pods in trouble, and before those that merely start', () => {
    const causes = explain(
      workload([fresh('web-1'), broken('web-0')], { kind: 'Deployment' }, { spec: { paused: true } }),
    )
    expect(causes.map(gist)).toEqual(['web-0 ImagePull', 'web Paused', 'web-1 Starting'])
  })

  it('takes the place of the words of the plan', () => {
    const causes = explain(workload([], { wait: 'it is paused' }, { spec: { paused: true } }))
    expect(causes.map(gist)).toEqual(['web Paused'])
  })

  it('one outdated pod is one', () => {
    const text = 'StatefulSet web waits for you to delete 1 outdated pod, such as web-1 (OnDelete).'
    expect(sentenceOf(onDeleteCause(workload([]), ['web-1']))).toBe(text)
  })
})

describe('disruption budgets', () => {
  const budget = (disruptionsAllowed: number | undefined): PodDisruptionBudget => {
    const status = { disruptionsAllowed, currentHealthy: 1, desiredHealthy: 2, expectedPods: 2 }
    const metadata = { name: 'pdb', namespace: 'default' }
    return { metadata, ...(disruptionsAllowed === undefined ? {} : { status }) } as PodDisruptionBudget
  }

  it.each<[string, number | undefined, string[]]>([
    [
      'that allow no eviction are told',
      0, ['PodDisruptionBudget pdb allows no eviction: 1 of at least 2 pods are healthy.'],
    ],
    ['that allow one are not', 1, []],
    ['that nobody has judged yet are not', undefined, []],
  ])('%s', (_, allowed, expected) => {
    const causes = explain(workload([healthy('web-0')], { budgets: [budget(allowed)] }))
    expect(causes.map(sentenceOf)).toEqual(expected)
    for (const cause of causes) expect(cause).toMatchObject({ what: 'DisruptionBudget', weight: 'held' })
  })
})
