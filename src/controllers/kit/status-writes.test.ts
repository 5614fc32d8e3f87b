import { describe, expect, it, test } from 'vitest'
import { isSameStatus, statusTypeOf } from './status-writes.ts'

test.each([
  ['apps', 'ReplicaSet', 'ReplicaSetStatus'],
  ['', 'Pod', 'PodStatus'],
  ['policy', 'PodDisruptionBudget', 'PodDisruptionBudgetStatus'],
  ['', 'ConfigMap', undefined],
  ['example.com', 'Deployment', undefined],
  ['example.com', 'Boat', undefined],
])('statusTypeOf() %s %s is %s', (group, kind, type) => {
  expect(statusTypeOf({ group, kind })).toBe(type)
})

describe('isSameStatus()', () => {
  test.each<[string, string | undefined, object | undefined, object | undefined, boolean]>([
    ['a zero that is not stored', 'ReplicaSetStatus', { replicas: 0, readyReplicas: 0 }, { replicas: 0 }, true],
    ['a zero that is stored', 'ReplicaSetStatus', { replicas: 0, terminatingReplicas: 0 }, { replicas: 0 }, false],
    ['a number', 'ReplicaSetStatus', { replicas: 1 }, { replicas: 2 }, false],
    ['an empty list', 'ReplicaSetStatus', { replicas: 1, conditions: [] }, { replicas: 1 }, true],
    ['a field that the kind does not have', 'JobStatus', { active: 1, observedGeneration: 2 }, { active: 1 }, true],
    ['the order of fields', undefined, { a: 1, b: 2 }, { b: 2, a: 1 }, true],
    ['a zero of a kind that nobody knows', undefined, { a: 0 }, {}, false],
    ['no status yet', 'ReplicaSetStatus', undefined, { replicas: 1 }, false],
  ])('%s', (_, type, a, b, isSame) => {
    expect([isSameStatus(type, a, b), isSameStatus(type, b, a)]).toEqual([isSame, isSame])
  })

  it('a status that cannot be read is different from one that can', () => {
    expect(isSameStatus('ReplicaSetStatus', { replicas: 'many' }, { replicas: 1 })).toBe(false)
  })
})
