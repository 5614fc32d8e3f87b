import { describe, expect, test } from 'vitest'
import { FeatureGates } from '../../../api/feature-gates.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { ObjectReader } from '../../objects/objects.ts'
import { resourceclaims } from './resourceclaims.ts'
import { resourceclaimtemplates } from './resourceclaimtemplates.ts'

const ctx = { gates: FeatureGates.of(), now: 0 }
const said = (errors: readonly { field: string; message: string }[]) => errors.map((e) => `${e.field}: ${e.message}`)
type Claim = KubeObject & { spec: object; status?: object }

const exactly = { deviceClassName: 'gpu' }
const requests = [{ name: 'a', exactly }, { name: 'b', firstAvailable: [{ name: 'big', deviceClassName: 'gpu' }] }]
const opaque = { driver: 'gpu.example.com', parameters: { mode: 'fast' } }

function claim(devices: object, status?: object): Claim {
  const made = { metadata: { name: 'x', namespace: 'default' }, spec: { devices: structuredClone(devices) }, status } as Claim
  resourceclaims.defaults!(made, ctx)
  return made
}

test('defaults() asks for exactly one device, and compares tolerated values', () => {
  const alternatives = [{ name: 'big', deviceClassName: 'gpu', allocationMode: 'All' }]
  const made = claim({ requests: [{ name: 'a', exactly: { ...exactly, tolerations: [{ key: 'k' }] } }, { name: 'b', firstAvailable: alternatives }] })
  expect(made.spec).toEqual({
    devices: {
      requests: [
        { name: 'a', exactly: { ...exactly, allocationMode: 'ExactCount', count: 1, tolerations: [{ key: 'k', operator: 'Equal' }] } },
        { name: 'b', firstAvailable: alternatives },
      ],
    },
  })
})

const spec = 'spec.devices'
const unknown = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"

describe('validate()', () => {
  test.each<[string, object]>([
    ['nothing', {}],
    ['requests of both sorts', { requests }],
    ['a constraint on one alternative', { requests, constraints: [{ requests: ['b/big'], matchAttribute: 'example.com/numa' }] }],
    ['configuration of a driver', { requests, config: [{ requests: ['a'], opaque }] }],
  ])('takes %s', (_, devices) => expect(said(resourceclaims.validate(claim(devices), ctx))).toEqual([]))

  test.each<[string, object, string[]]>([
    ['a request of neither sort', { requests: [{ name: 'a' }] }, [`${spec}.requests[0]: Required value: exactly one of \`exactly\` or \`firstAvailable\` is required`]],
    [
      'a request of both sorts at once',
      { requests: [{ ...requests[1], exactly }] },
      [`${spec}.requests[0]: Invalid value: null: exactly one of \`exactly\` or \`firstAvailable\` is required, but multiple fields are set`],
    ],
    ['two requests of one name', { requests: [requests[0], requests[0]] }, [`${spec}.requests[1]: Duplicate value: "a"`]],
    ['no class', { requests: [{ name: 'a', exactly: {} }] }, [`${spec}.requests[0].exactly.deviceClassName: Required value`]],
    ['too many requests', { requests: Array.from({ length: 33 }, (_, i) => ({ name: `r${i}`, exactly })) }, [`${spec}.requests: Too many: 33: must have at most 32 items`]],
    ['a count beside All', { requests: [{ name: 'a', exactly: { ...exactly, allocationMode: 'All', count: 2 } }] }, [`${spec}.requests[0].exactly.count: Invalid value: 2: must not be specified when allocationMode is 'All'`]],
    ['an unknown mode', { requests: [{ name: 'a', exactly: { ...exactly, allocationMode: 'Some' } }] }, [`${spec}.requests[0].exactly.allocationMode: Unsupported value: "Some": supported values: "All", "ExactCount"`]],
    ['a selector without CEL', { requests: [{ name: 'a', exactly: { ...exactly, selectors: [{}] } }] }, [`${spec}.requests[0].exactly.selectors[0].cel: Required value`]],
    [
      'an expression that is too long',
      { requests: [{ name: 'a', exactly: { ...exactly, selectors: [{ cel: { expression: 'x'.repeat(10_241) } }] } }] },
      [`${spec}.requests[0].exactly.selectors[0].cel.expression: Too long: may not be more than 10240 bytes`],
    ],
    ['a toleration of all with a value', { requests: [{ name: 'a', exactly: { ...exactly, tolerations: [{ operator: 'Exists', value: 'v' }] } }] }, [`${spec}.requests[0].exactly.tolerations[0].value: Invalid value: "v": must be empty for operator \`Exists\``]],
    ['a constraint on nothing', { requests, constraints: [{}] }, [`${spec}.constraints[0]: Required value: exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set`]],
    ['an attribute without a domain', { requests, constraints: [{ matchAttribute: 'numa' }] }, [`${spec}.constraints[0].matchAttribute: Invalid value: "numa": a fully qualified name must be a domain and a name separated by a slash`]],
    ['a request there is not', { requests, constraints: [{ requests: ['c'], matchAttribute: 'a.b/c' }] }, [`${spec}.constraints[0].requests[0]: Invalid value: "c": ${unknown}`]],
    ['an alternative there is not', { requests, config: [{ requests: ['b/small'], opaque }] }, [`${spec}.config[0].requests[0]: Invalid value: "b/small": ${unknown}`]],
    ['configuration of nobody', { requests, config: [{}] }, [`${spec}.config[0].opaque: Required value`]],
    ['parameters that are a list', { requests, config: [{ opaque: { ...opaque, parameters: [] } }] }, [`${spec}.config[0].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object`]],
  ])('refuses %s', (_, devices, errors) => expect(said(resourceclaims.validate(claim(devices), ctx))).toEqual(errors))

  test('a template is judged as its claims are', () => {
    const template = { metadata: { name: 'x' }, spec: { metadata: { labels: { 'a b': 'c' } }, spec: { devices: { requests: [{ name: 'a' }] } } } } as KubeObject
    expect(said(resourceclaimtemplates.validate(template, ctx)).map((e) => e.split(':')[0])).toEqual(['spec.metadata.labels', 'spec.spec.devices.requests[0]'])
    expect(said(resourceclaimtemplates.validateUpdate({ ...template, spec: {} } as KubeObject, template, ctx))).toEqual([
      'spec: Invalid value: {}: field is immutable',
    ])
  })
})

