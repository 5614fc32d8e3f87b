import { type Row, type Sent, configMaps, inDefault, items, json, map, objectBytes } from './row.ts'

const get = (path: string, headers: Record<string, string> = {}): Sent => ({ method: 'GET', path, headers })
const half = (n: number) => Math.min(n, objectBytes) / 2

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const widgets = inDefault('attack.example/v1', 'widgets')
const openSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

/** A definition of a kind whose schema has these properties in its spec. */
const definition = (kind: string, spec: object): object => {
  const plural = `${kind.toLowerCase()}s`
  return {
    apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: `${plural}.attack.example` },
    spec: {
      group: 'attack.example', scope: 'Namespaced', names: { plural, singular: kind.toLowerCase(), kind },
      versions: [{ name: 'v1', served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: { type: 'object', properties: { spec, status: openSchema } } } }],
    },
  }
}
const withProperties = (n: number) => ({ type: 'object', properties: map(n, (i) => `p${i}`, () => ({ type: 'string' })) })
const removeDefinition = (plural: string): Sent => ({ method: 'DELETE', path: `${definitions}/${plural}.attack.example` })
const widget = (name: string, spec: object, metadata: object = {}) => ({ apiVersion: 'attack.example/v1', kind: 'Widget', metadata: { name, ...metadata }, spec })
const widgetKind = (): Sent[] => [json(definitions, definition('Widget', openSchema)), get(widgets)]
/** Definitions that describe many fields each. */
const manyKinds = (n: number): Sent[] => Array.from({ length: 20 }, (_, i) => json(definitions, definition(`Kind${i}`, withProperties(n / 20))))
const dropKind: Sent = removeDefinition('kind0s')

const manyMaps = (n: number): Sent[] => Array.from({ length: Math.floor(n / 6000) }, (_, i) => json(configMaps, { metadata: { name: `many-${i}`, labels: { many: 'yes' } }, data: { a: 'v'.repeat(5000) } }))

/** Custom resources, statuses, documents and lists. */
export const serverRows: Row[] = [
  { name: 'custom resource: a wide map', before: widgetKind, make: (n) => json(widgets, widget('attack', map(half(n), (i) => `k${i}`, () => 'v'))), short: true },
  { name: 'custom resource: a long list of maps', before: widgetKind, make: (n) => json(widgets, widget('attack', { list: items(half(n), (i) => ({ aLongName: i, another: 'a text' })) })), short: true },
  { name: 'custom resource: depth', before: widgetKind, make: () => ({ ...json(widgets, {}), body: `{"apiVersion":"attack.example/v1","kind":"Widget","metadata":{"name":"attack"},"spec":${'{"a":'.repeat(900)}1${'}'.repeat(901)}` }) },
  { name: 'custom resource: apply of a wide map', before: widgetKind, make: (n) => ({ method: 'PATCH', path: `${widgets}/applied?fieldManager=attack&force=true`, type: 'application/apply-patch+yaml', body: JSON.stringify(widget('applied', map(half(n), (i) => `k${i}`, () => 'v'))) }), short: true },
  { name: 'definition: a schema of many properties', before: () => [removeDefinition('attacks')], make: (n) => json(definitions, definition('Attack', withProperties(half(n)))), short: true },
  { name: 'definition: rules', before: () => [removeDefinition('attacks')], make: (n) => json(definitions, definition('Attack', { type: 'object', properties: map(Math.min(n, 200_000), (i) => `p${i}`, () => ({ type: 'string', 'x-kubernetes-validations': [{ rule: "self != 'a'" }] })) })), short: true },
  { name: 'definition: enumerations', before: () => [removeDefinition('attacks')], make: (n) => json(definitions, definition('Attack', { type: 'string', enum: items(half(n), (i) => `v${i}`) })) },
  { name: 'status: conditions of a pod', before: () => [json(inDefault('v1', 'pods'), { metadata: { name: 'judged' }, spec: { containers: [{ name: 'c', image: 'i' }] } })], make: (n) => ({ method: 'PATCH', path: `${inDefault('v1', 'pods')}/judged/status`, type: 'application/merge-patch+json', body: JSON.stringify({ status: { conditions: items(half(n), (i) => ({ type: `a.b/condition-${i}`, status: 'True' })) } }) }), short: true },
  { name: 'status: a wide map of a custom resource', before: () => [...widgetKind(), json(widgets, widget('judged', {}))], make: (n) => ({ method: 'PATCH', path: `${widgets}/judged/status`, type: 'application/merge-patch+json', body: JSON.stringify({ status: map(half(n), (i) => `k${i}`, () => 'v') }) }), short: true },
  { name: 'OpenAPI: v2 after a definition has gone', before: (n) => [...manyKinds(half(n)), get('/openapi/v2'), dropKind], make: () => get('/openapi/v2'), short: true },
  { name: 'OpenAPI: v3 of a group after a definition has gone', before: (n) => [...manyKinds(half(n)), get('/openapi/v3'), dropKind], make: () => get('/openapi/v3/apis/attack.example/v1'), short: true },
  { name: 'OpenAPI: the index of v3 after a definition has gone', before: (n) => [...manyKinds(half(n)), get('/openapi/v3'), dropKind], make: () => get('/openapi/v3'), short: true },
  { name: 'discovery: all groups', before: (n) => [...manyKinds(half(n)), dropKind], make: () => get('/apis', { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' }), short: true },
  { name: 'metrics: after many kinds of requests', before: () => Array.from({ length: 100 }, (_, i) => get(`/apis/none${i}.example/v1/things`)), make: () => get('/metrics'), short: true },
  { name: 'list: many objects', before: manyMaps, make: () => get(configMaps), short: true },
  { name: 'list: many objects as tables', before: manyMaps, make: () => get(configMaps, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }) },
  { name: 'list: many objects as YAML', before: manyMaps, make: () => get(configMaps, { accept: 'application/yaml' }) },
  { name: 'list: many objects by a label', before: manyMaps, make: () => get(`${configMaps}?labelSelector=many%3Dno`) },
  { name: 'list: many objects are deleted together', before: manyMaps, make: () => ({ method: 'DELETE', path: `${configMaps}?labelSelector=many%3Dyes` }), short: true },
]
