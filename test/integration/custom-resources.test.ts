import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TestServer, settle } from './server.ts'

let server: TestServer

beforeEach(async () => {
  server = await TestServer.start()
})
afterEach(async () => {
  expect(server.errors).toEqual([])
  await server.close()
})

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const group = 'example.com'
const text = { type: 'string' }
const int = { type: 'integer' }
const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })
const list = (items: object, more: object = {}) => ({ type: 'array', items, ...more })
const keyed = (key: string) => ({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [key] })
const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const port = { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }
const rule = (...rules: object[]) => ({ 'x-kubernetes-validations': rules })

const version = (name: string, spec: object, more: object = {}) => ({
  name, served: true, storage: false, subresources: { status: {} }, ...more,
  schema: { openAPIV3Schema: object({ spec, status: open }) },
})
const definition = (kind: string, versions: object[]) => ({
  apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition',
  metadata: { name: `${kind.toLowerCase()}s.${group}` },
  spec: { group, scope: 'Namespaced', names: { plural: `${kind.toLowerCase()}s`, kind }, versions },
})
const pathOf = (kind: string, name = '') => `/apis/${group}/v1/namespaces/default/${kind.toLowerCase()}s${name && `/${name}`}`
const instance = (kind: string, spec: unknown, name = 'a') => ({ apiVersion: `${group}/v1`, kind, metadata: { name }, spec })

async function define(kind: string, spec: object, more: object[] = []): Promise<void> {
  const made = await server.create(definitions, definition(kind, [version('v1', spec, { storage: true }), ...more]))
  expect([made.code, made.body.message]).toEqual([201, undefined])
  await settle()
}

interface Shape {
  kind: string
  spec: any
  right: object
  /** A wrong spec, and the field that is blamed. */
  wrong: [unknown, string][]
}

// The shapes of kinds that public projects bring.
const certificate: Shape = {
  kind: 'Certificate',
  spec: object({
    secretName: text, duration: text, dnsNames: list(text), isCA: { type: 'boolean' }, revisionHistoryLimit: { ...int, minimum: 1 },
    issuerRef: object({ name: text, kind: text }, { required: ['name'] }),
    privateKey: object({ algorithm: { ...text, enum: ['RSA', 'ECDSA'] }, size: int }),
    usages: list({ ...text, enum: ['server auth', 'client auth'] }),
  }, { required: ['secretName', 'issuerRef'] }),
  right: { secretName: 's', issuerRef: { name: 'i' }, usages: ['server auth'] },
  wrong: [
    [{ issuerRef: { name: 'i' } }, 'spec.secretName'], [{ secretName: 's' }, 'spec.issuerRef'],
    [{ secretName: 's', issuerRef: {} }, 'spec.issuerRef.name'], [{ secretName: 1, issuerRef: { name: 'i' } }, 'spec.secretName'],
    [{ secretName: 's', issuerRef: { name: 'i' }, usages: ['x'] }, 'spec.usages[0]'],
    [{ secretName: 's', issuerRef: { name: 'i' }, dnsNames: 'x' }, 'spec.dnsNames'],
    [{ secretName: 's', issuerRef: { name: 'i' }, dnsNames: ['a', 1] }, 'spec.dnsNames[1]'],
    [{ secretName: 's', issuerRef: { name: 'i' }, revisionHistoryLimit: 0 }, 'spec.revisionHistoryLimit'],
    [{ secretName: 's', issuerRef: { name: 'i' }, privateKey: { algorithm: 'DSA' } }, 'spec.privateKey.algorithm'],
    [{ secretName: 's', issuerRef: { name: 'i' }, isCA: 'yes' }, 'spec.isCA'],
  ],
}

