import { describe, expect, it } from 'vitest'
import { FeatureGates, knownGates } from './feature-gates.ts'

describe('FeatureGates', () => {
  it('has every gate at its default, but for those given', () => {
    const gates = FeatureGates.of({ DaemonSetConditions: false })
    expect(gates.all().map((g) => g.name)).toEqual(Object.keys(knownGates).sort())
    expect([gates.enabled('DaemonSetConditions'), gates.enabled('StatefulSetConditions')]).toEqual([false, true])
  })

  it.each([
    ['', true, true],
    ['DaemonSetConditions=false', false, true],
    [' DaemonSetConditions = F , StatefulSetConditions=0,', false, false],
    ['DaemonSetConditions=false,DaemonSetConditions=true', true, true],
  ])('reads %j', (text, daemonSets, statefulSets) => {
    const gates = FeatureGates.parse(text)
    expect([gates.enabled('DaemonSetConditions'), gates.enabled('StatefulSetConditions')]).toEqual([daemonSets, statefulSets])
  })

  it.each([
    ['Bogus=true', 'unrecognized feature gate: Bogus'],
    ['constructor=true', 'unrecognized feature gate: constructor'],
    ['DaemonSetConditions', 'missing bool value for DaemonSetConditions'],
    ['DaemonSetConditions=yes', 'invalid value of DaemonSetConditions=yes, err: strconv.ParseBool: parsing "yes": invalid syntax'],
  ])('refuses %j', (text, message) => {
    expect(() => FeatureGates.parse(text)).toThrow(message)
  })
})
