import { describe, expect, it } from 'vitest'
import { conflictModified, forbiddenError, invalidObject } from '../../../api/errors.ts'
import { isConditionTrue, setTimedCondition } from './conditions.ts'
import { type PodFault, endsProgress, podFaultOf, withFault } from './pod-fault.ts'
import { RevisionTakenError } from './revisions.ts'

const nowMs = Date.parse('2026-01-01T00:00:00Z')
const pods = { group: '', resource: 'pods' }
const progressing = setTimedCondition([], { type: 'Progressing', status: 'True', reason: 'ReplicasUpdated', message: '' }, nowMs)
const sayings = (conditions: readonly { type: string; status: string; reason?: string }[]) => conditions.map(({ type, status, reason }) => `${type}=${status}/${reason}`)

describe('withFault()', () => {
  it('says what could not be done, and leaves the progress alone', () => {
    const conditions = withFault(progressing, { reason: 'FailedCreate', error: forbiddenError(pods, 'a', 'exceeded quota') }, nowMs)
    expect(sayings(conditions)).toEqual(['Progressing=True/ReplicasUpdated', 'ReplicaFailure=True/FailedCreate'])
    expect(conditions[1]!.message).toContain('exceeded quota')
  })

  it('has the words of the newest fault, but keeps them where only the pod is another', () => {
    const refusing = (pod: string, why: string): PodFault => ({ reason: 'FailedCreate', error: forbiddenError(pods, pod, why) })
    const first = withFault([], refusing('a', 'exceeded quota: q'), nowMs)
    expect(withFault(first, refusing('b', 'exceeded quota: q'), nowMs + 5000)).toEqual(first)
    expect(withFault(first, refusing('b', 'exceeded quota: r'), nowMs + 5000)).toEqual([{ ...first[0], message: 'pods "b" is forbidden: exceeded quota: r' }])
    expect(withFault(first, { reason: 'FailedDelete', error: new Error('two') }, nowMs)[0]).toMatchObject({ reason: 'FailedDelete', message: 'two' })
  })

  it('ends the progress where a pod can never be made', () => {
    expect(endsProgress({ reason: 'FailedCreate', error: invalidObject({ group: '', kind: 'Pod' }, 'a', []) })).toBe(true)
    expect(endsProgress({ reason: 'FailedCreate', error: forbiddenError(pods, 'a', 'exceeded quota') })).toBe(false)
  })

  it('goes when nothing fails any more', () => {
    const failing = withFault(progressing, { reason: 'FailedDelete', error: new Error('no') }, nowMs)
    expect(isConditionTrue(failing, 'ReplicaFailure')).toBe(true)
    expect(withFault(failing, undefined, nowMs)).toEqual(progressing)
  })
})

describe('podFaultOf()', () => {
  it.each<[string, string, Error, PodFault['reason'] | undefined]>([
    ['a pod that cannot be made', 'CreatePod', new Error('no'), 'FailedCreate'],
    ['a pod that cannot be deleted', 'DeletePod', new Error('no'), 'FailedDelete'],
    ['a revision that cannot be made', 'CreateRevision', new Error('no'), 'FailedCreate'],
    ['a revision whose name is taken', 'CreateRevision', new RevisionTakenError('taken'), undefined],
    ['a pod that somebody else has changed', 'DeletePod', conflictModified(pods, 'a'), undefined],
    ['an adoption', 'AdoptPod', new Error('no'), undefined],
  ])('%s', (_, kind, error, reason) => {
    expect(podFaultOf({ failed: [{ action: { kind }, error }] })?.reason).toBe(reason)
  })
})