const monitor: Shape = {
  kind: 'ServiceMonitor',
  spec: object({
    endpoints: list(object({
      port: text, targetPort: port, interval: { ...text, pattern: '^(0|(([0-9]+)(ms|s|m|h))+)$' }, scheme: { ...text, enum: ['http', 'https'] },
      params: { type: 'object', additionalProperties: list(text) },
      relabelings: list(object({ action: { ...text, default: 'replace' }, sourceLabels: list({ ...text, pattern: '^[a-zA-Z_]+$' }) })),
    })),
    selector: object({ matchLabels: { type: 'object', additionalProperties: text } }, { 'x-kubernetes-map-type': 'atomic' }),
    sampleLimit: { ...int, format: 'int64', minimum: 0 },
  }, { required: ['endpoints', 'selector'] }),
  right: { endpoints: [{ targetPort: 80 }, { targetPort: 'web', interval: '30s', relabelings: [{}] }], selector: {} },
  wrong: [
    [{ selector: {} }, 'spec.endpoints'], [{ endpoints: [] }, 'spec.selector'], [{ endpoints: {}, selector: {} }, 'spec.endpoints'],
    [{ endpoints: [{ targetPort: 1.5 }], selector: {} }, 'spec.endpoints[0].targetPort'],
    [{ endpoints: [{ interval: '30' }], selector: {} }, 'spec.endpoints[0].interval'],
    [{ endpoints: [{}, { scheme: 'ftp' }], selector: {} }, 'spec.endpoints[1].scheme'],
    [{ endpoints: [{ params: { a: 'x' } }], selector: {} }, 'spec.endpoints[0].params.a'],
    [{ endpoints: [{ relabelings: [{ sourceLabels: ['a b'] }] }], selector: {} }, 'spec.endpoints[0].relabelings[0].sourceLabels[0]'],
    [{ endpoints: [], selector: { matchLabels: { a: 1 } } }, 'spec.selector.matchLabels.a'],
    [{ endpoints: [], selector: {}, sampleLimit: -1 }, 'spec.sampleLimit'],
  ],
}

const application: Shape = {
  kind: 'Application',
  spec: object({
    project: text, destination: object({ server: text, name: text, namespace: text }, rule({ rule: '!has(self.server) || !has(self.name)', message: 'one of server and name' })),
    source: object({ repoURL: text, helm: object({ values: text, valuesObject: open, parameters: list(object({ name: text, value: text })) }) }, { required: ['repoURL'] }),
    syncPolicy: object({ retry: object({ limit: { ...int, format: 'int64' }, backoff: object({ factor: int, duration: text }) }), syncOptions: list(text) }),
  }, { required: ['project', 'destination', 'source'] }),
  right: { project: 'p', destination: { name: 'x' }, source: { repoURL: 'r', helm: { valuesObject: { any: [1, { x: null }] } } } },
  wrong: [
    [{}, 'spec.project'], [{ project: 'p', destination: {}, source: {} }, 'spec.source.repoURL'],
    [{ project: 'p', destination: { server: 's', name: 'n' }, source: { repoURL: 'r' } }, 'spec.destination'],
    [{ project: 'p', destination: [], source: { repoURL: 'r' } }, 'spec.destination'],
    [{ project: 'p', destination: {}, source: { repoURL: 'r', helm: { values: {} } } }, 'spec.source.helm.values'],
    [{ project: 'p', destination: {}, source: { repoURL: 'r', helm: { valuesObject: 'x' } } }, 'spec.source.helm.valuesObject'],
    [{ project: 'p', destination: {}, source: { repoURL: 'r', helm: { parameters: [{ name: 1 }] } } }, 'spec.source.helm.parameters[0].name'],
    [{ project: 'p', destination: {}, source: { repoURL: 'r' }, syncPolicy: { retry: { limit: '5' } } }, 'spec.syncPolicy.retry.limit'],
    [{ project: 'p', destination: {}, source: { repoURL: 'r' }, syncPolicy: { retry: { backoff: { factor: 1.5 } } } }, 'spec.syncPolicy.retry.backoff.factor'],
    [{ project: 'p', destination: {}, source: { repoURL: 'r' }, syncPolicy: { syncOptions: [true] } }, 'spec.syncPolicy.syncOptions[0]'],
  ],
}

