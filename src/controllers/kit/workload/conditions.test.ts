import { describe, expect, it } from 'vitest'
import {
  type Condition, type Saying, findCondition, isConditionTrue, removeCondition, setClockedCondition, setCondition,
  setTimedCondition,
} from './conditions.ts'

const then = '2026-01-01T00:00:00Z'
const nowMs = Date.parse('2026-01-01T01:00:00.900Z')
const now = '2026-01-01T01:00:00Z'
const available: Condition = { type: 'Available', status: 'True', reason: 'A', message: 'a', lastTransitionTime: then, lastUpdateTime: then }
const progressing: Condition = { type: 'Progressing', status: 'True', reason: 'P', message: 'p', lastTransitionTime: then, lastUpdateTime: then }
const both = [available, progressing]
const saying = (over: Partial<Saying>): Saying => ({ type: 'Available', status: 'True', reason: 'A', message: 'a', ...over })

describe('times of a condition', () => {
  it.each<[string, Saying, string, string, string]>([
    ['that says the same', saying({}), then, then, now],
    ['with another message', saying({ message: 'b' }), then, then, now],
    ['with another reason', saying({ reason: 'B' }), then, now, now],
    ['with another status', saying({ status: 'False' }), now, now, now],
    ['that is new', saying({ type: 'ReplicaFailure' }), now, now, now],
  ])('%s', (_, next, transition, update, renewed) => {
    expect(findCondition(setCondition(both, next, nowMs), next.type)).toEqual({ ...next, lastTransitionTime: transition })
    expect(findCondition(setTimedCondition(both, next, nowMs), next.type)).toEqual({ ...next, lastTransitionTime: transition, lastUpdateTime: update })
    expect(findCondition(setClockedCondition(both, next, nowMs, { clock: now, mark: undefined }), next.type)).toEqual({ ...next, lastTransitionTime: transition, lastUpdateTime: renewed })
  })
})

describe('setCondition()', () => {
  it('leaves the others and their order alone', () => {
    expect(setTimedCondition(both, saying({ status: 'False' }), nowMs).map((c) => c.type)).toEqual(['Available', 'Progressing'])
    expect(setTimedCondition(both, saying({ status: 'False' }), nowMs)[1]).toBe(progressing)
    expect(setCondition(undefined, saying({}), nowMs)).toHaveLength(1)
  })
  it('changes nothing of what it is given', () => {
    const frozen = Object.freeze([Object.freeze({ ...available })])
    expect(setTimedCondition(frozen, saying({ status: 'Unknown' }), nowMs)[0]!.status).toBe('Unknown')
    expect(frozen[0]!.status).toBe('True')
  })
  it('fills in a time that was never written', () => {
    expect(setCondition([{ ...available, lastTransitionTime: null }], saying({}), nowMs)[0]!.lastTransitionTime).toBe(now)
  })
})

it('removeCondition() takes out one', () => {
  expect(removeCondition(both, 'Available')).toEqual([progressing])
  expect(removeCondition(undefined, 'Available')).toEqual([])
})

it('isConditionTrue() is false for one that is not there', () => {
  expect([isConditionTrue(both, 'Available'), isConditionTrue(both, 'ReplicaFailure'), isConditionTrue(null, 'Available')]).toEqual([true, false, false])
})
