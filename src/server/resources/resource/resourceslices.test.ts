import { describe, expect, test } from 'vitest'
import { FeatureGates } from '../../../api/feature-gates.ts'
import type { KubeObject } from '../../../api/object.ts'
import { deviceclasses } from './deviceclasses.ts'
import { resourceslices } from './resourceslices.ts'

const ctx = { gates: FeatureGates.of(), now: 0 }
const said = (errors: readonly { field: string; message: string }[]) => errors.map((e) => `${e.field}: ${e.message}`)

const pool = { name: 'node-1', generation: 1, resourceSliceCount: 1 }
const gpu = { name: 'gpu-0', attributes: { model: { string: 'A100' } }, capacity: { 'example.com/memory': { value: '40Gi' } } }
const slice = (more: object = {}) =>
  ({ metadata: { name: 'x' }, spec: { driver: 'gpu.example.com', pool, nodeName: 'node-1', devices: [gpu], ...more } }) as unknown as KubeObject
const device = (more: object) => ({ devices: [{ ...gpu, ...more }] })
const shared = (requestPolicy: object) => device({ allowMultipleAllocations: true, capacity: { memory: { value: '40Gi', requestPolicy } } })
const only = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required'
const first = 'spec.devices[0]'

describe('validate()', () => {
  test.each<[string, object]>([
    ['devices of a node', {}],
    ['devices of all nodes', { nodeName: undefined, allNodes: true }],
    ['devices that each say where they are', { nodeName: undefined, perDeviceNodeSelection: true, devices: [{ ...gpu, nodeName: 'node-1' }] }],
    ['counters', { devices: undefined, sharedCounters: [{ name: 'set', counters: { memory: { value: '1Gi' } } }] }],
    ['a version', device({ attributes: { driver: { version: '1.2.3-rc.1+build' } } })],
    ['memory in steps', shared({ default: '2Gi', validRange: { min: '1Gi', max: '8Gi', step: '1Gi' } })],
    ['memory in some sizes', shared({ default: '2Gi', validValues: ['1Gi', '2Gi'] })],
  ])('takes %s', (_, more) => expect(said(resourceslices.validate(slice(more), ctx))).toEqual([]))

  test.each<[string, object, string[]]>([
    ['no place', { nodeName: undefined }, [`spec: Required value: ${only}`]],
    ['two places', { allNodes: true }, [`spec: Invalid value: "{\`nodeName\`, \`allNodes\`}": ${only}, but multiple fields are set`]],
    ['no driver', { driver: '' }, ['spec.driver: Required value']],
    ['an empty pool', { pool: { ...pool, resourceSliceCount: 0 } }, ['spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero']],
    ['a device twice', { devices: [gpu, gpu] }, ['spec.devices[1]: Duplicate value: "gpu-0"']],
    ['too many devices', { devices: Array.from({ length: 129 }, (_, i) => ({ name: `d${i}` })) }, ['spec.devices: Too many: 129: must have at most 128 items']],
    ['devices beside counters', { sharedCounters: [{ name: 's', counters: { c: { value: '1' } } }] }, ['spec: Invalid value: "": only one of `sharedCounters` or `devices` is allowed']],
    ['an attribute of two kinds', device({ attributes: { a: { int: 1, bool: true } } }), [`${first}.attributes[a]: Invalid value: {"int":1,"bool":true}: exactly one value must be specified`]],
    ['an attribute without a value', device({ attributes: { a: {} } }), [`${first}.attributes[a]: Invalid value: "": exactly one value must be specified`]],
    ['a version that is none', device({ attributes: { a: { version: '1.2' } } }), [`${first}.attributes[a].version: Invalid value: "1.2": must be a string compatible with semver.org spec 2.0.0`]],
    ['a name with two slashes', device({ attributes: { 'a/b/c': { int: 1 } } }), [`${first}.attributes: Invalid value: "a/b/c": must not contain more than one slash`]],
    ['an unknown effect', device({ taints: [{ key: 'k', effect: 'PreferNoSchedule' }] }), [`${first}.taints[0].effect: Unsupported value: "PreferNoSchedule": supported values: "NoExecute", "NoSchedule", "None"`]],
    ['a node of one device', device({ nodeName: 'n' }), [`${first}: Invalid value: null: \`nodeName\`, \`nodeSelector\` and \`allNodes\` can only be set if \`perDeviceNodeSelection\` is set to true in the ResourceSlice spec`]],
    ['conditions of failure alone', device({ bindingFailureConditions: ['a'] }), [`${first}.bindingConditions: Invalid value: []: bindingConditions are required to use bindingFailureConditions`]],
    ['sharing of a device that is not shared', device({ capacity: { memory: { value: '1', requestPolicy: {} } } }), [`${first}.capacity[memory].requestPolicy: Forbidden: allowMultipleAllocations must be true`]],
    ['a range without a default', shared({ validRange: { min: '1Gi' } }), [`${first}.capacity[memory].requestPolicy.default: Required value: required when validRange is defined`]],
    ['a step beside the default', shared({ default: '3Gi', validRange: { min: '1Gi', step: '4Gi' } }), [`${first}.capacity[memory].requestPolicy.validRange.step: Invalid value: "3Gi": value is not a multiple of a given step (4Gi) from (1Gi)`]],
    ['sizes without the default', shared({ default: '3Gi', validValues: ['1Gi', '41Gi'] }), [
      `${first}.capacity[memory].requestPolicy.validValues[1]: Invalid value: "41Gi": option is larger than capacity value: 40Gi`,
      `${first}.capacity[memory].requestPolicy.validValues: Invalid value: "3Gi": default value is not valid according to the requestPolicy`,
    ]],
    ['a set without counters', { devices: undefined, sharedCounters: [{ name: 's' }] }, ['spec.sharedCounters[0].counters: Required value']],
  ])('refuses %s', (_, more, errors) => expect(said(resourceslices.validate(slice(more), ctx))).toEqual(errors))
})