const gateway: Shape = {
  kind: 'Gateway',
  spec: object({
    gatewayClassName: { ...text, minLength: 1, maxLength: 253 },
    listeners: list(object({
      name: { ...text, maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' }, port: { ...int, format: 'int32', minimum: 1, maximum: 65535 },
      protocol: { ...text, maxLength: 255 }, hostname: { ...text, maxLength: 253 },
    }, { required: ['name', 'port', 'protocol'], ...rule({ rule: "self.protocol != 'TCP' || !has(self.hostname)", message: 'no hostname for TCP' }) }), {
      ...keyed('name'), minItems: 1, maxItems: 4, ...rule({ rule: 'self.all(l, self.exists_one(m, m.port == l.port))', message: 'ports must be unique' }),
    }),
  }, { required: ['gatewayClassName', 'listeners'] }),
  right: { gatewayClassName: 'c', listeners: [{ name: 'a', port: 80, protocol: 'HTTP', hostname: 'x' }] },
  wrong: [
    [{ listeners: [{ name: 'a', port: 1, protocol: 'TCP' }] }, 'spec.gatewayClassName'], [{ gatewayClassName: '', listeners: [{ name: 'a', port: 1, protocol: 'TCP' }] }, 'spec.gatewayClassName'],
    [{ gatewayClassName: 'c', listeners: [] }, 'spec.listeners'],
    [{ gatewayClassName: 'c', listeners: [{ name: 'a', protocol: 'TCP' }] }, 'spec.listeners[0].port'],
    [{ gatewayClassName: 'c', listeners: [{ name: 'a', port: 70000, protocol: 'TCP' }] }, 'spec.listeners[0].port'],
    [{ gatewayClassName: 'c', listeners: [{ name: 'A', port: 1, protocol: 'TCP' }] }, 'spec.listeners[0].name'],
    [{ gatewayClassName: 'c', listeners: [{ name: 'a', port: 1, protocol: 'TCP', hostname: 'h' }] }, 'spec.listeners[0]'],
    [{ gatewayClassName: 'c', listeners: [{ name: 'a', port: 1, protocol: 'X' }, { name: 'a', port: 2, protocol: 'X' }] }, 'spec.listeners[1]'],
    [{ gatewayClassName: 'c', listeners: [{ name: 'a', port: 1, protocol: 'X' }, { name: 'b', port: 1, protocol: 'X' }] }, 'spec.listeners'],
    [{ gatewayClassName: 'c', listeners: 'x' }, 'spec.listeners'],
  ],
}

const pool: Shape = {
  kind: 'IPAddressPool',
  spec: object({
    addresses: list(text), autoAssign: { type: 'boolean', default: true }, priority: int,
    serviceAllocation: object({ namespaces: list(text), weight: { type: 'number' }, selectors: list(object({ key: text, values: list(text) }, { required: ['key'] })) }),
  }, { required: ['addresses'] }),
  right: { addresses: ['10.0.0.0/24'] },
  wrong: [
    [{}, 'spec.addresses'], ['x', 'spec'], [[], 'spec'], [{ addresses: [1] }, 'spec.addresses[0]'], [{ addresses: [], autoAssign: 1 }, 'spec.autoAssign'],
    [{ addresses: [], priority: 'x' }, 'spec.priority'], [{ addresses: [], serviceAllocation: [] }, 'spec.serviceAllocation'],
    [{ addresses: [], serviceAllocation: { weight: 'x' } }, 'spec.serviceAllocation.weight'],
    [{ addresses: [], serviceAllocation: { selectors: [{}] } }, 'spec.serviceAllocation.selectors[0].key'],
    [{ addresses: [], serviceAllocation: { selectors: [{ key: 'k', values: [null, 2] }] } }, 'spec.serviceAllocation.selectors[0].values[0]'],
  ],
}

const scaler: Shape = {
  kind: 'ScaledObject',
  spec: object({
    minReplicaCount: { ...int, format: 'int32' }, maxReplicaCount: { ...int, format: 'int32' }, template: { ...open, 'x-kubernetes-embedded-resource': true },
    triggers: list(object({ type: text, metadata: { type: 'object', additionalProperties: text } }, { required: ['type', 'metadata'] })),
    mode: { ...text, oneOf: [{ pattern: '^a' }, { pattern: 'z$' }] },
  }, { required: ['triggers'], ...rule({ rule: '!has(self.minReplicaCount) || !has(self.maxReplicaCount) || self.minReplicaCount <= self.maxReplicaCount', message: 'min above max', fieldPath: '.minReplicaCount' }) }),
  right: { triggers: [{ type: 't', metadata: { a: 'b' } }], template: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, spec: {} } },
  wrong: [
    [{}, 'spec.triggers'], [{ triggers: [{ type: 't' }] }, 'spec.triggers[0].metadata'], [{ triggers: [{ type: 't', metadata: { a: 1 } }] }, 'spec.triggers[0].metadata.a'],
    [{ triggers: [], minReplicaCount: 3, maxReplicaCount: 2 }, 'spec.minReplicaCount'], [{ triggers: [], maxReplicaCount: true }, 'spec.maxReplicaCount'],
    [{ triggers: [], template: {} }, 'spec.template.apiVersion'], [{ triggers: [], template: 'x' }, 'spec.template'], [{ triggers: [null, 1] }, 'spec.triggers[0]'],
    [{ triggers: [], template: { apiVersion: 'v1', kind: 'Pod', metadata: { labels: { 'a b': 'x' } } } }, 'spec.template.metadata.labels'],
    [{ triggers: [], minReplicaCount: '1' }, 'spec.minReplicaCount'],
  ],
}

