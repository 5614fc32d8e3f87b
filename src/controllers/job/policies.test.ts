import { describe, expect, it } from 'vitest'
import type { PodFailurePolicyRule, SuccessPolicyRule } from '../../api/generated/types.ts'
import { judgeFailure, metRule } from './policies.ts'
import { IndexSet } from './indexes.ts'
import { type SampleState, samplePod } from './sample.ts'

describe('judgeFailure()', () => {
  const exit = (operator: string, values: number[], containerName?: string): Partial<PodFailurePolicyRule> => ({
    onExitCodes: { operator, values, ...(containerName ? { containerName } : {}) },
  })
  const disrupted: Partial<PodFailurePolicyRule> = { onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }
  const failed = (exitCode: number): SampleState => ({ phase: 'Failed', exitCode })
  const evicted: SampleState = { phase: 'Failed', conditions: [{ type: 'DisruptionTarget', status: 'True' }] }

  it.each<[name: string, rules: Partial<PodFailurePolicyRule>[], pod: SampleState, action: string | undefined]>([
    ['no rules', [], failed(1), undefined],
    ['an exit code of the list', [{ action: 'Ignore', ...exit('In', [1, 42]) }], failed(42), 'Ignore'],
    ['one that is not in it', [{ action: 'Ignore', ...exit('In', [1, 42]) }], failed(2), undefined],
    ['NotIn', [{ action: 'FailIndex', ...exit('NotIn', [1, 42]) }], failed(2), 'FailIndex'],
    ['0 is never meant', [{ action: 'FailJob', ...exit('NotIn', [1]) }], { phase: 'Failed', exitCode: 0 }, undefined],
    ['another container', [{ action: 'Ignore', ...exit('In', [1], 'sidecar') }], failed(1), undefined],
    ['this container', [{ action: 'Ignore', ...exit('In', [1], 'c') }], failed(1), 'Ignore'],
    ['a condition', [{ action: 'Ignore', ...disrupted }], evicted, 'Ignore'],
    ['a condition that is not there', [{ action: 'Ignore', ...disrupted }], failed(1), undefined],
    ['the first that matches', [{ action: 'Count', ...exit('In', [1]) }, { action: 'FailJob', ...exit('NotIn', [9]) }], failed(1), 'Count'],
  ])('%s', (_, rules, state, action) => {
    expect(judgeFailure({ rules: rules as PodFailurePolicyRule[] }, samplePod('a', state)).action).toBe(action)
  })

  it('says why the Job is to fail', () => {
    const rules = [{ action: 'Count', ...exit('In', [7]) }, { action: 'FailJob', ...exit('In', [42]) }, { action: 'FailJob', ...disrupted }] as PodFailurePolicyRule[]
    const message = (state: SampleState) => judgeFailure({ rules }, samplePod('a', state)).message
    expect(message(failed(42))).toBe('Container c for pod default/a failed with exit code 42 matching FailJob rule at index 1')
    expect(message(evicted)).toBe('Pod default/a has condition DisruptionTarget matching FailJob rule at index 2')
    expect(message(failed(7))).toBeUndefined()
  })
})

describe('metRule()', () => {
  it.each<[name: string, rules: SuccessPolicyRule[], succeeded: string, met: number | undefined]>([
    ['nothing has succeeded', [{ succeededCount: 0 }], '', undefined],
    ['enough of any', [{ succeededCount: 2 }], '1,4', 0],
    ['not enough', [{ succeededCount: 3 }], '1,4', undefined],
    ['all that are named', [{ succeededIndexes: '1,4' }], '0-4', 0],
    ['not all', [{ succeededIndexes: '1,4' }], '0-3', undefined],
    ['enough of those that are named', [{ succeededIndexes: '0-4', succeededCount: 2 }], '3-5', 0],
    ['enough, but others', [{ succeededIndexes: '0-4', succeededCount: 2 }], '4-9', undefined],
    ['the second rule', [{ succeededIndexes: '0' }, { succeededCount: 1 }], '5', 1],
    ['none of which can be', [{ succeededIndexes: '50' }], '5', undefined],
  ])('%s', (_, rules, succeeded, met) => {
    expect(metRule({ rules }, IndexSet.parse(succeeded, 10), (_at, text) => IndexSet.parse(text, 10))).toBe(met)
  })
})
