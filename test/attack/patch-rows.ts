import { type Row, type Sent, configMaps, fill, inDefault, items, json, map, objectBytes, pod, pods } from './row.ts'

const strategic = 'application/strategic-merge-patch+json'
const merge = 'application/merge-patch+json'
const jsonPatch = 'application/json-patch+json'

const target = 'patched'
const patch = (path: string, type: string, value: unknown, query = ''): Sent => ({ method: 'PATCH', path: `${path}/${target}${query}`, type, body: JSON.stringify(value) })
const remove = (path: string): Sent => ({ method: 'DELETE', path: `${path}/${target}?gracePeriodSeconds=0` })
const put = (path: string, value: object): Sent[] => [remove(path), json(path, value)]

const half = (n: number) => Math.min(n, objectBytes) / 2
const aConfigMap = (data: object, metadata: object = {}) => put(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: target, ...metadata }, data })
const aPod = (spec: object, container: object = {}) => put(pods, pod(spec, container, { name: target }))
const deployments = inDefault('apps/v1', 'deployments')
const aDeployment = (container: object) => put(deployments, {
  apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: target },
  spec: { selector: { matchLabels: { app: 'a' } }, template: { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i', ...container }] } } },
})
const env = (n: number, first = 0) => items(n, (i) => ({ name: `E${i + first}`, value: 'v' }))
const inContainer = (container: object, query = ''): Sent => patch(deployments, strategic, { spec: { template: { spec: { containers: [{ name: 'c', ...container }] } } } }, query)

const small = () => aConfigMap({ a: 'b' })
const ops = (n: number, op: (i: number) => object) => patch(configMaps, jsonPatch, items(Math.min(n, 9_000 * 40), op).slice(0, 10_000))

const applyType = 'application/apply-patch+yaml'
const asManager = '?fieldManager=attack&force=true'
const aMap = (metadata: object, data: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: target, ...metadata }, data })
const applyText = (body: string, path = configMaps): Sent => ({ method: 'PATCH', path: `${path}/${target}${asManager}`, type: applyType, body })
const apply = (value: object, path = configMaps): Sent => applyText(JSON.stringify(value), path)
const owners = (n: number) => items(n, (i) => ({ apiVersion: 'v1', kind: 'Pod', name: `p${i}`, uid: `u${i}` }))
const wide = (n: number) => map(n, (i) => `k${i}`, () => 'v')
const flow = (n: number) => `{apiVersion: v1, kind: ConfigMap, metadata: {name: ${target}}, data: {${fill(n, (i) => `k${i}: v`, ', ')}}}`

/** Server-side apply. */
const applyRows: Row[] = [
  { name: 'apply: a wide map', before: small, make: (n) => apply(aMap({}, wide(half(n)))), short: true },
  { name: 'apply: a wide map that is there', before: (n) => [remove(configMaps), apply(aMap({}, wide(half(n))))], make: (n) => apply(aMap({}, wide(half(n)))) },
  { name: 'apply: nothing of a wide map that was there', before: (n) => [remove(configMaps), apply(aMap({}, wide(half(n))))], make: () => apply(aMap({}, {})), short: true },
  { name: 'apply: owners', before: small, make: (n) => apply(aMap({ ownerReferences: owners(half(n)) }, {})), short: true },
  { name: 'apply: containers', before: () => [remove(pods)], make: (n) => apply({ ...pod({}, {}, { name: target }), spec: { containers: items(n, (i) => ({ name: `c${i}`, image: 'i' })) } }, pods), short: true },
  { name: 'apply: containers with one name', before: () => [remove(pods)], make: (n) => apply({ ...pod({}, {}, { name: target }), spec: { containers: items(n, () => ({ name: 'c', image: 'i' })) } }, pods), also: [500] },
  { name: 'apply: a key that is there twice', before: small, make: (n) => applyText(JSON.stringify(aMap({}, { ...wide(n), x: 'v' })).replace('"x":', '"k1":')), short: true },
  { name: 'apply: flow YAML', before: small, make: (n) => applyText(flow(n)), short: true },
  { name: 'apply: flow YAML of short length', before: small, make: () => applyText(flow(65_000)) },
  { name: 'apply: block YAML', before: small, make: (n) => applyText(`apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${target}}\ndata:\n${fill(half(n), (i) => `  k${i}: v\n`)}`) },
  { name: 'apply: unknown fields', before: small, make: (n) => apply({ ...aMap({}, {}), ...map(n, (i) => `u${i}`, () => 1) }), also: [500], short: true },
]

