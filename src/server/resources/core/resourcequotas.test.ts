import { describe, expect, it } from 'vitest'
import { DecodedTrial } from '../resource-trial.ts'
import { resourcequotas } from './resourcequotas.ts'

const trial = new DecodedTrial(resourcequotas)
const selects = (scopeName: string, operator: string, values?: string[]) => ({ scopeSelector: { matchExpressions: [{ scopeName, operator, ...(values && { values }) }] } })

describe('resourcequotas', () => {
  it('round amounts up to thousandths', () => {
    expect(trial.created({ spec: { hard: { cpu: '1500u' } } }).spec.hard).toEqual({ cpu: '2m' })
  })

  it.each<[string, object, string[]]>([
    ['every sort of name', { hard: { cpu: '1', 'count/deployments.apps': '2', 'requests.example.com/gpu': '1', 'hugepages-2Mi': '2Mi', 'requests.storage': '1' } }, []],
    ['an unknown name', { hard: { things: '1' } }, [
      'spec.hard[things]: Invalid value: "things": must be a standard resource type or fully qualified',
      'spec.hard[things]: Invalid value: "things": must be a standard resource for quota',
    ]],
    ['a name that no quota holds', { hard: { storage: '1' } }, ['spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota']],
    ['a negative amount', { hard: { cpu: '-1' } }, ['spec.hard[cpu]: Invalid value: "-1": must be greater than or equal to 0']],
    ['half a pod', { hard: { pods: '500m' } }, ['spec.hard[pods]: Invalid value: "500m": must be an integer']],
    ['an unknown scope', { hard: { pods: '1' }, scopes: ['Odd'] }, ['spec.scopes: Invalid value: ["Odd"]: unsupported scope']],
    ['scopes that exclude each other', { hard: { pods: '1' }, scopes: ['Terminating', 'NotTerminating'] }, [
      'spec.scopes: Invalid value: ["Terminating","NotTerminating"]: conflicting scopes',
    ]],
    ['a scope that says nothing of the resource', { hard: { cpu: '1' }, scopes: ['BestEffort'] }, [
      'spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource',
    ]],
    ['a selector by class', { hard: { pods: '1' }, ...selects('PriorityClass', 'In', ['high']) }, []],
    ['a selector without values', { ...selects('PriorityClass', 'In') }, [
      "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
    ]],
    ['a selector with values too many', { ...selects('PriorityClass', 'Exists', ['a']) }, [
      'spec.scopeSelector.matchExpressions.values: Invalid value: ["a"]: must be no value when `operator` is \'Exist\' or \'DoesNotExist\' for scope selector',
    ]],
    ['a selector of an unknown scope', { ...selects('Odd', 'Is') }, [
      'spec.scopeSelector.matchExpressions.scopeName: Invalid value: "Odd": unsupported scope',
      'spec.scopeSelector.matchExpressions.operator: Invalid value: "Is": not a valid selector operator',
    ]],
  ])('says of %s', (_, spec, refusals) => {
    expect(trial.refusals({ spec })).toEqual(refusals)
  })

  it('keep their scopes, in whatever order', () => {
    const old = trial.created({ spec: { hard: { pods: '1' }, scopes: ['BestEffort', 'NotTerminating'] } })
    expect(trial.updateRefusals(old, { spec: { hard: { pods: '2' }, scopes: ['NotTerminating', 'BestEffort'] } })).toEqual([])
    expect(trial.updateRefusals(old, { spec: { hard: { pods: '2' } } })).toEqual(['spec.scopes: Invalid value: null: field is immutable'])
  })

  it('judge what is said to be used', () => {
    const old = trial.created({ spec: { hard: { pods: '1' } } })
    expect(trial.statusRefusals(old, { hard: { pods: '1' }, used: { pods: '-1' } })).toEqual([
      'status.used[pods]: Invalid value: "-1": must be greater than or equal to 0',
    ])
  })

  it('are shown with requests and limits apart', () => {
    const status = { hard: { 'requests.cpu': '1', 'limits.memory': '1Gi', pods: '3' }, used: { 'requests.cpu': '250m', 'limits.memory': '64Mi' } }
    expect(trial.cells({ metadata: {}, spec: {}, status })).toMatchObject({ Request: 'pods: 0/3, requests.cpu: 250m/1', Limit: 'limits.memory: 64Mi/1Gi' })
  })
})
