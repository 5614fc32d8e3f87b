import { describe, expect, it } from 'vitest'
import { type ProgressCondition, deadlineAnnotation, deadlineLeftMs, deadlineOf, rolloutState } from './rollout-clock.ts'

const nowMs = Date.parse('2026-01-01T00:01:00Z')
const progressing = (status: string, reason: string, more: Partial<ProgressCondition> = {}): ProgressCondition => ({ type: 'Progressing', status, reason, lastUpdateTime: '2026-01-01T00:00:00Z', ...more })

describe('deadlineLeftMs() is', () => {
  it.each<[string, number | undefined, ProgressCondition[], number | undefined]>([
    ['what is left of the time of a rollout', 540, [progressing('True', 'ReplicaSetUpdated')], 600],
    ['the same for any kind', 540, [progressing('True', 'ReplicasUpdated')], 600],
    ['not there where the server keeps no clock', undefined, [progressing('True', 'X', { lastUpdateTime: null })], 600],
    ['counted after a pause, too', 540, [progressing('Unknown', 'RolloutResumed')], 600],
    ['not there while pods wait to be deleted by hand', undefined, [progressing('True', 'WaitingForPodDeletion')], 600],
    ['nothing when the time is up and nobody has said so yet', 0, [progressing('True', 'ReplicaSetUpdated')], 10],
    ['nothing when it has been said', 0, [progressing('False', 'ProgressDeadlineExceeded')], 600],
    ['not there for a rollout that is complete', undefined, [progressing('True', 'NewReplicaSetAvailable')], 600],
    ['not there for a rollout that its partition holds', undefined, [progressing('True', 'PartitionReached')], 600],
    ['not there while it is paused', undefined, [progressing('Unknown', 'DeploymentPaused')], 600],
    ['not there where pods cannot be made', undefined, [progressing('False', 'FailedCreate')], 600],
    ['not there without a deadline', undefined, [progressing('True', 'ReplicasUpdated')], 2_147_483_647],
    ['not there for who knows none', undefined, [progressing('True', 'ReplicasUpdated')], undefined],
    ['not there without the condition', undefined, [], 600],
  ])('%s', (_, expected, conditions, deadline) => expect(deadlineLeftMs(conditions, deadline, nowMs)).toBe(expected === undefined ? undefined : expected * 1000))
})

describe('rolloutState() is', () => {
  it.each<[string, string, string | undefined]>([
    ['True', 'NewReplicaSetAvailable', 'complete'],
    ['True', 'NewRevisionAvailable', 'complete'],
    ['True', 'PartitionReached', 'held'],
    ['True', 'WaitingForPodDeletion', 'held'],
    ['Unknown', 'DeploymentPaused', 'paused'],
    ['Unknown', 'RolloutPaused', 'paused'],
    ['Unknown', 'RolloutResumed', 'running'],
    ['False', 'ProgressDeadlineExceeded', 'failed'],
    ['False', 'FailedCreate', 'failed'],
    ['True', 'ReplicasUpdated', 'running'],
  ])('%s %s: %s', (status, reason, expected) => expect(rolloutState([progressing(status, reason)])).toBe(expected))

  it('not there without the condition', () => expect(rolloutState([])).toBeUndefined())
})

describe('deadlineOf()', () => {
  const annotated = (text: string, spec?: object) => ({ metadata: { annotations: { [deadlineAnnotation]: text } }, ...(spec ? { spec } : {}) })
  it.each([['60', 60], ['0', undefined], ['-1', undefined], ['1.5', undefined], ['x', undefined], ['9999999999', undefined], ['', undefined]])('reads the annotation %j as %j', (text, seconds) => {
    expect(deadlineOf(annotated(text))).toBe(seconds)
    expect(deadlineOf(annotated(text, {}))).toBe(seconds)
  })

  it('prefers the field of the spec', () => {
    expect(deadlineOf(annotated('60', { progressDeadlineSeconds: 600 }))).toBe(600)
    expect(deadlineOf({ metadata: {}, spec: { progressDeadlineSeconds: 600 } })).toBe(600)
    expect(deadlineOf({ metadata: {} })).toBeUndefined()
  })
})
