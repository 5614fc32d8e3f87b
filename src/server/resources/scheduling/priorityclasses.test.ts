import { describe, expect, it } from 'vitest'
import type { Draft } from '../resource-trial.ts'
import { DecodedTrial } from '../resource-trial.ts'
import { priorityclasses } from './priorityclasses.ts'
import { systemPriorityClasses } from './system-priority-classes.ts'

const trial = new DecodedTrial(priorityclasses)
const reserved = "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error:"

describe('priorityclasses', () => {
  it('preempt by default, and may have no value', () => {
    expect(trial.created({})).toMatchObject({ preemptionPolicy: 'PreemptLowerPriority', value: 0 })
  })

  it.each<[string, Draft, string[]]>([
    ['the highest value', { value: 1000000000 }, []],
    ['a value above it', { value: 1000000001 }, ['value: Forbidden: maximum allowed value of a user defined priority is 1000000000']],
    ['an unknown policy', { preemptionPolicy: 'Sometimes' }, [
      'preemptionPolicy: Unsupported value: "Sometimes": supported values: "PreemptLowerPriority", "Never"',
    ]],
    ['an empty policy', { preemptionPolicy: '' }, ['preemptionPolicy: Required value']],
    ['a name of the system', { metadata: { name: 'system-x' } }, [`${reserved} system-x is not a known system priority class`]],
    ['a class of the system with another value', { metadata: { name: 'system-node-critical' }, value: 5 }, [
      `${reserved} value of system-node-critical PriorityClass must be 2000001000`,
    ]],
    ['a class of the system as default', { metadata: { name: 'system-node-critical' }, value: 2000001000, globalDefault: true }, [
      `${reserved} globalDefault of system-node-critical PriorityClass must be false`,
    ]],
  ])('says of %s', (_, draft, refusals) => {
    expect(trial.refusals(draft)).toEqual(refusals)
  })

  it('takes the classes of the system', () => {
    for (const pc of systemPriorityClasses) expect(trial.refusals(pc as never)).toEqual([])
  })

  it('keeps value and policy', () => {
    const old = trial.created({ value: 5 })
    expect(trial.updateRefusals(old, { value: 5, description: 'd' })).toEqual([])
    expect(trial.updateRefusals(old, { value: 6, preemptionPolicy: 'Never' })).toEqual([
      'value: Forbidden: may not be changed in an update.',
      'preemptionPolicy: Invalid value: "Never": field is immutable',
    ])
  })

  it('shows value, default and policy', () => {
    expect(trial.cells(trial.created({ value: -5 }))).toMatchObject({ Value: -5, 'Global-Default': false, PreemptionPolicy: 'PreemptLowerPriority' })
  })
})
