import { type Row, type Sent, configMaps, fill, inDefault, items, json, map, objectBytes, pod, pods } from './row.ts'

/** A URL may have 64 kB; commas and equals signs in it take three characters each. */
const headerBytes = 28_000
const inUrl = { maxBytes: headerBytes }

const get = (path: string, headers: Record<string, string> = {}): Sent => ({ method: 'GET', path, headers })
const query = (name: string, value: string): Sent => get(`${configMaps}?${name}=${encodeURIComponent(value)}`)

/** With its managed fields an object of it is just not too large. */
const largeMap = (n: number) => map(Math.min(n, objectBytes) * 0.6, (i) => `k${i}`, () => 'a value of some letters')
const large = (n: number): Sent[] => [
  { method: 'DELETE', path: `${configMaps}/large` },
  json(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'large' }, data: largeMap(n) }),
]
const largePod = (n: number): Sent[] => [
  { method: 'DELETE', path: `${pods}/large?gracePeriodSeconds=0` },
  json(pods, { ...pod({}, {}, { name: 'large' }), spec: { containers: items(Math.min(n, objectBytes) / 5, (i) => ({ name: `c${i}`, image: 'i' })) } }),
]
const tableAccept = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
const yamlAccept = { accept: 'application/yaml' }

const varint = (n: number): number[] => (n < 128 ? [n] : [(n & 127) | 128, ...varint(n >>> 7)])
const field = (number: number, bytes: Buffer): Buffer => Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes])
const protobuf = (raw: Buffer): Sent => ({
  method: 'POST', path: configMaps, type: 'application/vnd.kubernetes.protobuf',
  body: Buffer.concat([Buffer.from('k8s\0'), field(1, Buffer.concat([field(1, Buffer.from('v1')), field(2, Buffer.from('ConfigMap'))])), field(2, raw)]),
})
const named = field(1, field(1, Buffer.from('attack')))
const repeated = (n: number, bytes: Buffer) => Buffer.concat(Array.from({ length: Math.floor(n / bytes.length) }, () => bytes))

