import { describe, expect, it } from 'vitest'
import { type Condition, findCondition } from './conditions.ts'
import { type Headway, type Rollout, decideProgress, hasMoved, noDeadline, untilDeadline } from './progress.ts'

const startMs = Date.parse('2026-01-01T00:00:00Z')
const start = '2026-01-01T00:00:00Z'
const at = (seconds: number) => startMs + seconds * 1000
const progressing = (over: Partial<Condition> = {}): Condition => ({
  type: 'Progressing',
  status: 'True',
  reason: 'NewRevisionCreated',
  message: 'm',
  lastTransitionTime: start,
  lastUpdateTime: start,
  ...over,
})
const rollout = (over: Partial<Rollout> = {}): Rollout => ({
  deadlineSeconds: 60,
  reasons: { complete: 'NewRevisionAvailable', moving: 'ReplicasUpdated' },
  isComplete: false,
  hasMoved: false,
  messages: { complete: 'done', moving: 'moving', exceeded: 'too late' },
  ...over,
})
const exceeded = progressing({ status: 'False', reason: 'ProgressDeadlineExceeded' })
const complete = progressing({ reason: 'NewRevisionAvailable' })

describe('decideProgress()', () => {
  it.each<[string, Condition | undefined, Partial<Rollout>, number, string, number | undefined]>([
    ['waits for the deadline', progressing(), {}, 10, 'True NewRevisionCreated', 50],
    ['says a second before it that there is time', progressing(), {}, 59, 'True NewRevisionCreated', 1],
    ['is out of time at the deadline', progressing(), {}, 60, 'False ProgressDeadlineExceeded', undefined],
    ['stays out of time', exceeded, {}, 5000, 'False ProgressDeadlineExceeded', undefined],
    ['moves again after that', exceeded, { hasMoved: true }, 5000, 'True ReplicasUpdated', 60],
    ['completes after that', exceeded, { isComplete: true, hasMoved: true }, 5000, 'True NewRevisionAvailable', undefined],
    ['starts the clock anew with progress', progressing(), { hasMoved: true }, 59, 'True ReplicasUpdated', 60],
    ['completes at the last moment', progressing(), { isComplete: true }, 60, 'True NewRevisionAvailable', undefined],
    ['completes late', progressing(), { isComplete: true }, 600, 'True NewRevisionAvailable', undefined],
    ['stays complete when pods are lost', complete, { hasMoved: true }, 600, 'True NewRevisionAvailable', undefined],
    ['never ends without a deadline', progressing(), { deadlineSeconds: undefined }, 1e9, 'True NewRevisionCreated', undefined],
    ['never ends with the deadline that means none', progressing(), { deadlineSeconds: noDeadline }, 1e10, 'True NewRevisionCreated', undefined],
    ['lets no time pass while it is held', progressing(), { isHeld: true }, 600, 'True NewRevisionCreated', undefined],
    ['has a clock without a time', { ...progressing(), lastUpdateTime: undefined } as Condition, {}, 600, 'True NewRevisionCreated', undefined],
    ['begins with progress', undefined, { hasMoved: true }, 5, 'True ReplicasUpdated', 60],
    ['says nothing before anything happened', undefined, {}, 600, 'none', undefined],
    ['counts the time of one that was resumed', progressing({ status: 'Unknown', reason: 'DeploymentResumed' }), {}, 61, 'False ProgressDeadlineExceeded', undefined],
  ])('%s', (_, current, over, seconds, expected, left) => {
    const { conditions, deadlineInMs } = decideProgress(current && [current], rollout(over), at(seconds))
    const said = findCondition(conditions, 'Progressing')
    expect(said ? `${said.status} ${said.reason}` : 'none').toBe(expected)
    expect(deadlineInMs).toBe(left === undefined ? undefined : left * 1000)
  })

  it('is not moved by a restart: the clock is in the condition', () => {
    const first = decideProgress([progressing()], rollout(), at(30))
    expect(decideProgress(first.conditions, rollout(), at(45)).deadlineInMs).toBe(15_000)
  })

  it('says why nothing moves, which does not move the clock', () => {
    const waiting = { messages: { ...rollout().messages, waiting: 'for an image' } }
    const first = decideProgress([progressing()], rollout(waiting), at(30))
    expect(first).toEqual({ conditions: [progressing({ message: 'for an image' })], deadlineInMs: 30_000 })
    const failed = progressing({ status: 'False', reason: 'FailedCreate' })
    expect(decideProgress([failed], rollout(waiting), at(30)).conditions).toEqual([failed])
  })

  it('keeps the other conditions', () => {
    const available: Condition = { type: 'Available', status: 'False' }
    expect(decideProgress([available, progressing()], rollout(), at(90)).conditions[0]).toBe(available)
  })

  it('names the cause anew while it is out of time, without another time', () => {
    const { conditions } = decideProgress([exceeded], rollout({ messages: { complete: '', moving: '', exceeded: 'pod web-2 …' } }), at(90))
    expect(conditions).toEqual([{ ...exceeded, message: 'pod web-2 …' }])
  })
})

describe('hasMoved()', () => {
  const before: Headway = { updated: 2, ready: 3, available: 3, old: 2 }
  it.each<[string, Partial<Headway>, boolean]>([
    ['nothing', {}, false],
    ['one more updated', { updated: 3 }, true],
    ['one old one less', { old: 1 }, true],
    ['one more ready', { ready: 4 }, true],
    ['one more available', { available: 4 }, true],
    ['one lost', { ready: 2, available: 2 }, false],
    ['one more old one', { old: 3 }, false],
  ])('%s', (_, over, moved) => {
    expect(hasMoved(before, { ...before, ...over })).toBe(moved)
  })
})

it('untilDeadline() is negative past it, and nothing runs once it is exceeded', () => {
  expect(untilDeadline(progressing(), 60, at(70))).toBe(-10_000)
  expect(untilDeadline(exceeded, 60, at(70))).toBeUndefined()
})
