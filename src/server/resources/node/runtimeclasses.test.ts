import { describe, expect, it } from 'vitest'
import { DecodedTrial } from '../resource-trial.ts'
import { runtimeclasses } from './runtimeclasses.ts'

const trial = new DecodedTrial(runtimeclasses)

describe('runtimeclasses', () => {
  it.each<[string, object, string[]]>([
    ['all at once', { overhead: { podFixed: { cpu: '100m' } }, scheduling: { nodeSelector: { a: 'b' }, tolerations: [{ key: 'k', operator: 'Exists' }] } }, []],
    ['no handler', { handler: '' }, ['handler: Required value']],
    ['a negative overhead', { overhead: { podFixed: { cpu: '-1' } } }, ['overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0']],
    ['an unknown overhead', { overhead: { podFixed: { pods: '1' } } }, ['overhead.limits[pods]: Invalid value: "pods": must be a standard resource for containers']],
    ['a toleration twice', { scheduling: { tolerations: [{ key: 'k', operator: 'Exists' }, { key: 'k', operator: 'Exists' }] } }, [
      'scheduling.tolerations[1]: Duplicate value: {"Key":"k","Operator":"Exists","Value":"","Effect":"","TolerationSeconds":null}',
    ]],
  ])('says of %s', (_, draft, refusals) => {
    expect(trial.refusals({ handler: 'h', ...draft })).toEqual(refusals)
  })

  it.each([
    ['Upper', /^handler: Invalid value: "Upper": a lowercase RFC 1123 label/],
    ['a.b', /^handler: Invalid value: "a.b": must not contain dots/],
  ])('refuses the handler %s', (handler, refusal) => {
    expect(trial.refusals({ handler })).toEqual([expect.stringMatching(refusal)])
  })

  it('refuses a bad node selector without its key in the path', () => {
    const refusals = trial.refusals({ handler: 'h', scheduling: { nodeSelector: { 'a b': 'c d' } } })
    expect(refusals.map((r) => r.split(':', 3).slice(0, 2).join(':'))).toEqual(['scheduling.nodeSelector: Invalid value', 'scheduling.nodeSelector: Invalid value'])
  })

  it('keeps its handler and not its overhead', () => {
    const old = trial.created({ handler: 'h' })
    expect(trial.updateRefusals(old, { handler: 'h', overhead: { podFixed: { cpu: '1' } } })).toEqual([])
    expect(trial.updateRefusals(old, { handler: 'g' })).toEqual(['handler: Invalid value: "g": field is immutable'])
  })
})