/** Requests by what stands around the body, and bodies of protobuf. */
export const requestRows: Row[] = [
  { name: 'label selector: terms', make: (n) => query('labelSelector', fill(n, (i) => `k${i}=v`, ',')), ...inUrl, short: true },
  { name: 'label selector: values of a set', make: (n) => query('labelSelector', `k in (${fill(n, (i) => `v${i}`, ',')})`), ...inUrl, short: true },
  { name: 'label selector: brackets', make: (n) => query('labelSelector', '('.repeat(n / 3)), ...inUrl },
  { name: 'label selector: blanks', make: (n) => query('labelSelector', ' '.repeat(n / 3)), ...inUrl },
  { name: 'label selector: exclamation marks', make: (n) => query('labelSelector', '!'.repeat(n)), ...inUrl },
  { name: 'label selector: one key again and again', make: (n) => query('labelSelector', fill(n / 2, () => 'k', ',')), ...inUrl },
  { name: 'label selector: a long key', make: (n) => query('labelSelector', 'a-'.repeat(n / 2)), ...inUrl },
  { name: 'field selector: terms', make: (n) => query('fieldSelector', fill(n / 2, () => 'metadata.name=a', ',')), ...inUrl, short: true },
  { name: 'field selector: backslashes', make: (n) => query('fieldSelector', `metadata.name=${'\\'.repeat(n / 3)}`), ...inUrl },
  { name: 'continue: a long token', make: (n) => query('continue', 'A'.repeat(n)), ...inUrl },
  { name: 'continue: a token of JSON', make: (n) => query('continue', Buffer.from(`{"v":"meta.k8s.io/v1","rv":1,"start":"${'a/'.repeat(n / 4)}"}`).toString('base64url')), ...inUrl },
  { name: 'resource version: many digits', make: (n) => query('resourceVersion', '9'.repeat(n)), ...inUrl, short: true },
  { name: 'limit: many digits', make: (n) => query('limit', '9'.repeat(n)), ...inUrl },
  { name: 'query: names', make: (n) => get(`${configMaps}?${fill(n, (i) => `a${i}=b`, '&')}`), ...inUrl },
  { name: 'query: percent signs', make: (n) => get(`${configMaps}?${'%'.repeat(n)}`), ...inUrl },
  { name: 'path: segments', make: (n) => get(`/apis${'/a'.repeat(n / 2)}`), ...inUrl },
  { name: 'path: slashes', make: (n) => get('/'.repeat(n)), ...inUrl },
  { name: 'path: a long name', make: (n) => get(`${configMaps}/${'a'.repeat(n)}`), ...inUrl },
  { name: 'path: percent signs', make: (n) => get(`${configMaps}/${'%25'.repeat(n / 3)}`), ...inUrl },
  { name: 'header: media types', make: (n) => get(configMaps, { accept: fill(n, (i) => `a/b${i};q=0.1`, ',') }), ...inUrl, short: true },
  { name: 'header: parameters of a media type', make: (n) => get(configMaps, { accept: `application/json${';a=b'.repeat(n / 4)}` }), ...inUrl },
  { name: 'header: blanks in a media type', make: (n) => get(configMaps, { accept: `application/json;${' '.repeat(n)}x` }), ...inUrl },
  { name: 'header: parameters of a content type', make: (n) => ({ ...json(configMaps, {}), type: `application/json${';a=b'.repeat(n / 4)}` }), ...inUrl },
  { name: 'header: groups to impersonate', make: (n) => get(configMaps, { 'impersonate-user': 'a', 'impersonate-group': fill(n, (i) => `g${i}`, ',') }), ...inUrl },
  { name: 'header: something extra with a percent sign', make: () => get(configMaps, { 'impersonate-user': 'a', 'impersonate-extra-%': 'b' }), short: true },
  { name: 'header: a long bearer token', make: (n) => get(configMaps, { authorization: `Bearer ${'a.'.repeat(n / 2)}` }), ...inUrl },
  { name: 'header: many', make: (n) => get(configMaps, Object.fromEntries(Array.from({ length: Math.floor(n / 100) }, (_, i) => [`x-header-${i}`, 'v']))), ...inUrl },
  { name: 'header: a long audit id', make: (n) => get(configMaps, { 'audit-id': 'a'.repeat(n) }), ...inUrl },
  { name: 'protobuf: unknown fields', make: (n) => protobuf(repeated(n, Buffer.from([0xf8, 0x7f, 1]))), short: true },
  { name: 'protobuf: long varints', make: (n) => protobuf(repeated(n, Buffer.from([0xf8, 0x7f, ...Array<number>(9).fill(0xff), 1]))) },
  { name: 'protobuf: a varint without an end', make: (n) => protobuf(Buffer.alloc(n, 0xff)) },
  { name: 'protobuf: entries of a map', make: (n) => protobuf(Buffer.concat([named, ...items(n / 2, (i) => `key${i}`).map((key) => field(2, Buffer.concat([field(1, Buffer.from(key)), field(2, Buffer.from('v'))])))])), short: true },
  { name: 'protobuf: one entry again and again', make: (n) => protobuf(Buffer.concat([named, repeated(n, field(2, Buffer.concat([field(1, Buffer.from('k')), field(2, Buffer.from('v'))])))])) },
  { name: 'protobuf: empty entries', make: (n) => protobuf(repeated(n, field(2, Buffer.alloc(0)))) },
  { name: 'protobuf: metadata again and again', make: (n) => protobuf(repeated(n, named)) },
  { name: 'protobuf: owners', make: (n) => protobuf(field(1, Buffer.concat([field(1, Buffer.from('attack')), repeated(n, field(13, field(1, Buffer.from('Pod'))))]))) },
  { name: 'protobuf: a field that is longer than the message', make: (n) => protobuf(Buffer.from([0x12, ...varint(n), 1])) },
  { name: 'protobuf: the envelope again and again', make: (n) => ({ ...protobuf(Buffer.alloc(0)), body: Buffer.concat([Buffer.from('k8s\0'), repeated(n, field(1, field(1, Buffer.from('v1'))))]) }) },
  { name: 'answer: a large object', before: large, make: () => get(`${configMaps}/large`) },
  { name: 'answer: a large object as YAML', before: large, make: () => get(`${configMaps}/large`, yamlAccept), short: true },
  { name: 'answer: a large object with line breaks', before: large, make: () => get(`${configMaps}/large?pretty=true`), short: true },
  { name: 'answer: a table of a large object', before: large, make: () => get(`${configMaps}/large`, tableAccept), short: true },
  { name: 'answer: a table with a large object in it', before: large, make: () => get(`${configMaps}/large?includeObject=Object`, tableAccept) },
  { name: 'answer: a table of a pod with many containers', before: largePod, make: () => get(`${pods}/large`, tableAccept), short: true },
  { name: 'answer: a list of a large object as YAML', before: large, make: () => get(configMaps, yamlAccept), short: true },
  { name: 'answer: the metadata of a large object', before: large, make: () => get(`${configMaps}/large`, { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' }) },
  { name: 'answer: a large object that is created as YAML', make: (n) => ({ ...json(configMaps, { metadata: { generateName: 'y' }, data: largeMap(n) }, '?dryRun=All'), headers: yamlAccept }) },
  { name: 'answer: a dry run of a large object', make: (n) => json(configMaps, { metadata: { generateName: 'y' }, data: largeMap(n) }, '?dryRun=All'), short: true },
  { name: 'answer: the log of a pod with a long container name', make: (n) => get(`${pods}/nothing/log?container=${'c'.repeat(n)}`), ...inUrl },
  { name: 'scale: unknown fields', make: (n) => ({ method: 'PUT', path: `${inDefault('apps/v1', 'deployments')}/nothing/scale`, body: JSON.stringify({ kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: { name: 'nothing' }, ...map(n, (i) => `u${i}`, () => 1) }) }) },
  { name: 'eviction: unknown fields', make: (n) => json(`${pods}/nothing/eviction`, { kind: 'Eviction', apiVersion: 'policy/v1', metadata: { name: 'nothing' }, ...map(n, (i) => `u${i}`, () => 1) }) },
  { name: 'binding: annotations', make: (n) => json(`${pods}/nothing/binding`, { kind: 'Binding', apiVersion: 'v1', metadata: { name: 'nothing', annotations: map(n, (i) => `k${i}`, () => 'v') }, target: { kind: 'Node', name: 'n' } }) },
  { name: 'body: none', make: () => ({ method: 'POST', path: configMaps, body: '' }), short: true },
  { name: 'body: longer than is taken', make: () => ({ method: 'POST', path: configMaps, body: Buffer.alloc(3_200_000, 0x20) }) },
]
