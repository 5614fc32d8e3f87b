import { describe, expect, it } from 'vitest'
import type { Draft } from '../resource-trial.ts'
import { DecodedTrial } from '../resource-trial.ts'
import { storageclasses } from './storageclasses.ts'
import { volumeattributesclasses } from './volumeattributesclasses.ts'

const trial = new DecodedTrial(storageclasses)
const attributes = new DecodedTrial(volumeattributesclasses)
const base = { provisioner: 'example.com/p' }
const topology = (...requirements: { key: string; values: string[] }[]) => ({ matchLabelExpressions: requirements })

describe('storageclasses', () => {
  it('are filled in', () => {
    expect(trial.created(base)).toMatchObject({ reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' })
  })

  it.each<[string, Draft, string[]]>([
    ['a plain one', base, []],
    ['no provisioner', {}, ['provisioner: Required value']],
    ['an empty parameter name', { ...base, parameters: { '': 'b' } }, ['parameters: Invalid value: "": field can not be empty.']],
    ['parameters too many', { ...base, parameters: Object.fromEntries(Array.from({ length: 513 }, (_, i) => [`p${i}`, ''])) }, [
      'parameters: Too long: may not be more than 512 bytes',
    ]],
    ['parameters too long', { ...base, parameters: { a: 'x'.repeat(256 * 1024) } }, ['parameters: Too long: may not be more than 262144 bytes']],
    ['an unknown reclaim policy', { ...base, reclaimPolicy: 'Recycle' }, ['reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"']],
    ['an unknown binding mode', { ...base, volumeBindingMode: 'Later' }, [
      'volumeBindingMode: Unsupported value: "Later": supported values: "Immediate", "WaitForFirstConsumer"',
    ]],
    ['a topology without values', { ...base, allowedTopologies: [topology({ key: 'zone', values: [] })] }, [
      'allowedTopologies[0].matchLabelExpressions[0].values: Required value',
    ]],
    ['values and keys twice', { ...base, allowedTopologies: [topology({ key: 'z', values: ['a', 'a'] }), topology({ key: 'z', values: ['b'] }, { key: 'z', values: ['c'] })] }, [
      'allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: "a"',
      'allowedTopologies[1].matchLabelExpressions[1].key: Duplicate value: "z"',
    ]],
    ['the same topology twice', { ...base, allowedTopologies: [topology({ key: 'z', values: ['a', 'b'] }), topology({ key: 'z', values: ['b', 'a'] })] }, [
      'allowedTopologies[1].matchLabelExpressions: Duplicate value: ""',
    ]],
  ])('says of %s', (_, draft, refusals) => {
    expect(trial.refusals(draft)).toEqual(refusals)
  })

  it('quotes a bad provisioner in lower case', () => {
    expect(trial.refusals({ provisioner: 'A b' })).toEqual([expect.stringMatching(/^provisioner: Invalid value: "a b": name part must consist/)])
  })

  it.each([
    ['provisioner', 'example.com/q', '"example.com/q"'],
    ['reclaimPolicy', 'Retain', '"Retain"'],
    ['volumeBindingMode', 'WaitForFirstConsumer', '"WaitForFirstConsumer"'],
    ['parameters', { a: 'b' }, '{"a":"b"}'],
  ])('keeps its %s', (field, value, quoted) => {
    expect(trial.updateRefusals(trial.created(base), { ...base, [field]: value })).toEqual([`${field}: Invalid value: ${quoted}: field is immutable`])
  })

  it('may learn to expand', () => {
    expect(trial.updateRefusals(trial.created(base), { ...base, allowVolumeExpansion: true })).toEqual([])
  })

  it('shows which one is the default', () => {
    const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' }
    expect(trial.cells(trial.created({ ...base, metadata: { annotations } }))).toMatchObject({ Name: 'x (default)', AllowVolumeExpansion: false })
  })
})

describe('volumeattributesclasses', () => {
  const vac = { driverName: 'example.com', parameters: { a: 'b' } }
  it('need a driver and parameters', () => {
    expect(attributes.refusals(vac)).toEqual([])
    expect(attributes.refusals({})).toEqual(['driverName: Required value', 'parameters: Required value: must contain at least one key/value pair'])
  })

  it('keep both', () => {
    expect(attributes.updateRefusals(attributes.created(vac), { driverName: 'b.example.com', parameters: { a: 'c' } })).toEqual([
      'driverName: Forbidden: updates to driverName are forbidden.',
      'parameters: Forbidden: updates to parameters are forbidden.',
    ])
  })
})
