import { describe, expect, it } from 'vitest'
import { ApiError, conflict, forbiddenError } from '../../api/errors.ts'
import type { Outcome } from '../kit/index.ts'
import { type Condition, findCondition } from '../kit/workload/index.ts'
import type { Action } from './apply.ts'
import { plan } from './plan.ts'
import { nowMs, observed, pod } from './sample.ts'
import { status } from './status.ts'

const untouched: Outcome<Action> = { done: [], failed: [], skipped: [], wait: undefined }
const done = (...actions: Action[]): Outcome<Action> => ({ ...untouched, done: actions })
const failed = (action: Action, error: Error): Outcome<Action> => ({ ...untouched, failed: [{ action, error }] })
const create: Action = { kind: 'CreatePod' }
const del = (p: ReturnType<typeof pod>): Action => ({ kind: 'DeletePod', pod: p })
const [a, b, c] = [pod('a', { ready: 100 }), pod('b', { ready: 5 }), pod('c')]
const unassigned = pod('u', { node: '', phase: 'Pending' })

describe('status() counts', () => {
  it.each<[string, Parameters<typeof observed>[0], Outcome<Action>, [replicas: number, labeled: number, ready: number, available: number, terminating: number]]>([
    ['nothing', {}, untouched, [0, 0, 0, 0, 0]],
    ['its pods', { kept: [a, b, c] }, untouched, [3, 3, 2, 2, 0]],
    ['as available what has been ready for long enough', { kept: [a, b, c], minReadySeconds: 10 }, untouched, [3, 3, 2, 1, 0]],
    ['as fully labeled what has all labels of the template', { kept: [a, pod('x', { labels: { other: 'y' } })] }, untouched, [2, 1, 1, 1, 0]],
    ['what is going', { terminating: [c, b] }, untouched, [0, 0, 0, 0, 2]],
    ['what it has just made', { kept: [a] }, done(create, create), [3, 3, 1, 1, 0]],
    ['what it has just adopted', { kept: [a], adopt: [b] }, done({ kind: 'AdoptPod', pod: b }), [2, 2, 2, 2, 0]],
    ['not what it could not adopt', { kept: [a], adopt: [b] }, failed({ kind: 'AdoptPod', pod: b }, conflict({ group: '', resource: 'pods' }, 'b', 'no')), [1, 1, 1, 1, 0]],
    ['what it has just deleted as going', { wanted: 1, kept: [a, b, c] }, done(del(b), del(c)), [1, 1, 1, 1, 2]],
    ['what was on no node as gone', { wanted: 0, kept: [unassigned] }, done(del(unassigned)), [0, 0, 0, 0, 0]],
    ['adopted and deleted in one step', { wanted: 0, adopt: [b] }, done({ kind: 'AdoptPod', pod: b }, del(b)), [0, 0, 0, 0, 1]],
  ])('%s', (_, seen, outcome, expected) => {
    const { replicas, fullyLabeledReplicas, readyReplicas, availableReplicas, terminatingReplicas } = status(observed(seen), outcome)
    expect([replicas, fullyLabeledReplicas, readyReplicas, availableReplicas, terminatingReplicas]).toEqual(expected)
  })

  it('nothing that is going where nobody asks', () => {
    expect(
      status(observed({ countsTerminating: false, kept: [a] }), done(del(a))),
    ).not.toHaveProperty('terminatingReplicas')
  })

  it('the same before and after the caches have what was done', () => {
    const seen = observed({ wanted: 2, kept: [a], adopt: [b, c] })
    const after = status(seen, done(...plan(seen).actions))
    expect(status(observed({ wanted: 2, kept: [a, b], terminating: [c] }), untouched)).toEqual(after)
  })
})

const available = (seen: Parameters<typeof observed>[0], outcome = untouched) => findCondition(status(observed(seen), outcome).conditions, 'Available')
const failure = (seen: Parameters<typeof observed>[0], outcome = untouched) => findCondition(status(observed(seen), outcome).conditions, 'ReplicaFailure')
const exceeded = forbiddenError({ group: '', resource: 'pods' }, 'web-x', 'exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1')

