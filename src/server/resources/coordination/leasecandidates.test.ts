import { expect, test } from 'vitest'
import { FeatureGates } from '../../../api/feature-gates.ts'
import type { KubeObject } from '../../../api/object.ts'
import { leasecandidates } from './leasecandidates.ts'

const ctx = { gates: FeatureGates.of(), now: 0 }
const sample = { leaseName: 'kube-scheduler', binaryVersion: '1.36.0', emulationVersion: '1.35.0', strategy: 'OldestEmulationVersion' }
const made = (more: object = {}) => ({ metadata: { name: 'x' }, spec: { ...sample, ...more } }) as KubeObject

test.each<[string, object, string[]]>([
  ['everything', {}, []],
  ['a strategy of its own', { strategy: 'example.com/Newest', emulationVersion: undefined }, []],
  ['no lease', { leaseName: '' }, ['spec.leaseName: Required value']],
  ['no version', { binaryVersion: '' }, ['spec.binaryVersion: Required value']],
  ['a version that is none', { binaryVersion: '1.36' }, ['spec.binaryVersion: Invalid value: "1.36": must be a valid semantic version']],
  ['an older binary', { binaryVersion: '1.34.9' }, ['spec.binaryVersion: Invalid value: "1.34.9": must be greater than or equal to `emulationVersion`']],
  ['nothing to compare', { emulationVersion: '' }, ["spec.emulationVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'"]],
  ['an unknown strategy', { strategy: 'Newest' }, ['spec.strategy: Unsupported value: "Newest": supported values: "OldestEmulationVersion"']],
])('a candidate with %s', (_, more, errors) => {
  expect(leasecandidates.validate(made(more), ctx).map((e) => `${e.field}: ${e.message}`)).toEqual(errors)
})

test('a candidate stays with its lease', () => {
  expect(leasecandidates.validateUpdate(made({ leaseName: 'other' }), made(), ctx).map((e) => e.field)).toEqual(['spec.leaseName'])
  expect(leasecandidates.columns!.slice(1, 4).map((c) => c.cell(made(), 0))).toEqual(['kube-scheduler', '1.36.0', '1.35.0'])
})
