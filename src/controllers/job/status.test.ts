import { describe, expect, it } from 'vitest'
import { notFound } from '../../api/errors.ts'
import type { JobStatus, Pod } from '../../api/generated/types.ts'
import type { Outcome } from '../kit/index.ts'
import { timestamp } from '../kit/workload/index.ts'
import type { Action } from './apply.ts'
import { type Sample, ago, conditions, nowMs, sample, samplePod as pod } from './sample.ts'
import { rememberedBackOff, status, statusMayWait } from './status.ts'

const started = { startTime: ago(60) }
const now = timestamp(nowMs)
const running = (name: string, more: object = {}) => pod(name, { phase: 'Running', isReady: true, ...more })
const after = (...done: Action[]): Outcome<Action> => ({ done, failed: [], skipped: [], wait: undefined })
const nothing = after()
const on = (kind: 'LetGoPod' | 'DropPod' | 'DeletePod', ...pods: Pod[]) => after(...pods.map((p) => ({ kind, pod: p })))

/** Without conditions. */
const counts = (seen: Sample, outcome: Outcome<Action> = nothing): JobStatus => {
  const { conditions: _, ...rest } = status(sample(seen), outcome)
  return rest
}
/** `Waiting=True/PodsPending` of those that are named. */
const said = (seen: Sample, outcome: Outcome<Action>, ...types: string[]): string[] =>
  (status(sample(seen), outcome).conditions ?? []).filter((c) => types.includes(c.type)).map((c) => `${c.type}=${c.status}/${c.reason}`)

describe('status() of a Job that runs', () => {
  const [ready, surplus, unbound] = [running('a'), running('b'), pod('c', { isBound: false })]
  it.each<[name: string, seen: Sample, outcome: Outcome<Action>, expected: JobStatus]>([
    ['starts its clock', { status: {} }, after({ kind: 'CreatePod' }), { startTime: now, active: 1 }],
    ['does not start it while it is suspended', { spec: { suspend: true }, status: {} }, nothing, { active: 0 }],
    ['stops it when it is suspended', { spec: { suspend: true } }, nothing, { active: 0 }],
    ['counts what runs, is ready, and goes', { pods: [ready, pod('b'), running('c', { deletedFor: 1, isTracked: false })] }, nothing, { ...started, active: 2, ready: 1, terminating: 1 }],
    ['counts what was dropped as going', { pods: [ready, surplus] }, on('DropPod', surplus), { ...started, active: 1, ready: 1, terminating: 1 }],
    ['but for what was on no node', { pods: [unbound] }, on('DropPod', unbound), { ...started, active: 0 }],
  ])('%s', (_, seen, outcome, expected) => {
    expect(counts(seen, outcome)).toEqual({ succeeded: 0, failed: 0, ready: 0, terminating: 0, uncountedTerminatedPods: {}, ...expected })
  })
})

