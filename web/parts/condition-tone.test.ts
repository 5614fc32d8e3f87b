import { expect, it } from 'vitest'
import { conditionTone } from './condition-tone.ts'

it.each([
  ['Available', 'True', 'MinimumReplicasAvailable', 'good'],
  ['Available', 'False', 'MinimumReplicasUnavailable', 'warn'],
  ['Progressing', 'False', 'ProgressDeadlineExceeded', 'bad'],
  ['Failed', 'True', 'BackoffLimitExceeded', 'bad'],
  ['FailureTarget', 'True', 'BackoffLimitExceeded', 'bad'],
  ['ReplicaFailure', 'True', 'FailedCreate', 'bad'],
  ['Complete', 'True', 'CompletionsReached', 'good'],
  ['Running', 'False', 'JobFinished', 'none'],
  ['Waiting', 'False', 'JobFinished', 'none'],
  ['Waiting', 'True', 'PodsNotReady', 'warn'],
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'good'],
  ['DiskPressure', 'True', 'KubeletHasDiskPressure', 'bad'],
  ['Ready', 'Unknown', 'NodeStatusUnknown', 'warn'],
  ['DisruptionTarget', 'True', 'DeletionByTaintManager', 'bad'],
] as const)('conditionTone() of %s %s (%s) is %s', (type, status, reason, tone) => {
  expect(conditionTone({ type, status, reason })).toBe(tone)
})