/** Patches of every type. */
export const patchRows: Row[] = [
  ...applyRows,
  { name: 'JSON patch: adds', before: small, make: (n) => ops(n, (i) => ({ op: 'add', path: `/data/k${i}`, value: 'v' })), short: true },
  { name: 'JSON patch: adds at the front of a list', before: small, make: (n) => patch(configMaps, jsonPatch, [{ op: 'add', path: '/metadata/finalizers', value: [] }, ...items(Math.min(n, 300_000), (i) => ({ op: 'add', path: '/metadata/finalizers/0', value: `a.b/f${i}` })).slice(0, 9_000)]), short: true },
  { name: 'JSON patch: copies that double', before: small, make: () => patch(configMaps, jsonPatch, [{ op: 'add', path: '/data/x', value: {} }, ...Array.from({ length: 60 }, (_, i) => ({ op: 'copy', from: '/data', path: `/data/x/c${i}` }))]), short: true },
  { name: 'JSON patch: copies of a large part', before: (n) => aConfigMap(map(half(n), (i) => `k${i}`, () => 'v')), make: () => patch(configMaps, jsonPatch, items(90_000, (i) => ({ op: 'copy', from: '/data', path: `/x${i}` }))), short: true },
  { name: 'JSON patch: tests of a large part', before: (n) => aConfigMap(map(half(n), (i) => `k${i}`, () => 'v')), make: (n) => patch(configMaps, jsonPatch, Array.from({ length: 2 }, () => ({ op: 'test', path: '/data', value: map(half(n), (i) => `k${i}`, () => 'v') }))) },
  { name: 'JSON patch: many tests of a large part', before: (n) => aConfigMap(map(half(n), (i) => `k${i}`, () => 'v')), make: (n) => ops(n, () => ({ op: 'test', path: '/data', value: {} })) },
  { name: 'JSON patch: adds to a large map', before: (n) => aConfigMap(map(half(n), (i) => `k${i}`, () => 'v')), make: (n) => ops(n, (i) => ({ op: 'add', path: `/data/n${i}`, value: 'v' })), short: true },
  { name: 'JSON patch: moves', before: small, make: (n) => ops(n, (i) => ({ op: 'move', from: `/data/${i ? `k${i - 1}` : 'a'}`, path: `/data/k${i}` })) },
  { name: 'JSON patch: each step deeper', before: small, make: () => patch(configMaps, jsonPatch, [{ op: 'add', path: '/x', value: {} }, ...Array.from({ length: 3000 }, (_, i) => ({ op: 'add', path: `/x${'/a'.repeat(i + 1)}`, value: {} }))]), short: true },
  { name: 'JSON patch: a long path', before: small, make: (n) => patch(configMaps, jsonPatch, [{ op: 'add', path: '/a'.repeat(n / 2), value: 1 }]) },
  { name: 'JSON patch: a path of tildes', before: small, make: (n) => patch(configMaps, jsonPatch, [{ op: 'add', path: `/${'~0~1'.repeat(n / 4)}`, value: 1 }]) },
  { name: 'JSON patch: more operations than Kubernetes takes', before: small, make: (n) => patch(configMaps, jsonPatch, items(n, () => ({ op: 'remove', path: '/x' }))) },
  { name: 'JSON patch: a path through __proto__', before: small, make: () => patch(configMaps, jsonPatch, [{ op: 'add', path: '/data/__proto__/x', value: 'v' }]) },
  { name: 'JSON patch: removes of a long list', before: (n) => aConfigMap({}, { finalizers: items(half(n) / 4, (i) => `a.b/f${i}`) }), make: (n) => ops(n, () => ({ op: 'remove', path: '/metadata/finalizers/0' })) },
  { name: 'merge patch: a wide map', before: small, make: (n) => patch(configMaps, merge, { data: map(half(n), (i) => `k${i}`, () => 'v') }), short: true },
  { name: 'merge patch: nulls', before: (n) => aConfigMap(map(half(n), (i) => `k${i}`, () => 'v')), make: (n) => patch(configMaps, merge, { data: map(n, (i) => `k${i}`, () => null) }), short: true },
  { name: 'merge patch: deep', before: small, make: () => ({ ...patch(configMaps, merge, {}), body: `${'{"a":'.repeat(950)}1${'}'.repeat(950)}` }) },
  { name: 'merge patch: too deep', before: small, make: (n) => ({ ...patch(configMaps, merge, {}), body: `${'{"a":'.repeat(n / 6)}1${'}'.repeat(n / 6)}` }) },
  { name: 'merge patch: unknown fields', before: small, make: (n) => patch(configMaps, merge, map(n, (i) => `u${i}`, () => 1), '?fieldValidation=Strict'), short: true },
  { name: 'merge patch: annotations of a large object', before: (n) => aConfigMap(map(half(n) * 1.8, (i) => `k${i}`, () => 'v')), make: () => patch(configMaps, merge, { metadata: { annotations: { a: 'b' } } }), short: true },
  { name: 'merge patch: owners', before: small, make: (n) => patch(configMaps, merge, { metadata: { ownerReferences: items(half(n), (i) => ({ apiVersion: 'v1', kind: 'Pod', name: `p${i}`, uid: `u${i}` })) } }) },
  { name: 'strategic patch: a list by names', before: (n) => aDeployment({ env: env(half(n)) }), make: (n) => inContainer({ env: env(half(n), 5) }), short: true },
  { name: 'strategic patch: a list of other names', before: (n) => aDeployment({ env: env(half(n)) }), make: (n) => inContainer({ env: env(half(n), 1_000_000) }) },
  { name: 'strategic patch: the order of a list', also: [500], before: (n) => aDeployment({ env: env(half(n)) }), make: (n) => inContainer({ '$setElementOrder/env': env(half(n)).map(({ name }) => ({ name })).reverse(), env: env(half(n)) }), short: true },
  { name: 'strategic patch: an order that does not fit', also: [500], before: (n) => aDeployment({ env: env(half(n)) }), make: (n) => inContainer({ '$setElementOrder/env': env(half(n)).map(({ name }) => ({ name })), env: env(half(n), 7).reverse() }) },
  { name: 'strategic patch: deletes by name', before: (n) => aDeployment({ env: env(half(n)) }), make: (n) => inContainer({ env: env(half(n)).map(({ name }) => ({ name, $patch: 'delete' })) }), short: true },
  { name: 'strategic patch: one item again and again', before: (n) => aDeployment({ env: env(half(n)) }), make: (n) => inContainer({ env: items(half(n), () => ({ name: 'E1', value: 'w' })) }), short: true },
  { name: 'strategic patch: replace again and again', before: (n) => aDeployment({ env: env(half(n)) }), make: (n) => inContainer({ env: items(n, () => ({ $patch: 'replace' })) }) },
  { name: 'strategic patch: finalizers to delete', before: (n) => aConfigMap({}, { finalizers: items(half(n), (i) => `a.b/f${i}`) }), make: (n) => patch(configMaps, strategic, { metadata: { '$deleteFromPrimitiveList/finalizers': items(half(n), (i) => `a.b/f${i}`) } }), short: true },
  { name: 'strategic patch: finalizers to add', before: (n) => aConfigMap({}, { finalizers: items(half(n), (i) => `a.b/f${i}`) }), make: (n) => patch(configMaps, strategic, { metadata: { finalizers: items(half(n) / 2, (i) => `a.b/g${i}`) } }), short: true },
  { name: 'strategic patch: the order of finalizers', before: (n) => aConfigMap({}, { finalizers: items(half(n), (i) => `a.b/f${i}`) }), make: (n) => patch(configMaps, strategic, { metadata: { '$setElementOrder/finalizers': items(half(n), (i) => `a.b/f${i}`).reverse() } }), short: true },
  { name: 'strategic patch: keys to retain', before: small, make: (n) => patch(deployments, strategic, { spec: { strategy: { $retainKeys: items(n, (i) => `k${i}`), type: 'Recreate' } } }) },
  { name: 'strategic patch: owners', before: small, make: (n) => patch(configMaps, strategic, { metadata: { ownerReferences: items(half(n), (i) => ({ apiVersion: 'v1', kind: 'Pod', name: `p${i}`, uid: `u${i}` })) } }), short: true },
  { name: 'strategic patch: tolerations of a pod', before: (n) => aPod({ tolerations: items(half(n) / 2, (i) => ({ key: `k${i}`, operator: 'Exists' })) }), make: (n) => patch(pods, strategic, { spec: { tolerations: items(half(n) / 2, (i) => ({ key: `l${i}`, operator: 'Exists' })) } }) },
  { name: 'strategic patch: ports', before: (n) => aDeployment({ ports: items(half(n), (i) => ({ containerPort: (i % 65_000) + 1, name: `p${i}`, protocol: i > 65_000 ? 'UDP' : 'TCP' })) }), make: (n) => inContainer({ ports: items(half(n), (i) => ({ containerPort: (i % 65_000) + 1, protocol: 'TCP' })) }) },
  { name: 'update: a large object as it is', before: (n) => aConfigMap(map(half(n) * 1.8, (i) => `k${i}`, () => 'v')), make: (n) => ({ method: 'PUT', path: `${configMaps}/${target}`, body: JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: target }, data: map(half(n) * 1.8, (i) => `k${i}`, () => 'v') }) }), short: true },
  { name: 'update: a large object anew', before: (n) => aConfigMap(map(half(n) * 1.8, (i) => `k${i}`, () => 'v')), make: (n) => ({ method: 'PUT', path: `${configMaps}/${target}`, body: JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: target }, data: map(half(n) * 1.8, (i) => `k${i}`, () => 'w') }) }) },
  { name: 'update: a pod with many tolerations', before: (n) => aPod({ tolerations: items(half(n), (i) => ({ key: `k${i}`, operator: 'Exists' })) }), make: (n) => ({ method: 'PUT', path: `${pods}/${target}`, body: JSON.stringify(pod({ tolerations: items(half(n), (i) => ({ key: `k${i}`, operator: 'Exists' })) }, {}, { name: target })) }), short: true },
  { name: 'update: containers of a pod', before: (n) => put(pods, { ...pod({}, {}, { name: target }), spec: { containers: items(half(n) / 4, (i) => ({ name: `c${i}`, image: 'i' })) } }), make: (n) => ({ method: 'PUT', path: `${pods}/${target}`, body: JSON.stringify({ ...pod({}, {}, { name: target }), spec: { containers: items(half(n) / 4, (i) => ({ name: `c${i}`, image: 'j' })) } }) }) },
  { name: 'delete: a long list of preconditions', make: (n) => ({ method: 'DELETE', path: `${configMaps}/nothing`, body: JSON.stringify({ kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: 'u'.repeat(n) } }) }) },
  { name: 'delete: unknown fields', make: (n) => ({ method: 'DELETE', path: `${configMaps}/nothing`, body: JSON.stringify({ kind: 'DeleteOptions', apiVersion: 'v1', ...map(n, (i) => `u${i}`, () => 1) }) }) },
]