describe('status() of pods that have ended', () => {
  const spec = { completions: 5, parallelism: 2 }
  const [good, bad] = [pod('good', { phase: 'Succeeded' }), pod('bad', { phase: 'Failed' })]
  const gone = pod('good', { phase: 'Succeeded', isTracked: false })
  const counted = (seen: Sample, outcome?: Outcome<Action>) => {
    const { succeeded, failed, uncountedTerminatedPods } = counts(seen, outcome)
    return { succeeded, failed, uncounted: uncountedTerminatedPods }
  }

  it('puts them on record first', () => {
    expect(counted({ spec, pods: [good, bad] })).toEqual({ succeeded: 0, failed: 0, uncounted: { succeeded: ['good'], failed: ['bad'] } })
  })

  it('counts them when they are let go', () => {
    const seen = { spec, status: { ...started, uncountedTerminatedPods: { succeeded: ['good'], failed: ['bad'] } }, pods: [good, bad] }
    expect(counted(seen, on('LetGoPod', good, bad))).toEqual({ succeeded: 1, failed: 1, uncounted: {} })
    expect(counted(seen, on('LetGoPod', bad))).toEqual({ succeeded: 0, failed: 1, uncounted: { succeeded: ['good'] } })
    expect(counted(seen)).toEqual({ succeeded: 0, failed: 0, uncounted: { succeeded: ['good'], failed: ['bad'] } })
  })

  it('counts those that were let go before somebody crashed', () => {
    const before = { ...started, succeeded: 2, uncountedTerminatedPods: { succeeded: ['good', 'deleted'] } }
    expect(counted({ spec, status: before, pods: [gone] })).toEqual({ succeeded: 4, failed: 0, uncounted: {} })
  })

  it('counts nothing that was counted', () => {
    expect(counted({ spec, status: { ...started, succeeded: 1 }, pods: [gone] })).toEqual({ succeeded: 1, failed: 0, uncounted: {} })
  })

  it('counts and puts on record in one write', () => {
    const seen = { spec, status: { ...started, uncountedTerminatedPods: { succeeded: ['good'] } }, pods: [good, bad] }
    expect(counted(seen, on('LetGoPod', good))).toEqual({ succeeded: 1, failed: 0, uncounted: { failed: ['bad'] } })
  })

  it('has no more than 500 on record', () => {
    const many = Array.from({ length: 600 }, (_, i) => pod(`p${i}`, { phase: 'Succeeded' }))
    expect(counted({ spec: { completions: 900 }, pods: many }).uncounted!.succeeded).toHaveLength(500)
  })

  it('has a pod on one record only, though it has ended otherwise than was written', () => {
    const seen = { spec, status: { ...started, conditions: conditions('FailureTarget'), uncountedTerminatedPods: { failed: ['good'] } }, pods: [good] }
    expect(counted(seen)).toEqual({ succeeded: 0, failed: 0, uncounted: { failed: ['good'] } })
  })

  it('knows indexes by themselves', () => {
    const indexed = { completionMode: 'Indexed', completions: 4, parallelism: 4, backoffLimitPerIndex: 0 }
    const pods = [pod('a', { phase: 'Succeeded', index: 1 }), pod('b', { phase: 'Succeeded', index: 2 }), pod('c', { phase: 'Failed', index: 3 })]
    const before = { ...started, completedIndexes: '0', succeeded: 1, failedIndexes: '' }
    expect(counts({ spec: indexed, status: before, pods })).toMatchObject({
      completedIndexes: '0-2',
      succeeded: 3,
      failedIndexes: '3',
      failed: 0,
      uncountedTerminatedPods: { failed: ['c'] },
    })
    expect(counts({ spec: indexed, status: {} })).toMatchObject({ completedIndexes: '', failedIndexes: '' })
  })

  it('forgets indexes that are not wanted any more', () => {
    const spec = { completionMode: 'Indexed', completions: 2, parallelism: 2 }
    expect(counts({ spec, status: { ...started, completedIndexes: '0-3', succeeded: 4 } })).toMatchObject({ completedIndexes: '0,1', succeeded: 2 })
  })

  it('does not count what the policy ignores', () => {
    const spec = { podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }] } }
    const evicted = pod('e', { phase: 'Failed', conditions: [{ type: 'DisruptionTarget', status: 'True' }] })
    expect(counted({ spec, pods: [evicted] }, on('LetGoPod', evicted))).toEqual({ succeeded: 0, failed: 0, uncounted: {} })
  })
})

