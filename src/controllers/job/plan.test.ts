import { describe, expect, it } from 'vitest'
import type { Pod } from '../../api/generated/types.ts'
import type { Action } from './apply.ts'
import { plan } from './plan.ts'
import { type Sample, ago, conditions, nowMs, sample, samplePod as pod } from './sample.ts'

/** `Create`, `Create 2 after x`, `Drop a`. */
function inWords(action: Action): string {
  if (action.kind !== 'CreatePod') return `${action.kind.replace('Pod', '')} ${action.pod.metadata.name}`
  return ['Create', action.index, action.predecessor && `after ${action.predecessor.metadata.name}`].filter((w) => w !== undefined).join(' ')
}

type Row = [name: string, seen: Sample, actions: string[], requeueAfterMs?: number]

const check = ([, seen, actions, requeueAfterMs]: Row) => {
  const step = plan(sample(seen))
  expect([step.actions.map(inWords), step.requeueAfterMs]).toEqual([actions, requeueAfterMs])
}

const running = (name: string, index?: number): Pod => pod(name, { phase: 'Running', isReady: true, ...(index === undefined ? {} : { index }) })
const indexed = { completionMode: 'Indexed', completions: 3, parallelism: 3 }
const perIndex = { ...indexed, backoffLimit: 2147483647, backoffLimitPerIndex: 1 }
const started = { startTime: ago(60) }

describe('plan() of how many pods run', () => {
  it.each<Row>([
    ['a fresh Job gets its pod', {}, ['Create']],
    ['as many as parallelism says', { spec: { completions: 10, parallelism: 3 } }, ['Create', 'Create', 'Create']],
    ['no more than completions are left', { spec: { completions: 4, parallelism: 3 }, status: { ...started, succeeded: 2 } }, ['Create', 'Create']],
    ['one that has just succeeded counts', { spec: { completions: 4, parallelism: 3 }, status: { ...started, succeeded: 2 }, pods: [pod('a', { phase: 'Succeeded' })] }, ['Create']],
    ['one that is there is not made again', { spec: { completions: 4, parallelism: 3 }, pods: [running('a'), pod('b')] }, ['Create']],
    ['parallelism 0 has none', { spec: { parallelism: 0, completions: 2 } }, []],
    ['a work queue has as many as parallelism', { spec: { parallelism: 2, completions: undefined } }, ['Create', 'Create']],
    ['a work queue of which one has succeeded gets no more', { spec: { parallelism: 3, completions: undefined }, status: { ...started, succeeded: 1 }, pods: [running('a')] }, []],
    ['of too many, those that are not ready go first', { spec: { completions: 6, parallelism: 1 }, pods: [running('a'), pod('b', { phase: 'Running' }), pod('c')] }, ['Drop c', 'Drop b']],
    ['nothing is made while some are too many', { spec: { ...indexed, parallelism: 1 }, pods: [running('a', 0), running('b', 0)] }, ['Drop a']],
    ['a pod that somebody deleted is replaced at its time', { pods: [pod('a', { phase: 'Running', deletedFor: 4, isReady: false })] }, [], 6000],
    ['no more than 500 of the largest number', { spec: { completions: 2 ** 31 - 1, parallelism: 2 ** 31 - 1 } }, Array<string>(500).fill('Create')],
    ['no more than 500 at once', { spec: { completions: 900, parallelism: 900 } }, Array<string>(500).fill('Create')],
  ])('%s', (...row) => check(row))
})

describe('plan() of a Job that is suspended, resumed or not ours', () => {
  it.each<Row>([
    ['suspended from the start: nothing', { spec: { suspend: true }, status: {} }, []],
    ['suspended while running: all pods go, uncounted', { spec: { suspend: true, parallelism: 2, completions: 2 }, pods: [running('a'), running('b')] }, ['Drop a', 'Drop b']],
    ['resumed: pods come at once', { spec: { suspend: false }, status: { conditions: conditions('Suspended') }, pods: [pod('a', { deletedFor: 3, isTracked: false })] }, ['Create']],
    ["another controller's: nothing", { spec: { managedBy: 'example.com/controller' } }, []],
    ['expressly ours', { spec: { managedBy: 'kubernetes.io/job-controller' } }, ['Create']],
    ['complete: nothing', { status: { ...started, conditions: conditions('SuccessCriteriaMet', 'Complete') } }, []],
    ['failed: nothing', { status: { ...started, conditions: conditions('FailureTarget', 'Failed') }, pods: [running('a')] }, []],
    ['deleted: pods are let go, and none comes', { metadata: { deletionTimestamp: ago(1) }, pods: [running('a')] }, ['LetGo a']],
  ])('%s', (...row) => check(row))
})

