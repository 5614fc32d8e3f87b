import { type Row, type Sent, bodyBytes, configMaps, fill, items, json, map, objectBytes, pod, pods } from './row.ts'

const meta = '"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"attack"}'
const text = (rest: string, query = ''): Sent => ({ method: 'POST', path: configMaps + query, body: `{${meta},${rest}}` })
const unknown = (n: number) => fill(n, (i) => `"unknown${i}":1`, ',')
const strict = '?fieldValidation=Strict'
const warn = '?fieldValidation=Warn'
const ignore = '?fieldValidation=Ignore'

const configMap = (rest: object, metadata: object = { name: 'attack' }) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata, ...rest })
const metadata = (rest: object): Sent => json(configMaps, configMap({}, { name: 'attack', ...rest }))

const owner = (i: number) => ({ apiVersion: 'v1', kind: 'Pod', name: `p${i}`, uid: `u${i}` })

/** JSON bodies of any kind. */
export const jsonRows: Row[] = [
  { name: 'JSON: unknown fields, Strict', make: (n) => text(unknown(n), strict), short: true },
  { name: 'JSON: unknown fields, Warn', make: (n) => text(unknown(n), warn), short: true },
  { name: 'JSON: unknown fields, Ignore', make: (n) => text(unknown(n), ignore) },
  { name: 'JSON: unknown fields of a long list', make: (n) => json(pods, { ...pod({}), spec: { containers: items(n, (i) => ({ name: `c${i}`, image: 'i', more: i })) } }, warn), short: true },
  { name: 'JSON: unknown fields with long names', make: (n) => text(fill(n, (i) => `"${'u'.repeat(1000)}${i}":1`, ','), strict) },
  { name: 'JSON: unknown fields that nest', make: (n) => text(`"a":${'{"a":'.repeat(900)}{${unknown(n)}}${'}'.repeat(900)}`, strict) },
  { name: 'JSON: one field again and again', make: (n) => text(fill(n, () => '"data":{}', ','), warn), short: true },
  { name: 'JSON: one field again and again with more in it', make: (n) => text(fill(n, (i) => `"data":{"k${i}":"v"}`, ','), strict), short: true },
  { name: 'JSON: keys of a map said twice', make: (n) => text(`"data":{${fill(n, (i) => `"k${i % 50_000}":"v"`, ',')}}`, warn) },
  { name: 'JSON: a map', make: (n) => json(configMaps, configMap({ data: map(Math.min(n, objectBytes), (i) => `k${i}`, () => 'v') })), short: true },
  { name: 'JSON: a map with an object in it', make: (n) => text(`"data":{${fill(n, (i) => `"k${i}":"v"`, ',')},"z":{}}`) },
  { name: 'JSON: a map of names that are wrong', make: (n) => json(configMaps, configMap({ data: map(n, (i) => `k ${i}`, () => 'v') })), short: true },
  { name: 'JSON: long names that are wrong', make: (n) => json(configMaps, configMap({ data: map(n, (i) => `${'a.'.repeat(500)} ${i}`, () => 'v') })) },
  { name: 'JSON: one text', make: (n) => json(configMaps, configMap({ data: { a: 'a'.repeat(n) } })) },
  { name: 'JSON: one text of escapes', make: (n) => text(`"data":{"a":"${'\\u0000'.repeat(n / 6)}"}`) },
  { name: 'JSON: one text of quotes', make: (n) => json(configMaps, configMap({ data: { a: '"'.repeat(n / 2) } })) },
  { name: 'JSON: one text of backslashes', make: (n) => text(`"data":{"a":"${'\\\\'.repeat(n / 2)}"}`) },
  { name: 'JSON: an odd number of backslashes', make: (n) => text(`"data":{"a":"${'\\'.repeat(n | 1)}"}`) },
  { name: 'JSON: binary data', make: (n) => json(configMaps, configMap({ binaryData: { a: 'AAAA'.repeat(Math.min(n, objectBytes) / 4) } })) },
  { name: 'JSON: binary data that is wrong at its end', make: (n) => json(configMaps, configMap({ binaryData: { a: `${'AAAA'.repeat(n / 4)}*` } })) },
  { name: 'JSON: deep lists', make: (n) => text(`"data":${'['.repeat(n)}`), short: true },
  { name: 'JSON: deep lists that end', make: (n) => text(`"data":${'['.repeat(n / 2)}${']'.repeat(n / 2)}`) },
  { name: 'JSON: deep maps', make: (n) => text(`"data":${'{"a":'.repeat(n / 5)}`) },
  { name: 'JSON: a thousand levels many times', make: (n) => text(`"a":[${fill(n, () => '['.repeat(990) + ']'.repeat(990), ',')}]`) },
  { name: 'JSON: empty lists', make: (n) => text(`"a":[${fill(n, () => '[]', ',')}]`), short: true },
  { name: 'JSON: empty maps', make: (n) => text(`"a":[${fill(n, () => '{}', ',')}]`) },
  { name: 'JSON: commas', make: (n) => text(`"a":[${','.repeat(n)}]`) },
  { name: 'JSON: a long number', make: (n) => text(`"a":${'1'.repeat(n)}`), short: true },
  { name: 'JSON: a long number in an integer field', make: (n) => ({ method: 'POST', path: pods, body: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"activeDeadlineSeconds":${'9'.repeat(n)}}}` }) },
  { name: 'JSON: numbers that doubles round', make: (n) => text(`"a":[${fill(n, () => '9007199254740993', ',')}]`), short: true },
  { name: 'JSON: fractions', make: (n) => text(`"a":[${fill(n, () => '1.5', ',')}]`) },
  { name: 'JSON: a large exponent', make: (n) => text(`"a":1e${'9'.repeat(n)}`) },
  { name: 'JSON: blanks', make: (n) => text(`"a":${' '.repeat(n)}1`) },
  { name: 'JSON: no end', make: (n) => ({ ...text(''), body: `{${meta},"data":{${fill(n, (i) => `"k${i}":"v"`, ',')}` }), short: true },
  { name: 'JSON: text behind its end', make: (n) => ({ ...text(''), body: `{${meta},"data":{${fill(n, (i) => `"k${i}":"v"`, ',')}}} x` }) },
  { name: 'JSON: bytes that are no UTF-8', make: (n) => ({ ...text(''), body: Buffer.concat([Buffer.from('{"a":"'), Buffer.alloc(Math.min(n, bodyBytes), 0xff), Buffer.from('"}')]) }) },
  { name: 'JSON: a wrong type at the end', make: (n) => json(pods, { ...pod({}), spec: { containers: [...items<object>(n, (i) => ({ name: `c${i}`, image: 'i' })), { name: 7 }] } }), short: true },
  { name: 'JSON: a list at the top', make: (n) => ({ method: 'POST', path: configMaps, body: `[${fill(n, () => '1', ',')}]` }) },
  { name: 'JSON: a kind that is long', make: (n) => ({ method: 'POST', path: configMaps, body: `{"apiVersion":"v1","kind":"${'K'.repeat(n)}"}` }) },
  { name: 'JSON: a version that is long', make: (n) => ({ method: 'POST', path: configMaps, body: `{"apiVersion":"${'v/'.repeat(n / 2)}","kind":"ConfigMap"}` }) },
  { name: 'metadata: owners', make: (n) => metadata({ ownerReferences: items(n, owner) }), short: true },
  { name: 'metadata: one owner again and again', make: (n) => metadata({ ownerReferences: items(n, () => owner(1)) }), short: true },
  { name: 'metadata: owners that all control', make: (n) => metadata({ ownerReferences: items(n, (i) => ({ ...owner(i), controller: true })) }) },
  { name: 'metadata: owners without anything', make: (n) => metadata({ ownerReferences: items(n, () => ({})) }) },
  { name: 'metadata: labels', make: (n) => metadata({ labels: map(Math.min(n, objectBytes), (i) => `k${i}`, () => 'v') }), short: true },
  { name: 'metadata: labels that are wrong', make: (n) => metadata({ labels: map(n, (i) => `k ${i}`, () => 'v v') }), short: true },
  { name: 'metadata: long labels', make: (n) => metadata({ labels: map(n, (i) => `${'a'.repeat(5000)}${i}`, () => 'v'.repeat(5000)) }) },
  { name: 'metadata: annotations', make: (n) => metadata({ annotations: map(n, (i) => `k${i}`, () => 'v') }), short: true },
  { name: 'metadata: finalizers', make: (n) => metadata({ name: '', generateName: 'attack', finalizers: items(Math.min(n, objectBytes), (i) => `a.b/f${i}`) }), short: true },
  { name: 'metadata: finalizers that are wrong', make: (n) => metadata({ name: '', generateName: 'attack', finalizers: items(n, (i) => `f ${i}`) }) },
  { name: 'metadata: managed fields', make: (n) => metadata({ managedFields: items(n, (i) => ({ manager: `m${i}`, operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': {} } })) }) },
  { name: 'metadata: a long name', make: (n) => json(configMaps, configMap({}, { name: 'a'.repeat(n) })), short: true },
  { name: 'metadata: a name of dots and dashes', make: (n) => json(configMaps, configMap({}, { name: `${'a-'.repeat(n / 4)}${'a.'.repeat(n / 4)}!` })) },
  { name: 'metadata: a long beginning of a name', make: (n) => json(configMaps, configMap({}, { generateName: 'a'.repeat(n) })) },
  { name: 'metadata: a long namespace', make: (n) => json(configMaps, configMap({}, { name: 'a', namespace: 'a'.repeat(n) })) },
  { name: 'metadata: __proto__ as every key', make: (n) => text(`"data":{${fill(n, () => '"__proto__":"v"', ',')}}`, warn), short: true },
]
