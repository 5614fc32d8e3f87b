import { expect, it } from 'vitest'
import { type Sample, ago, conditions, sample, samplePod as pod } from './sample.ts'

const started = { startTime: ago(60) }
const indexed = { completionMode: 'Indexed', completions: 3, parallelism: 3 }
const running = (name: string, index?: number) => pod(name, { phase: 'Running', ...(index === undefined ? {} : { index }) })
const failed = (name: string, more: object = {}) => pod(name, { phase: 'Failed', ...more })
const exitPolicy = (action: string) => ({ podFailurePolicy: { rules: [{ action, onExitCodes: { operator: 'In', values: [42] } }] } })

it.each<[name: string, seen: Sample, goal: string | undefined]>([
  ['nothing has ended', { pods: [running('a')] }, undefined],
  ['all have succeeded', { pods: [pod('a', { phase: 'Succeeded' })] }, 'success: CompletionsReached'],
  ['all have succeeded, one runs still', { spec: { completions: 1, parallelism: 2 }, pods: [pod('a', { phase: 'Succeeded' }), running('b')] }, undefined],
  ['a work queue of which one has succeeded and one runs', { spec: { completions: undefined }, pods: [pod('a', { phase: 'Succeeded' }), running('b')] }, undefined],
  ['a work queue that is done', { spec: { completions: undefined }, status: { ...started, succeeded: 1 } }, 'success: CompletionsReached'],
  ['a work queue of which none has succeeded', { spec: { completions: undefined, parallelism: 0 } }, undefined],
  ['nothing was wanted', { spec: { completions: 0 } }, 'success: CompletionsReached'],
  ['as many failures as allowed', { spec: { backoffLimit: 1 }, pods: [failed('a')] }, undefined],
  ['one more', { spec: { backoffLimit: 1 }, status: { ...started, failed: 1 }, pods: [failed('a')] }, 'failure: BackoffLimitExceeded'],
  ['one more, of which the status knows', { spec: { backoffLimit: 1 }, status: { ...started, failed: 1, uncountedTerminatedPods: { failed: ['a'] } }, pods: [failed('a')] }, 'failure: BackoffLimitExceeded'],
  ['a pod that somebody deletes counts', { spec: { backoffLimit: 0 }, pods: [pod('a', { phase: 'Running', deletedFor: 1 })] }, 'failure: BackoffLimitExceeded'],
  ['not while it may still end well, with podReplacementPolicy Failed', { spec: { backoffLimit: 0, podReplacementPolicy: 'Failed' }, pods: [pod('a', { phase: 'Running', deletedFor: 1 })] }, undefined],
  ['containers restarted too often', { spec: { backoffLimit: 3, template: { metadata: {}, spec: { restartPolicy: 'OnFailure', containers: [] } } }, pods: [pod('a', { phase: 'Running', restarts: 2 }), pod('b', { phase: 'Running', restarts: 1 })] }, 'failure: BackoffLimitExceeded'],
  ['containers restarted', { spec: { backoffLimit: 3, template: { metadata: {}, spec: { restartPolicy: 'OnFailure', containers: [] } } }, pods: [pod('a', { phase: 'Running', restarts: 2 })] }, undefined],
  ['restarted once with backoffLimit 0', { spec: { backoffLimit: 0, template: { metadata: {}, spec: { restartPolicy: 'OnFailure', containers: [] } } }, pods: [pod('a', { phase: 'Running', restarts: 1 })] }, 'failure: BackoffLimitExceeded'],
  ['a deadline that has passed', { spec: { activeDeadlineSeconds: 60 }, pods: [running('a')] }, 'failure: DeadlineExceeded'],
  ['one that has not', { spec: { activeDeadlineSeconds: 61 }, pods: [running('a')] }, undefined],
  ['one of a suspended Job', { spec: { activeDeadlineSeconds: 1, suspend: true } }, undefined],
  ['one of a Job that is just resumed', { spec: { activeDeadlineSeconds: 1, suspend: false }, status: { conditions: conditions('Suspended') } }, undefined],
  ['every index has succeeded', { spec: indexed, status: { ...started, completedIndexes: '0,2' }, pods: [pod('a', { phase: 'Succeeded', index: 1 })] }, 'success: CompletionsReached'],
  ['the same index twice is once', { spec: indexed, status: { ...started, completedIndexes: '0,1' }, pods: [pod('a', { phase: 'Succeeded', index: 1 })] }, undefined],
  ['an index failed and the others succeeded', { spec: { ...indexed, backoffLimitPerIndex: 0 }, status: { ...started, completedIndexes: '0,2' }, pods: [failed('a', { index: 1 })] }, 'failure: FailedIndexes'],
  ['an index failed and another one runs', { spec: { ...indexed, backoffLimitPerIndex: 0 }, status: { ...started, completedIndexes: '0' }, pods: [failed('a', { index: 1 }), running('b', 2)] }, undefined],
  ['an index failed that may once more', { spec: { ...indexed, backoffLimitPerIndex: 1 }, status: { ...started, completedIndexes: '0,2' }, pods: [failed('a', { index: 1, failures: 0 })] }, undefined],
  ['more indexes failed than may', { spec: { ...indexed, backoffLimitPerIndex: 0, maxFailedIndexes: 0 }, pods: [failed('a', { index: 1 }), running('b', 2)] }, 'failure: MaxFailedIndexesExceeded'],
  ['FailJob', { spec: exitPolicy('FailJob'), pods: [failed('a', { exitCode: 42 })] }, 'failure: PodFailurePolicy'],
  ['FailJob of another exit code', { spec: exitPolicy('FailJob'), pods: [failed('a', { exitCode: 3 })] }, undefined],
  ['Ignore with backoffLimit 0', { spec: { ...exitPolicy('Ignore'), backoffLimit: 0 }, pods: [failed('a', { exitCode: 42 })] }, undefined],
  ['Count with backoffLimit 0', { spec: { ...exitPolicy('Count'), backoffLimit: 0 }, pods: [failed('a', { exitCode: 42 })] }, 'failure: BackoffLimitExceeded'],
  ['FailIndex at the first failure', { spec: { ...indexed, ...exitPolicy('FailIndex'), backoffLimitPerIndex: 9 }, status: { ...started, completedIndexes: '0,2' }, pods: [failed('a', { exitCode: 42, index: 1 })] }, 'failure: FailedIndexes'],
  ['Ignore does not end an index', { spec: { ...indexed, ...exitPolicy('Ignore'), backoffLimitPerIndex: 0 }, status: { ...started, completedIndexes: '0,2' }, pods: [failed('a', { exitCode: 42, index: 1 })] }, undefined],
  ['successPolicy by index', { spec: { ...indexed, successPolicy: { rules: [{ succeededIndexes: '0' }] } }, pods: [pod('a', { phase: 'Succeeded', index: 0 }), running('b', 1)] }, 'success: SuccessPolicy'],
  ['a failure comes before a success', { spec: { ...indexed, backoffLimit: 0, successPolicy: { rules: [{ succeededCount: 1 }] } }, pods: [pod('a', { phase: 'Succeeded', index: 0 }), failed('b', { index: 1 })] }, 'failure: BackoffLimitExceeded'],
  ['what is declared stays, whatever comes: success', { spec: { backoffLimit: 0 }, status: { ...started, conditions: conditions('SuccessCriteriaMet') }, pods: [failed('a')] }, 'success: Because, declared'],
  ['what is declared stays, whatever comes: failure', { spec: { completions: 0 }, status: { ...started, conditions: conditions('FailureTarget') } }, 'failure: Because, declared'],
])('goalOf(): %s', (_, seen, expected) => {
  const { goal } = sample(seen)
  expect(goal && `${goal.isSuccess ? 'success' : 'failure'}: ${goal.reason}${goal.isDeclared ? ', declared' : ''}`).toBe(expected)
})
