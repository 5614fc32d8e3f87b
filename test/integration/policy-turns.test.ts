import { afterEach, describe, expect, it } from 'vitest'
import type { Turns } from '../../src/base/turns.ts'
import { TestServer, configMap, configMaps } from './server.ts'

const group = '/apis/admissionregistration.k8s.io/v1'
const onConfigMaps = { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }] }

let server: TestServer
/** The number of pauses, in each of which another request is answered. */
let paused: number
const turns: Turns = {
  isSpent: true,
  next: async () => {
    paused++
    if (paused <= 100) expect((await server.get('/readyz')).code).toBe(200)
  },
}

afterEach(async () => {
  expect(server.errors).toEqual([])
  await server.close()
})

async function bind(kind: 'Validating' | 'Mutating', spec: object, bindings: readonly string[]): Promise<void> {
  server = await TestServer.start({ turns })
  const make = async (which: string, name: string, given: object) => {
    const full = `${kind}AdmissionPolicy${which}`
    const plural = which ? `${full.toLowerCase()}s` : full.toLowerCase().replace(/y$/, 'ies')
    const made = await server.create(`${group}/${plural}`, { apiVersion: 'admissionregistration.k8s.io/v1', kind: full, metadata: { name }, spec: given })
    expect([made.code, made.body.message]).toEqual([201, undefined])
  }
  await make('', 'p', { matchConstraints: onConfigMaps, ...spec })
  for (const name of bindings) await make('Binding', name, { policyName: 'p', ...(kind === 'Validating' ? { validationActions: ['Deny'] } : {}) })
  paused = 0
}

const variables = Array.from({ length: 10 }, (_, i) => ({ name: `v${i}`, expression: `${i} + size(object.metadata.name)` }))
const sum = variables.map(({ name }) => `variables.${name}`).join(' + ')

describe('the expressions of a policy give way to other requests', () => {
  it('that validates, for each binding', async () => {
    const spec = { variables, matchConditions: [{ name: 'c', expression: 'true' }], validations: [{ expression: `${sum} == 55` }, { expression: 'true' }] }
    await bind('Validating', spec, ['a', 'b'])
    expect((await server.create(configMaps, configMap('a'))).code).toBe(201)
    // Ten variables, two validations and a condition, for each of two bindings.
    expect(paused).toBeGreaterThanOrEqual(26)
    expect((await server.create(configMaps, configMap('bb'))).body.message).toContain("with binding 'a' denied request: failed expression")
  })

  it('that mutates', async () => {
    const mutation = { patchType: 'ApplyConfiguration', applyConfiguration: { expression: `Object{data: {"sum": string(${sum})}}` } }
    await bind('Mutating', { variables, failurePolicy: 'Fail', reinvocationPolicy: 'Never', mutations: [mutation] }, ['a'])
    const { code, body } = await server.create(configMaps, configMap('a'))
    expect([code, body.data]).toEqual([201, { sum: '55' }])
    expect(paused).toBeGreaterThanOrEqual(11)
  })
})