test('validateUpdate() keeps driver, pool and node, and lets devices change', () => {
  expect(said(resourceslices.validateUpdate(slice({ devices: [] }), slice(), ctx))).toEqual([])
  const moved = slice({ driver: 'other.example.com', nodeName: 'node-2', pool: { ...pool, name: 'other', generation: 2 } })
  expect(said(resourceslices.validateUpdate(moved, slice(), ctx))).toEqual([
    'spec.pool.name: Invalid value: "other": field is immutable',
    'spec.driver: Invalid value: "other.example.com": field is immutable',
    'spec.nodeName: Invalid value: "node-2": field is immutable',
  ])
})

test('a taint knows since when, lists of an alpha feature are dropped', () => {
  const made = slice(device({ attributes: { a: { int: 1, ints: [2] } }, taints: [{ key: 'k', effect: 'None' }] }))
  resourceslices.defaults!(made, ctx)
  resourceslices.prepareForCreate!(made, ctx)
  expect(made).toMatchObject({ spec: { devices: [{ attributes: { a: { int: 1 } }, taints: [{ timeAdded: '1970-01-01T00:00:00Z' }] }] } })
  expect(JSON.stringify(made)).not.toContain('"ints"')
})

test('fields and cells', () => {
  const fields = Object.entries(resourceslices.selectableFields!).map(([name, read]) => [name, read(slice())])
  expect(fields).toEqual([['spec.driver', 'gpu.example.com'], ['spec.nodeName', 'node-1']])
  expect(resourceslices.columns!.slice(1, 4).map((c) => c.cell(slice(), 0))).toEqual(['node-1', 'gpu.example.com', 'node-1'])
})

test.each<[string, object, string[]]>([
  ['nothing', {}, []],
  ['a name for pods', { extendedResourceName: 'example.com/gpu' }, []],
  ['a name of Kubernetes', { extendedResourceName: 'cpu' }, ['spec.extendedResourceName: Invalid value: "cpu": must be a valid extended resource name']],
  ['configuration without a driver', { config: [{ opaque: { parameters: {} } }] }, ['spec.config[0].opaque.driver: Required value']],
  ['a selector without CEL', { selectors: [{}] }, ['spec.selectors[0].cel: Required value']],
])('a class with %s', (_, spec, errors) => {
  expect(said(deviceclasses.validate({ metadata: { name: 'x' }, spec } as KubeObject, ctx))).toEqual(errors)
})