describe('status() says Available', () => {
  it.each<[string, Parameters<typeof observed>[0], Outcome<Action>, string, string]>([
    ['of none, if none are wanted', { wanted: 0 }, untouched, 'True', 'ReplicaSet has minimum availability.'],
    ['if all are', { wanted: 2, kept: [a, b] }, untouched, 'True', 'ReplicaSet has minimum availability.'],
    ['if more are', { wanted: 1, kept: [a, b] }, untouched, 'True', 'ReplicaSet has minimum availability.'],
    ['not if some are missing', { kept: [a, b] }, done(create), 'False', '2 of 3 replicas are available.'],
    ['not if one is in trouble, which it names', { wanted: 2, kept: [a, pod('x', { waiting: 'ErrImagePull' })] }, untouched, 'False', expect.stringMatching(/^1 of 2 replicas is available\. Pod x cannot pull image .* for container "main"/) as string],
    ['not if one is ready for too short a time', { wanted: 2, kept: [a, b], minReadySeconds: 10 }, untouched, 'False', '1 of 2 replicas is available. Pod b is ready and counts as available from 2026-01-01T01:00:05Z on (minReadySeconds: 10).'],
    ['not if they cannot be made, and why', { wanted: 2, kept: [a] }, failed(create, exceeded), 'False', `1 of 2 replicas is available. ReplicaSet web cannot create a pod: ${exceeded.message}, since 2026-01-01T01:00:00Z.`],
  ])('%s', (_, seen, outcome, is, message) => {
    const reason = is === 'True' ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable'
    expect(available(seen, outcome)).toEqual({ type: 'Available', status: is, reason, message, lastTransitionTime: '2026-01-01T01:00:00Z' })
  })

  it('since it turned to what it is', () => {
    const since = '2026-01-01T00:00:00Z'
    const before: Condition = { type: 'Available', status: 'False', reason: 'MinimumReplicasUnavailable', message: 'other words', lastTransitionTime: since }
    const owner = { ...observed().owner, status: { replicas: 0, conditions: [before, { type: 'Ours', status: 'True' }] } }
    expect(status(observed({ owner }), untouched).conditions).toEqual([{ ...before, message: '0 of 3 replicas are available.' }, { type: 'Ours', status: 'True' }])
    expect(available({ owner, kept: [a, b, pod('d', { ready: 1 })] })?.lastTransitionTime).toBe('2026-01-01T01:00:00Z')
  })
})

describe('status() says ReplicaFailure', () => {
  const told: Condition = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'first words', lastTransitionTime: '2026-01-01T00:00:00Z' }
  const owner = { ...observed().owner, status: { replicas: 0, conditions: [told] } }
  const now = '2026-01-01T01:00:00Z'
  const terminating = new ApiError(403, 'Forbidden', 'no', { causes: [{ reason: 'NamespaceTerminating', message: 'no', field: '' }] })
  it.each<[string, Parameters<typeof observed>[0], Outcome<Action>, Condition | undefined]>([
    ['if pods cannot be made', {}, failed(create, exceeded), { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: exceeded.message, lastTransitionTime: now }],
    ['if pods cannot be deleted', { wanted: 0, kept: [a] }, failed(del(a), new Error('no')), { type: 'ReplicaFailure', status: 'True', reason: 'FailedDelete', message: 'no', lastTransitionTime: now }],
    ['in the words of the newest', { owner }, failed(create, exceeded), { ...told, message: exceeded.message }],
    ['in the words it came with, if only the pod is another', { owner: { ...owner, status: { replicas: 0, conditions: [{ ...told, message: exceeded.message.replace('web-x', 'web-y') }] } } }, failed(create, exceeded), { ...told, message: exceeded.message.replace('web-x', 'web-y') }],
    ['for another reason since it first came', { owner }, failed(del(a), new Error('no')), { ...told, reason: 'FailedDelete', message: 'no' }],
    ['no more, once nothing fails', { owner }, done(create), undefined],
    ['not for somebody who was faster', {}, failed(del(a), conflict({ group: '', resource: 'pods' }, 'a', 'changed')), undefined],
    ['not in a namespace that is going', {}, failed(create, terminating), undefined],
    ['not if adopting fails', {}, failed({ kind: 'AdoptPod', pod: a }, new Error('no')), undefined],
  ])('%s', (_, seen, outcome, expected) => {
    expect(failure({ nowMs, ...seen }, outcome)).toEqual(expected)
  })
})