describe('status() of a Job that ends', () => {
  const good = pod('good', { phase: 'Succeeded' })
  const all = ['SuccessCriteriaMet', 'FailureTarget', 'Complete', 'Failed'] as const

  it('declares it first', () => {
    expect(said({ pods: [good] }, nothing, ...all)).toEqual(['SuccessCriteriaMet=True/CompletionsReached'])
    expect(said({ spec: { backoffLimit: 0 }, pods: [pod('a', { phase: 'Failed' })] }, nothing, ...all)).toEqual(['FailureTarget=True/BackoffLimitExceeded'])
  })

  it('is complete when the last pod is let go', () => {
    const seen = { status: { ...started, conditions: conditions('SuccessCriteriaMet'), uncountedTerminatedPods: { succeeded: ['good'] } }, pods: [good] }
    expect(said(seen, nothing, 'Complete')).toEqual([])
    expect(said(seen, on('LetGoPod', good), 'Complete')).toEqual(['Complete=True/Because'])
    expect(counts(seen, on('LetGoPod', good))).toMatchObject({ succeeded: 1, completionTime: now })
  })

  it('is not complete before it has started, though its clock was set back', () => {
    expect(counts({ spec: { completions: 0 }, status: { startTime: ago(-60) } })).toMatchObject({ completionTime: ago(-60) })
  })

  it('has failed when the last pod is gone', () => {
    const failing = { ...started, conditions: conditions('FailureTarget') }
    const [run, going] = [running('r'), running('r', { deletedFor: 1 })]
    expect(counts({ status: failing, pods: [run] }, on('DeletePod', run))).toMatchObject({ active: 0, ready: 0, terminating: 1, uncountedTerminatedPods: { failed: ['r'] } })
    const onRecord = { ...failing, uncountedTerminatedPods: { failed: ['r'] } }
    expect(counts({ status: onRecord, pods: [going] }, on('LetGoPod', going))).toMatchObject({ failed: 1, terminating: 1, uncountedTerminatedPods: {} })
    expect(said({ status: onRecord, pods: [going] }, on('LetGoPod', going), 'Failed')).toEqual([])
    expect(said({ status: { ...failing, failed: 1 } }, nothing, 'Failed')).toEqual(['Failed=True/Because'])
    expect(counts({ status: { ...failing, failed: 1 } })).not.toHaveProperty('completionTime')
  })

  it('says nothing more once it is over', () => {
    const over = { ...started, active: 7, conditions: conditions('FailureTarget', 'Failed') }
    expect(status(sample({ status: over, pods: [running('a')] }), nothing)).toBe(over)
  })

  it('leaves alone what another controller manages', () => {
    expect(status(sample({ spec: { managedBy: 'example.com/x' }, status: {} }), nothing)).toEqual({})
  })

  it('times what it says', () => {
    const { conditions: [declared] = [] } = status(sample({ pods: [good] }), nothing)
    expect(declared).toMatchObject({ lastTransitionTime: now, lastProbeTime: now, message: 'Reached expected number of succeeded pods' })
  })
})