describe('a kind of a public project', () => {
  it.each([certificate, monitor, application, gateway, pool, scaler])('$kind is served, explained and judged', async ({ kind, spec, right, wrong }) => {
    await define(kind, spec)
    const made = await server.create(pathOf(kind), instance(kind, right))
    expect([made.code, made.body.message]).toEqual([201, undefined])
    expect(wrong).toHaveLength(10)
    for (const [bad, field] of wrong) {
      const { code, body } = await server.create(pathOf(kind), instance(kind, bad, 'bad'))
      expect([code, (body.details?.causes ?? []).map((cause: { field: string }) => cause.field)]).toEqual([422, expect.arrayContaining([field])])
    }
    const { components } = (await server.get(`/openapi/v3/apis/${group}/v1`)).body
    expect(components.schemas[`com.example.v1.${kind}`].properties.spec.required).toEqual(spec.required)
  })
})

describe('a definition', () => {
  it('is established, changed while watches go on, and goes with its instances', async () => {
    await define('Boat', object({ color: text }))
    const conditions = async () => (await server.get(`${definitions}/boats.${group}`)).body.status?.conditions?.map((c: any) => `${c.type}=${c.status}`)
    expect(await conditions()).toEqual(['NamesAccepted=True', 'Established=True'])
    const watch = await server.watch(pathOf('Boat'))
    await server.create(pathOf('Boat'), instance('Boat', { color: 'red' }))
    const narrower = version('v1', object({ color: { ...text, enum: ['red'] } }), { storage: true })
    expect((await server.patch(`${definitions}/boats.${group}`, { spec: { versions: [narrower] } })).code).toBe(200)
    await settle()
    expect((await server.create(pathOf('Boat'), instance('Boat', { color: 'blue' }, 'b'))).code).toBe(422)
    expect((await server.create(pathOf('Boat'), instance('Boat', { color: 'red' }, 'b'))).code).toBe(201)
    expect(await watch.takeNames()).toEqual(['ADDED a', 'ADDED b'])
    expect((await server.delete(`${definitions}/boats.${group}`)).code).toBe(200)
    await settle()
    expect([(await server.get(`${definitions}/boats.${group}`)).code, (await server.get(pathOf('Boat'))).code]).toEqual([404, 404])
  })

  it('serves several versions, each with its own defaults', async () => {
    await define('Boat', object({ a: text }), [version('v2', object({ a: text, b: { ...int, default: 2 } }))])
    await server.create(pathOf('Boat'), instance('Boat', { a: 'x' }))
    const shown = (await server.get(`/apis/${group}/v2/namespaces/default/boats/a`)).body
    expect([shown.apiVersion, shown.spec]).toEqual([`${group}/v2`, { a: 'x', b: 2 }])
  })
})