test('validateUpdate() lets nothing change', () => {
  expect(said(resourceclaims.validateUpdate(claim({}), claim({ requests }), ctx))).toEqual([
    'spec: Invalid value: {"devices":{}}: field is immutable',
  ])
})

test.each<[string, Record<string, string> | undefined, number]>([
  ['a marked namespace may use devices as an administrator', { 'resource.kubernetes.io/admin-access': 'true' }, 0],
  ['another may not', undefined, 1],
])('%s', async (_, labels, errors) => {
  const reader = { get: () => ({ metadata: { labels } }), list: () => [] } as unknown as ObjectReader
  const made = claim({ requests: [{ name: 'a', exactly: { ...exactly, adminAccess: true } }] })
  const begun = await resourceclaims.begin!(made, undefined, { reader, dryRun: false } as never)
  expect(begun.errors).toHaveLength(errors)
})

describe('the status', () => {
  const result = { request: 'a', driver: 'gpu.example.com', pool: 'node-1', device: 'gpu-0' }
  const allocation = { devices: { results: [result] } }
  const pod = { resource: 'pods', name: 'p', uid: 'u' }
  const judge = (status: object, before: object = {}, metadata: object = {}) => {
    const made = claim({ requests }, status)
    Object.assign(made.metadata, metadata)
    return said(resourceclaims.status!.validate(made, claim({ requests }, before), ctx))
  }
  const { driver, pool, device } = result

  test.each<[string, object]>([
    ['an allocation', { allocation }],
    ['a reserved one', { allocation, reservedFor: [pod] }],
    ['what a driver reports', { allocation, devices: [{ driver, pool, device, networkData: { ips: ['10.9.8.7/24'] } }] }],
  ])('may be %s', (_, status) => expect(judge(status)).toEqual([]))

  test.each<[string, object, string[]]>([
    ['reserved and not allocated', { reservedFor: [pod] }, ['status.reservedFor: Forbidden: may not be specified when `allocated` is not set']],
    ['reserved for nobody', { allocation, reservedFor: [{}] }, ['resource', 'name', 'uid'].map((f) => `status.reservedFor[0].${f}: Required value`)],
    ['allocated for another request', { allocation: { devices: { results: [{ ...result, request: 'z' }] } } }, [`status.allocation.devices.results[0].request: Invalid value: "z": ${unknown}`]],
    ['about a device of nobody', { allocation, devices: [{ driver, pool, device: 'gpu-1' }] }, ['status.devices[0]: Invalid value: "gpu.example.com/node-1/gpu-1": must be an allocated device in the claim']],
    ['about an address that is none', { allocation, devices: [{ driver, pool, device, networkData: { ips: ['10.9.8.7'] } }] }, ['status.devices[0].networkData.ips[0]: Invalid value: "10.9.8.7": must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)']],
    ['of a share without a uid', { allocation: { devices: { results: [{ ...result, shareID: 'abc' }] } } }, ['status.allocation.devices.results[0].shareID: Invalid value: "abc": error validating uid: invalid UUID length: 3']],
  ])('may not be %s', (_, status, errors) => expect(judge(status)).toEqual(errors))

  test('keeps its allocation', () => {
    const other = { devices: { results: [{ ...result, device: 'gpu-1' }] } }
    expect(judge({ allocation: other }, { allocation })[0]).toMatch(/^status.allocation: Invalid value: .*: field is immutable$/)
    expect(judge({}, { allocation })).toEqual([])
  })

  test('gets no new consumers while the claim is being deleted', () => {
    const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z' }
    expect(judge({ allocation, reservedFor: [pod] }, { allocation, reservedFor: [pod] }, deleted)).toEqual([])
    expect(judge({ allocation, reservedFor: [pod] }, { allocation }, deleted)).toEqual([
      'status.reservedFor: Forbidden: new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set',
    ])
  })

  test.each<[string, object, object, string]>([
    ['pending', {}, {}, 'pending'],
    ['allocated', { allocation }, {}, 'allocated'],
    ['reserved', { allocation, reservedFor: [pod] }, {}, 'allocated,reserved'],
    ['deleted', {}, { deletionTimestamp: 'now' }, 'deleted'],
  ])('is shown: %s', (_, status, metadata, text) => {
    const made = claim({}, status)
    Object.assign(made.metadata, metadata)
    expect(resourceclaims.columns![1]!.cell(made, 0)).toBe(text)
  })
})
