import { describe, expect, it } from 'vitest'
import { DecodedTrial } from '../resource-trial.ts'
import { limitranges } from './limitranges.ts'

const trial = new DecodedTrial(limitranges)
const path = 'spec.limits[0]'

describe('limitranges', () => {
  it.each<[string, object, object]>([
    ['defaults follow max and min', { type: 'Container', max: { cpu: '2', memory: '1Gi' }, min: { cpu: '100m', 'ephemeral-storage': '1Mi' } }, {
      default: { cpu: '2', memory: '1Gi' },
      defaultRequest: { cpu: '2', memory: '1Gi', 'ephemeral-storage': '1Mi' },
    }],
    ['a default limit becomes the default request', { type: 'Container', default: { cpu: '500m' } }, { default: { cpu: '500m' }, defaultRequest: { cpu: '500m' } }],
    ['what is given stays', { type: 'Container', max: { cpu: '2' }, default: { cpu: '1' }, defaultRequest: { cpu: '500m' } }, {
      default: { cpu: '1' },
      defaultRequest: { cpu: '500m' },
    }],
    ['pods have no defaults', { type: 'Pod', max: { cpu: '2' } }, {}],
  ])('%s', (_, item, added) => {
    expect(trial.created({ spec: { limits: [item] } }).spec.limits).toEqual([{ ...item, ...added }])
  })

  it.each<[string, object[], string[]]>([
    ['no limits', [], []],
    ['a type of one’s own', [{ type: 'example.com/thing', max: { cpu: '1' } }], []],
    ['an unknown type', [{ type: 'Thing' }], [`${path}.type: Invalid value: "Thing": must be a standard limit type or fully qualified`]],
    ['one type twice', [{ type: 'Pod' }, { type: 'Pod' }], ['spec.limits[1].type: Duplicate value: "Pod"']],
    ['min above max', [{ type: 'Pod', max: { cpu: '1' }, min: { cpu: '2' } }], [`${path}.min[cpu]: Invalid value: "2": min value 2 is greater than max value 1`]],
    ['default above max', [{ type: 'Container', max: { cpu: '1' }, default: { cpu: '2' }, defaultRequest: { cpu: '1' } }], [
      `${path}.default[cpu]: Invalid value: "1": default value 2 is greater than max value 1`,
    ]],
    ['default below min', [{ type: 'Container', min: { cpu: '2' }, default: { cpu: '1' } }], [
      `${path}.defaultRequest[cpu]: Invalid value: "1": min value 2 is greater than default request value 1`,
      `${path}.default[cpu]: Invalid value: "2": min value 2 is greater than default value 1`,
    ]],
    ['default request above default', [{ type: 'Container', default: { cpu: '1' }, defaultRequest: { cpu: '2' } }], [
      `${path}.defaultRequest[cpu]: Invalid value: "2": default request value 2 is greater than default limit value 1`,
    ]],
    ['a pod default', [{ type: 'Pod', default: { cpu: '1' } }], [`${path}.default: Forbidden: may not be specified when \`type\` is 'Pod'`]],
    ['a ratio below 1', [{ type: 'Container', maxLimitRequestRatio: { cpu: '500m' } }], [
      `${path}.maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1`,
    ]],
    ['a ratio above max over min', [{ type: 'Pod', max: { cpu: '2' }, min: { cpu: '1' }, maxLimitRequestRatio: { cpu: '3' } }], [
      `${path}.maxLimitRequestRatio[cpu]: Invalid value: "3": ratio 3 is greater than max/min = 2.000000`,
    ]],
    ['an unknown container resource', [{ type: 'Container', max: { pods: '1' } }], [
      `${path}.max[pods]: Invalid value: "pods": must be a standard resource for containers`,
      `${path}.default[pods]: Invalid value: "pods": must be a standard resource for containers`,
      `${path}.defaultRequest[pods]: Invalid value: "pods": must be a standard resource for containers`,
    ]],
    ['claims without a size', [{ type: 'PersistentVolumeClaim', max: { cpu: '1' } }], [
      `${path}.limits: Required value: either minimum or maximum storage value is required, but neither was provided`,
    ]],
    ['devices overcommitted', [{ type: 'Container', default: { 'example.com/gpu': '2' }, defaultRequest: { 'example.com/gpu': '1' } }], [
      `${path}.defaultRequest[example.com/gpu]: Invalid value: "1": default value 2 must equal to defaultRequest value 1 in example.com/gpu`,
    ]],
  ])('says of %s', (_, limits, refusals) => {
    expect(trial.refusals({ spec: { limits } })).toEqual(refusals)
  })
})