describe('plan() of indexes', () => {
  it.each<Row>([
    ['no more than 500 of the largest number', { spec: { ...indexed, completions: 2 ** 31 - 1, parallelism: 2 ** 31 - 1 } }, Array.from({ length: 500 }, (_, i) => `Create ${i}`)],
    ['the first ones that are missing', { spec: indexed }, ['Create 0', 'Create 1', 'Create 2']],
    ['not those that run or have succeeded', { spec: { ...indexed, completions: 5 }, status: { ...started, completedIndexes: '1', succeeded: 1 }, pods: [running('a', 0)] }, ['Create 2', 'Create 3']],
    ['of two pods for one index the worse one goes', { spec: indexed, pods: [running('a', 0), pod('b', { index: 0 }), running('c', 1)] }, ['Drop b']],
    ['pods without an index, or beyond the last, go', { spec: indexed, pods: [running('a'), running('b', 3)] }, ['Drop a', 'Drop b']],
    ['completions that have grown are filled', { spec: { ...indexed, completions: 4, parallelism: 4 }, status: { ...started, completedIndexes: '0', succeeded: 1 }, pods: [running('a', 1), running('b', 2)] }, ['Create 3']],
    ['an index that failed comes again at its time', { spec: indexed, pods: [running('a', 0), pod('b', { index: 1, phase: 'Failed', endedFor: 3 }), running('c', 2)] }, [], 7000],
  ])('%s', (...row) => check(row))
})

describe('plan() of the back-off', () => {
  const failed = (endedFor: number, name = 'a') => pod(name, { phase: 'Failed', endedFor })
  it.each<Row>([
    ['10 s after a failure', { pods: [failed(4)] }, [], 6000],
    ['not longer', { pods: [failed(10)] }, ['Create']],
    ['20 s after the second in a row', { pods: [failed(4)], remembered: { failures: 1, lastFailureMs: nowMs - 60_000 } }, [], 16_000],
    ['10 minutes at most', { spec: { backoffLimit: 99 }, pods: [failed(0)], remembered: { failures: 40, lastFailureMs: nowMs - 60_000 } }, [], 600_000],
    ['forgotten with a success', { spec: { completions: 2 }, pods: [failed(8), pod('b', { phase: 'Succeeded', endedFor: 2 })] }, ['Create']],
    ['not with one before it', { spec: { completions: 2 }, pods: [failed(2), pod('b', { phase: 'Succeeded', endedFor: 8 })] }, [], 8000],
    ['known again after a restart from pods that are still there', { status: { ...started, failed: 2 }, pods: [pod('a', { phase: 'Failed', isTracked: false, endedFor: 30 }), pod('b', { phase: 'Failed', isTracked: false, endedFor: 5 })] }, [], 15_000],
    ['pods that were dropped are no failures', { pods: [pod('a', { phase: 'Failed', isTracked: false, deletedFor: 3, endedFor: 2 })] }, ['Create']],
    ['no time of a clock that is far ahead of ours is waited for', { pods: [failed(-4000)] }, ['Create']],
  ])('%s', (...row) => check(row))

  it.each<Row>([
    ['each index by itself', { spec: perIndex, pods: [pod('a', { index: 0, phase: 'Failed', endedFor: 3, failures: 0 })] }, ['Create 1', 'Create 2'], 7000],
    ['the successor knows the failures of its index', { spec: perIndex, pods: [pod('a', { index: 0, phase: 'Failed', endedFor: 11, failures: 0 }), running('b', 1), running('c', 2)] }, ['Create 0 after a']],
    ['an index that has failed too often is not tried again', { spec: perIndex, status: { ...started, failedIndexes: '0' }, pods: [running('b', 1)] }, ['Create 2']],
  ])('with a limit for each index: %s', (...row) => check(row))
})

