import { describe, expect, it } from 'vitest'
import { ResourceTrial } from '../resource-trial.ts'
import { poddisruptionbudgets } from './poddisruptionbudgets.ts'

const selector = { matchLabels: { a: 'b' } }
const draft = (more: object = {}) => ({ spec: { selector, ...more } })
const trial = new ResourceTrial(poddisruptionbudgets)

describe('poddisruptionbudgets', () => {
  it.each([
    ['a count', { minAvailable: 1 }, []],
    ['none', { maxUnavailable: 0 }, []],
    ['neither', {}, []],
    ['both', { minAvailable: 1, maxUnavailable: '200%' }, [
      'spec: Invalid value: {"MinAvailable":1,"Selector":{"matchLabels":{"a":"b"}},"MaxUnavailable":"200%","UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set',
      'spec.maxUnavailable: Invalid value: "200%": must not be greater than 100%',
    ]],
    ['a negative count', { minAvailable: -1 }, ['spec.minAvailable: Invalid value: -1: must be greater than or equal to 0']],
    ['an unknown policy', { minAvailable: 1, unhealthyPodEvictionPolicy: 'Sometimes' }, [
      'spec.unhealthyPodEvictionPolicy: Unsupported value: "Sometimes": supported values: "AlwaysAllow", "IfHealthyBudget"',
    ]],
  ])('says of %s: %j', (_, more, refusals) => {
    expect(trial.refusals(draft(more))).toEqual(refusals)
    expect(trial.updateRefusals(trial.created(draft()), draft(more))).toEqual(refusals)
  })

  it('does not show the key by which old versions knew an empty selector', () => {
    const reserved = { key: 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match', operator: 'Exists' }
    expect(trial.created(draft({ selector: { ...selector, matchExpressions: [reserved] } })).spec.selector).toEqual(selector)
  })

  const condition = { type: 'A', status: 'True', reason: 'R', message: 'm', lastTransitionTime: '2024-01-01T00:00:00Z' }

  it.each([
    ['a good one', { disruptionsAllowed: 1, conditions: [condition] }, []],
    ['a negative count', { currentHealthy: -1 }, ['status.currentHealthy: Invalid value: -1: must be greater than or equal to 0']],
    ['a condition twice', { conditions: [condition, condition] }, ['status.conditions[1].type: Duplicate value: "A"']],
    ['a condition without a reason or a time', { conditions: [{ type: 'A', status: 'Odd' }] }, [
      'status.conditions[0].status: Unsupported value: "Odd": supported values: "False", "True", "Unknown"',
      'status.conditions[0].lastTransitionTime: Required value',
      'status.conditions[0].reason: Required value',
    ]],
    ['an odd reason', { conditions: [{ ...condition, reason: 'bad reason!' }] }, [
      expect.stringMatching(/^status.conditions\[0\].reason: Invalid value: "bad reason!": a condition reason must start with alphabetic character/),
    ]],
  ])('says of a status with %s', (_, status, refusals) => {
    expect(trial.statusRefusals(trial.created(draft()), status)).toEqual(refusals)
  })

  it('is shown with what it asks for', () => {
    expect(trial.cells(trial.created(draft({ minAvailable: '30%' })))).toMatchObject({ 'Min Available': '30%', 'Max Unavailable': 'N/A', 'Allowed Disruptions': 0 })
  })
})