describe('status() of what users wait for', () => {
  const suspended = { spec: { suspend: true } }
  const create: Outcome<Action> = after({ kind: 'CreatePod' })
  it.each<[name: string, seen: Sample, outcome: Outcome<Action>, expected: string[]]>([
    ['a pod was just made', { status: {} }, create, ['Waiting=True/PodsPending', 'Running=False/NoPodsRunning']],
    ['one is pending', { pods: [pod('a')] }, nothing, ['Waiting=True/PodsPending', 'Running=False/NoPodsRunning']],
    ['one is pending, one runs', { pods: [pod('a'), running('b')] }, nothing, ['Waiting=False/PodsRunning', 'Running=True/PodsRunning']],
    ['there are none', { spec: { parallelism: 0 } }, nothing, ['Waiting=False/NoPods', 'Running=False/NoPodsRunning']],
    ['it backs off', { pods: [pod('a', { phase: 'Failed', endedFor: 2 })] }, nothing, ['Waiting=False/BackOff', 'Running=False/NoPodsRunning']],
    ['it is suspended', suspended, nothing, ['Waiting=True/JobSuspended', 'Running=False/NoPodsRunning']],
    ['it is suspended and a pod goes', { ...suspended, pods: [running('a', { deletedFor: 1 })] }, nothing, ['Waiting=True/JobSuspended', 'Running=True/PodsRunning']],
    ['it is over', { status: { ...started, conditions: conditions('SuccessCriteriaMet') } }, nothing, ['Waiting=False/JobFinished', 'Running=False/JobFinished']],
  ])('%s', (_, seen, outcome, expected) => {
    expect(said(seen, outcome, 'Waiting', 'Running')).toEqual(expected)
  })

  it.each<[name: string, seen: Sample, expected: string[]]>([
    ['never suspended', {}, []],
    ['suspended', suspended, ['Suspended=True/JobSuspended']],
    ['resumed', { status: { conditions: conditions('Suspended') } }, ['Suspended=False/JobResumed']],
    ['suspended, but done', { ...suspended, status: { ...started, succeeded: 1 } }, []],
  ])('Suspended: %s', (_, seen, expected) => {
    expect(said(seen, nothing, 'Suspended')).toEqual(expected)
  })

  it('names the cause', () => {
    const message = (seen: Sample, outcome = nothing) => status(sample(seen), outcome).conditions!.find((c) => c.type === 'Waiting')!.message
    const unschedulable = pod('a', { isBound: false, conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes are available', lastTransitionTime: ago(9) }] })
    expect(message({ pods: [unschedulable] })).toBe(`No pod is running yet. Pod a cannot be scheduled: 0/3 nodes are available, since ${ago(9)}.`)
    expect(message({ pods: [pod('a', { phase: 'Failed', endedFor: 2 })] })).toBe(
      `After 1 failure in a row, the next pod is due at ${ago(-8)}. Pod a has lost container "c": exit code 1.`,
    )
    const refused: Outcome<Action> = { ...nothing, failed: [{ action: { kind: 'CreatePod' }, error: notFound({ group: '', resource: 'quotas' }, 'x') }] }
    expect(message({}, refused)).toContain('not found')
  })
})

describe('rememberedBackOff()', () => {
  const failed = Array.from({ length: 600 }, (_, i) => pod(`p${i}`, { phase: 'Failed', endedFor: 4 }))
  const spec = { completions: 900, backoffLimit: 9999 }

  it('has each failure once, though the status has room for 500 at a time', () => {
    const first = rememberedBackOff(sample({ spec, pods: failed }), nothing)!
    expect(first.failures).toBe(500)
    const before = { ...started, uncountedTerminatedPods: counts({ spec, pods: failed }).uncountedTerminatedPods! }
    const recorded = failed.slice(0, 500)
    const seen = { spec, status: before, pods: failed, remembered: first }
    expect(sample(seen).backOff.failures).toBe(600)
    expect(rememberedBackOff(sample(seen), on('LetGoPod', ...recorded))!.failures).toBe(600)
  })

  it('has failures that the policy ignores when they are let go', () => {
    const ignoring = { rules: [{ action: 'Ignore', onExitCodes: { operator: 'In', values: [1] } }] }
    const seen = sample({ spec: { ...spec, podFailurePolicy: ignoring }, pods: failed.slice(0, 2) })
    expect(rememberedBackOff(seen, on('LetGoPod', failed[0]!))!.failures).toBe(1)
  })
})

it.each<[name: string, change: JobStatus, mayWait: boolean]>([
  ['numbers', { active: 4, ready: 3, terminating: 2 }, true],
  ['successes', { succeeded: 4, uncountedTerminatedPods: { succeeded: ['a', 'b'], failed: ['x'] } }, true],
  ['indexes that have succeeded', { completedIndexes: '0-5' }, true],
  ['a failure that is put on record', { uncountedTerminatedPods: { failed: ['x', 'y'] } }, false],
  ['a failure that is counted', { failed: 1, uncountedTerminatedPods: {} }, false],
  ['an index that has failed', { failedIndexes: '1' }, false],
  ['the start', { startTime: ago(1) }, false],
  ['a condition', { conditions: conditions('SuccessCriteriaMet') }, false],
])('statusMayWait(): %s', (_, change, mayWait) => {
  const before = { ...started, uncountedTerminatedPods: { failed: ['x'] } }
  expect(statusMayWait(before, { ...before, ...change })).toBe(mayWait)
})
