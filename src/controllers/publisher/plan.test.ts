import { describe, expect, test } from 'vitest'
import type { Condition } from '../kit/workload/index.ts'
import { ApiError } from '../../api/errors.ts'
import { conflictingManagers } from './apply.ts'
import { publishedKinds } from './kinds.ts'
import { type Memory, type Observed, plan, remember } from './plan.ts'
import { deadlineAnnotation } from '../../api/kinds/workloads/rollout-clock.ts'
import { viewOf } from './view.ts'

const at = '2026-01-01T00:00:00Z'
const nowMs = Date.parse('2026-01-01T01:00:00Z')
const available: Condition = { type: 'Available', status: 'True', reason: 'R', message: 'all', lastTransitionTime: at, lastUpdateTime: at }
const others = { type: 'Theirs', status: 'True' }
const memory: Memory = { last: { conditions: [available], state: {} }, writtenAtMs: nowMs - 500, losses: 0, contested: undefined, wasForced: false, inner: undefined }

const seen = (stored: object[], more: Partial<Observed> = {}): Observed => ({
  kind: publishedKinds.statefulsets,
  workload: { metadata: { name: 'w', namespace: 'n', uid: 'u' }, status: { conditions: stored as never } },
  judgement: { conditions: [available], state: {}, changesInMs: undefined, memory: undefined },
  companion: undefined,
  memory: undefined,
  nowMs,
  ...more,
})
const judged = (condition: Partial<Condition>) => ({ judgement: { conditions: [{ ...available, ...condition }], state: {}, changesInMs: undefined, memory: undefined } })
const { lastUpdateTime: _, ...stock } = available

/** The planned writes and the requeue time. */
const outcome = (observed: Observed) => {
  const { actions, requeueAfterMs } = plan(observed)
  return `${actions.map(({ kind }) => kind).join()}${requeueAfterMs === undefined ? '' : ` again in ${requeueAfterMs}`}`
}

const theirs = { ...stock, status: 'Unknown' }
const contested = (agoMs: number): Memory => ({ ...memory, contested: { types: ['Available'], atMs: nowMs - agoMs } })

describe('plan()', () => {
  const rows: [what: string, observed: Observed, comes: string][] = [
    ['writes nothing where everything is stored', seen([others, stock]), ''],
    ['writes what is not stored', seen([others]), 'PublishStatus'],
    ['writes another status at once', seen([stock], { ...judged({ status: 'False' }), memory }), 'PublishStatus'],
    ['has new words wait for a second', seen([stock], { ...judged({ message: 'some' }), memory }), ' again in 500'],
    ['writes new words after a second', seen([stock], { ...judged({ message: 'some' }), memory: { ...memory, writtenAtMs: nowMs - 1000 } }), 'PublishStatus'],
    ['writes again at once what the owner has dropped for the first time', seen([], { memory }), 'PublishStatus'],
    ['waits longer with each loss', seen([], { memory: { ...memory, losses: 5 } }), ' again in 1100'],
    ['waits five minutes at most', seen([], { memory: { ...memory, losses: 40 } }), ' again in 299500'],
    ['leaves a status alone that somebody else manages', seen([theirs], { memory: contested(600_000) }), ' again in 3000000'],
    ['tries it again after an hour', seen([theirs], { memory: contested(3_600_000) }), 'PublishStatus'],
    ['tries it again as soon as their condition is gone', seen([], { memory: contested(1000) }), 'PublishStatus'],
    ['writes nothing where theirs is the same', seen([stock], { memory: contested(3_600_000) }), ''],
    ['leaves the status of some kinds alone', seen([], { kind: publishedKinds.deployments }), ''],
    ['makes a companion', seen([stock], { companion: { stored: undefined, name: 'w' } }), 'PublishCompanion'],
    ['waits for a name that is taken', seen([stock], { companion: { stored: undefined, name: undefined } }), ' again in 1000'],
    ['looks again when the judgement changes by itself', seen([stock], { judgement: { ...seen([]).judgement, changesInMs: 7 } }), ' again in 7'],
  ]
  test.each(rows)('%s', (_what, observed, comes) => expect(outcome(observed)).toBe(comes))

  test('writes nothing where the companion says the same', () => {
    const stored = { metadata: { name: 'w' }, spec: { workloadRef: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'w' } }, status: { conditions: [available] } }
    expect(outcome(seen([stock], { companion: { stored, name: 'w' } }))).toBe('')
  })
})

describe('remember()', () => {
  const write = { kind: 'PublishStatus' as const, conditions: [available], wasForced: false, wasContested: false }
  const done = (answer: unknown) => ({ done: [write], failed: [], skipped: [], wait: undefined, answers: new Map([[write, answer]]) })
  test('counts losses, and forgets them when something new is said', () => {
    expect(remember(seen([], { memory: { ...memory, losses: 2 } }), done({})).losses).toBe(3)
    expect(remember(seen([], { ...judged({ status: 'False' }), memory: { ...memory, losses: 2 } }), done({})).losses).toBe(0)
  })
  test('knows that a status is contested', () => {
    expect(remember(seen([theirs]), done('contested')).contested).toEqual({ types: ['Available'], atMs: nowMs })
    expect(remember(seen([theirs], { memory: contested(5) }), { done: [], failed: [], skipped: [], wait: undefined }).contested).toEqual(contested(5).contested)
    expect(remember(seen([theirs], { memory: contested(5) }), done({})).contested).toBeUndefined()
  })
})

describe('conflictingManagers()', () => {
  const conflict = (message: string) =>
    new ApiError(409, 'Conflict', 'Apply failed', { causes: [{ reason: 'FieldManagerConflict', message, field: '.status.conditions' }] })
  test('names the managers of a conflict of an apply, and nobody for other errors', () => {
    expect(conflictingManagers(conflict('conflict with "kube-controller-manager" with subresource "status" using apps/v1'))).toEqual(['kube-controller-manager'])
    expect(conflictingManagers(new ApiError(409, 'Conflict', 'the object has been modified'))).toEqual([])
    expect(conflictingManagers(new Error('no'))).toEqual([])
  })
})

describe('viewOf()', () => {
  const kind = publishedKinds.statefulsets
  const workload = { metadata: { name: 'w', annotations: { [deadlineAnnotation]: '60' } }, spec: {}, status: { updateRevision: 'new', conditions: [others] } }
  test('puts back what was published last, and keeps the conditions of others', () => {
    const view = viewOf(workload as never, kind, { conditions: [available], state: { updateRevision: 'old', desiredReplicas: 3 } })
    expect(view.status).toEqual({ updateRevision: 'old', desiredReplicas: 3, conditions: [others, available] })
    expect(view.spec?.progressDeadlineSeconds).toBe(60)
  })
})