describe('plan() of pods that have ended', () => {
  const written = (uids: { succeeded?: string[]; failed?: string[] }) => ({ ...started, uncountedTerminatedPods: uids })
  const ended = pod('a', { phase: 'Succeeded' })
  const many = Array.from({ length: 600 }, (_, index) => pod(`p${index}`, { phase: 'Succeeded', index }))
  it.each<Row>([
    ['not let go before the status has it on record', { spec: { completions: 2, parallelism: 0 }, pods: [ended] }, []],
    ['let go when it has', { spec: { completions: 2, parallelism: 0 }, status: written({ succeeded: ['a'] }), pods: [ended] }, ['LetGo a']],
    ['not again', { spec: { completions: 2, parallelism: 0 }, status: written({ succeeded: ['a'] }), pods: [pod('a', { phase: 'Succeeded', isTracked: false })] }, []],
    ['a failure likewise', { spec: { parallelism: 0 }, status: written({ failed: ['a'] }), pods: [pod('a', { phase: 'Failed' })] }, ['LetGo a']],
    ['an index is on record by itself', { spec: { ...indexed, parallelism: 0 }, status: { ...started, completedIndexes: '0' }, pods: [pod('a', { phase: 'Succeeded', index: 0 }), pod('b', { phase: 'Succeeded', index: 1 })] }, ['LetGo a']],
    ['an index that is not wanted any more needs no record', { spec: { ...indexed, parallelism: 0 }, pods: [pod('a', { phase: 'Succeeded', index: 7 })] }, ['LetGo a']],
    ['the last failure of an index is kept for its successor', { spec: { ...perIndex, parallelism: 0 }, status: written({}), pods: [pod('a', { phase: 'Failed', index: 0, failures: 0 })] }, []],
    [
      'no more than 500 are let go at once',
      { spec: { ...indexed, completions: 600, parallelism: 0 }, status: { ...started, completedIndexes: '0-599' }, pods: many },
      many.slice(0, 500).map(({ metadata }) => `LetGo ${metadata.name}`),
    ],
    ['an active pod that lost its finalizer gets it back', { pods: [pod('a', { isTracked: false })] }, ['Track a']],
    ['pods that it selects are adopted, those that it does not are released, before anything else', { strays: [pod('s')], strangers: [pod('t')] }, ['Release t', 'Adopt s']],
  ])('%s', (...row) => check(row))
})

describe('plan() of podReplacementPolicy', () => {
  const going = pod('a', { phase: 'Running', deletedFor: 20 })
  const failedPolicy = { podReplacementPolicy: 'Failed' }
  it.each<Row>([
    ['TerminatingOrFailed: a pod that goes is replaced', { pods: [going], status: { ...started, uncountedTerminatedPods: { failed: ['a'] } } }, ['LetGo a', 'Create']],
    ['Failed: it is waited for', { spec: failedPolicy, pods: [going] }, []],
    ['Failed: it has failed', { spec: failedPolicy, pods: [pod('a', { phase: 'Failed', deletedFor: 20, endedFor: 11 })] }, ['Create']],
    ['Failed: its index is not given to another', { spec: { ...indexed, ...failedPolicy, parallelism: 2 }, pods: [pod('a', { phase: 'Running', index: 0, deletedFor: 20 })] }, ['Create 1']],
    ['a podFailurePolicy waits, too', { spec: { podFailurePolicy: { rules: [] } }, pods: [going] }, []],
  ])('%s', (...row) => check(row))
})

describe('plan() of a Job that ends', () => {
  const failing = { ...started, conditions: conditions('FailureTarget') }
  const met = { ...started, conditions: conditions('SuccessCriteriaMet') }
  const two = { completions: 2, parallelism: 2, backoffLimit: 0 }
  it.each<Row>([
    ['before the status says so, nothing is ended', { spec: two, pods: [pod('a', { phase: 'Failed' }), running('b')] }, []],
    ['then what runs is deleted, and counted', { spec: two, status: failing, pods: [running('b')] }, ['Delete b']],
    ['what is gone already is let go when it is on record', { spec: two, status: { ...failing, uncountedTerminatedPods: { failed: ['b'] } }, pods: [pod('b', { phase: 'Running', deletedFor: 1 })] }, ['LetGo b']],
    ['after a success what runs is dropped', { spec: indexed, status: met, pods: [running('b', 1)] }, ['Drop b']],
    ['it is looked at when its deadline comes', { spec: { activeDeadlineSeconds: 90 }, pods: [running('a')] }, [], 30_000],
    ['past it nothing is made', { spec: { activeDeadlineSeconds: 60 } }, []],
    ['a deadline and a back-off: whichever is first', { spec: { activeDeadlineSeconds: 63 }, pods: [pod('a', { phase: 'Failed', endedFor: 2 })] }, [], 3000],
  ])('%s', (...row) => check(row))
})
