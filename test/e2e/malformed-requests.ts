import type { SeededRandom } from '../seeded-random.ts'
import type { ClientRequest } from './tls-client.ts'

/** A request that nobody should send, and which answers to it are in order. */
export interface Malformed extends ClientRequest {
  /** A name for the defect. */
  name: string
  /** Codes besides 4xx: those with which Kubernetes itself answers such a request. */
  also?: readonly number[]
  /** HTTP/2 says things that HTTP/1.1 cannot. */
  over?: 'http1' | 'http2'
}

type Generator = (random: SeededRandom) => Omit<Malformed, 'name'>

const json = { 'content-type': 'application/json' }
const yaml = { 'content-type': 'application/yaml' }
const protobuf = { 'content-type': 'application/vnd.kubernetes.protobuf' }
const patchTypes = ['application/json-patch+json', 'application/merge-patch+json', 'application/strategic-merge-patch+json'] as const

const configMaps = '/api/v1/namespaces/default/configmaps'
const pods = '/api/v1/namespaces/default/pods'
const deployments = '/apis/apps/v1/namespaces/default/deployments'
/** Made before the test, and patched in vain by it. */
export const target = `${configMaps}/target`

/** Names that mean something to JavaScript. */
const trickyKeys = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__']

const deployment = () => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'never', labels: { app: 'never' }, annotations: { note: 'x' }, finalizers: ['example.com/x'] },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: 'never' }, matchExpressions: [{ key: 'app', operator: 'Exists', values: [] }] },
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: '25%' } },
    template: {
      metadata: { labels: { app: 'never' } },
      spec: {
        containers: [
          {
            name: 'main',
            image: 'nginx',
            command: ['a', 'b'],
            env: [{ name: 'A', value: 'b' }],
            ports: [{ containerPort: 80, protocol: 'TCP' }],
            resources: { limits: { cpu: '1', memory: '1Gi' } },
            livenessProbe: { httpGet: { path: '/', port: 80 }, periodSeconds: 5 },
          },
        ],
        nodeSelector: { a: 'b' },
        tolerations: [{ key: 'a', operator: 'Exists' }],
        volumes: [{ name: 'v', configMap: { name: 'x', items: [{ key: 'a', path: 'b' }] } }],
      },
    },
  },
})

/** Every place in a value, as the way there. */
function placesIn(value: unknown, way: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [way]
  return [...(way.length ? [way] : []), ...Object.entries(value).flatMap(([key, inner]) => placesIn(inner, [...way, key]))]
}

function replaceAt(value: any, way: readonly (string | number)[], by: unknown): void {
  let at = value
  for (const step of way.slice(0, -1)) at = at[step]
  at[way.at(-1)!] = by
}

const noise = (random: SeededRandom, length: number) => Buffer.from(Array.from({ length }, () => random.below(256)))

const nested = (open: string, close: string, levels: number, middle = '') => open.repeat(levels) + middle + close.repeat(levels)

const wrongTypes: Generator = (random) => {
  const object = deployment()
  // No field of it takes lists within lists, nor a list of anything but what it is a list of.
  replaceAt(object, random.pick(placesIn(object)), random.pick([[[1]], [[true]], [['x', {}]], [[[[]]], 7]]))
  return { method: 'POST', path: deployments, headers: json, body: JSON.stringify(object) }
}

const unknownFields: Generator = (random) => {
  const text = JSON.stringify(deployment()).replaceAll('{"', () => (random.below(4) === 0 ? `{"${random.pick([...trickyKeys, 'bogus', 'spéc', '日本'])}":1,"` : '{"'))
  return { method: 'POST', path: `${deployments}?fieldValidation=Strict`, headers: json, body: `{"${random.pick(trickyKeys)}":{},${text.slice(1)}` }
}

const badJson: Generator = (random) => {
  const text = JSON.stringify(deployment())
  const at = 1 + random.below(text.length - 1)
  const broken = random.pick([
    () => text.slice(0, at),
    () => `${text}}`,
    () => `${text.slice(0, at)}\u0000${text.slice(at)}`,
    () => `\ufeff${text}`,
    () => text.replaceAll('"', "'"),
    () => `[${text}]`,
    () => random.pick(['', 'null', 'true', '7', '"x"', '[]', '{', '}', '\\', '{"a":}', '{"a":01}', '{"a":+1}', '{"a":NaN}', '{,}', '-', '"\\ud800"', '1e999']),
  ])()
  return { method: 'POST', path: random.pick([deployments, configMaps, pods]), headers: json, body: broken }
}

const badUtf8: Generator = (random) => {
  const text = Buffer.from(JSON.stringify({ ...deployment(), apiVersion: 'apps/v1@' }))
  text[text.indexOf('@')] = random.pick([0x80, 0xc0, 0xff, 0xfe])
  return { method: 'POST', path: deployments, headers: random.pick([json, yaml]), body: text }
}

const garbage: Generator = (random) => ({
  method: random.pick(['POST', 'PUT', 'PATCH']),
  path: random.pick([target, configMaps, `${pods}/x/status`, `${deployments}/x/scale`]),
  headers: { 'content-type': random.pick([json['content-type'], yaml['content-type'], protobuf['content-type'], ...patchTypes]) },
  body: noise(random, 1 + random.below(500)),
})

const badYaml: Generator = (random) => ({
  method: 'POST',
  path: configMaps,
  headers: yaml,
  body: random.pick([
    '\ta: b',
    'a: b: c',
    'a: [1, 2',
    '{a: b',
    '&a [*a]',
    '*unknown',
    'a: !!binary "***"',
    '? [1, 2]\n: x',
    '"\\x"',
    '- - - a\n b',
    'metadata: {name: .nan}',
    'a: .inf',
    '%YAML 9.9\n---\na: b',
    '---\n---\n---',
    `${'a: b\n'.repeat(random.below(50))}x`,
    '!!js/function "function () {}"',
    '!<tag:yaml.org,2002:set> {a, b}',
    'kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: [x]\n',
    '<<: *x',
    '<<: 7',
  ]),
})

/** Nine levels of nine aliases each: half a billion items if anybody counts. */
const yamlBomb: Generator = (random) => {
  const levels = 6 + random.below(6)
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]']
  for (let i = 1; i < levels; i++) lines.push(`a${i}: &a${i} [${Array.from({ length: 9 }, () => `*a${i - 1}`).join(', ')}]`)
  return { method: 'POST', path: configMaps, headers: yaml, body: lines.join('\n') }
}

const deep: Generator = (random) => {
  const levels = random.pick([1_001, 5_000, 9_999, 10_001, 100_000])
  const text = random.pick([
    () => nested('[', ']', levels),
    () => nested('{"a":', '}', levels, '1'),
    () => '['.repeat(levels),
    () => '{"a":'.repeat(levels),
    () => `{"metadata":{"name":"x","labels":${nested('{"a":', '}', levels, '1')}}}`,
  ])()
  const type = random.pick([...patchTypes, json['content-type'], yaml['content-type']])
  return type.includes('patch') ? { method: 'PATCH', path: target, headers: { 'content-type': type }, body: text } : { method: 'POST', path: configMaps, headers: { 'content-type': type }, body: text }
}

const deepYaml: Generator = (random) => {
  const levels = random.pick([600, 2_000, 20_000])
  const body = random.pick([() => `${'- '.repeat(levels)}x`, () => Array.from({ length: 1_500 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'), () => nested('[', ']', levels)])()
  return { method: 'POST', path: configMaps, headers: yaml, body }
}

const badSelectors: Generator = (random) => {
  const text = random.pick([
    '=', '==', '!', '!!a', 'a=b=c', 'a in', 'a in (', 'a in ()b', 'a notin x', '(a)', ',', 'a,,b', 'a b', 'a>b', 'a<', 'a=!', 'a/b/c=d', '/a=b', 'a/=b', '-a=b', 'a=-b', `${'a'.repeat(64)}=b`, `a=${'b'.repeat(64)}`,
    'é=b', 'a in (b,', 'a=\u0001', 'a\r\nb', '(((((((((', `${'a,'.repeat(300)}!`, 'constructor/x/y', 'a in (b)) x',
  ])
  return { path: `${random.pick([configMaps, pods, '/api/v1/pods'])}?labelSelector=${encodeURIComponent(text)}${random.pick(['', '&watch=1'])}` }
}

const badFieldSelectors: Generator = (random) => {
  const text = random.pick([
    'x', 'x=1', 'metadata.uid=1', 'spec.foo=bar', 'metadata.name', 'metadata.name=a\\', 'metadata.name=\\x', '=', 'a', ...trickyKeys.map((k) => `${k}=1`), 'metadata.name=a,bogus=b', 'status.phase', 'a\u0000=b',
  ])
  const at = random.pick([configMaps, pods, deployments, '/api/v1/nodes'])
  return { method: random.pick(['GET', 'DELETE']), path: `${at}?fieldSelector=${encodeURIComponent(text)}` }
}

const versions = ['abc', '-1', '1.5', '0x10', '1e3', ' 1', '١', '1'.repeat(40), '99999999999999999999', 'null', '1\u0000']

const badVersionOnList: Generator = (random) => ({ path: `${configMaps}?resourceVersion=${encodeURIComponent(random.pick(versions))}` })
// Kubernetes answers a plain 500 for these.
const badVersionOnGet: Generator = (random) => ({ path: `${target}?resourceVersion=${encodeURIComponent(random.pick(versions))}`, also: [500] })
const badVersionOnWatch: Generator = (random) => ({ path: `${configMaps}?watch=1&resourceVersion=${encodeURIComponent(random.pick(versions))}`, also: [500] })
// A version of the future may become true: Kubernetes says 504 and that the client may ask again.
const futureVersion: Generator = (random) => ({ path: `${random.pick([target, configMaps])}?resourceVersion=${random.pick(['18446744073709551615', '999999999', '9007199254740993'])}`, also: [504] })

const badListOptions: Generator = (random) => ({
  path: `${configMaps}?${random.pick([
    'resourceVersionMatch=Exact', 'resourceVersionMatch=bogus', 'resourceVersionMatch=Exact&resourceVersion=0', 'limit=abc', 'limit=1.5', 'limit=99999999999999999999', 'timeoutSeconds=x', 'sendInitialEvents=true',
    'watch=1&resourceVersionMatch=NotOlderThan', 'watch=1&sendInitialEvents=true', 'watch=1&sendInitialEvents=true&resourceVersionMatch=Exact', 'watch=1&timeoutSeconds=1e9', 'timeout=abc', 'timeout=5', 'timeout=-',
    'resourceVersionMatch=NotOlderThan&continue=abc', 'limit=%00', 'limit=5&limit=x&limit=y&resourceVersionMatch=a&resourceVersionMatch=b',
  ])}`,
})

const token = (fields: unknown) => Buffer.from(typeof fields === 'string' ? fields : JSON.stringify(fields)).toString('base64url')

const badContinue: Generator = (random) => {
  const text = random.pick([
    'abc', '!!!!', 'a', '====', token('x'), token('[]'), token('null'), token({}), token({ v: 'v0', rv: 1, start: 'a' }), token({ v: 'meta.k8s.io/v1', rv: 0, start: 'a' }), token({ v: 'meta.k8s.io/v1', rv: 5 }),
    token({ v: 'meta.k8s.io/v1', rv: 'x', start: 'a' }), token({ v: 'meta.k8s.io/v1', rv: 5, start: '../secrets/x' }), token({ v: 'meta.k8s.io/v1', rv: 5, start: 'a/../../b' }), token({ v: 7, rv: 5, start: 'a' }),
    token({ v: 'meta.k8s.io/v1', rv: 5, start: { toString: 1 } }), token('{"v":"meta.k8s.io/v1","rv":5,"start":"a'), token('{"__proto__":{"v":"meta.k8s.io/v1","rv":5,"start":"a"}}'),
  ])
  return { path: `${configMaps}?limit=1&continue=${encodeURIComponent(text)}` }
}

const badPaths: Generator = (random) => ({
  method: random.pick(['GET', 'GET', 'DELETE', 'PUT', 'POST', 'PATCH', 'HEAD']),
  path: random.pick([
    '//', '//api/v1/pods', '/api//v1/pods', '/api/v1//pods', '/%2e%2e/%2e%2e/etc/passwd', '/api/v1/../../etc/passwd', '/api/v1/namespaces/%2e%2e/pods/x', '/api/v1/namespaces/default%2f..%2fkube-system/configmaps/x',
    '/api/v1/%00', '/api/v1/namespaces/%00/pods/%00', '/api/v1/pods%00', '/api/v1/namespaces/default/pods/%zz', '/%', '/%f', '/%c3%28', '/api/v1/namespaces/default/pods/%ff%fe', '/api/v1/namespaces/default/pods/a%0d%0aSet-Cookie:%20x=y',
    `/api/v1/namespaces/default/pods/${'a'.repeat(4000)}`, `/${'a/'.repeat(2000)}`, `/api/v1/namespaces/default/pods/x/${'log/'.repeat(500)}`, '/api/v1/namespaces/default/pods/x/bogus', '/api/v1/namespaces/default/pods/x/status/y',
    '/api/v2/pods', '/apis/apps/v9/deployments', '/apis/bogus.example.com/v1/things', '/api/v1/bogus', '/apis/apps/v1/namespaces/default/pods', '/API/v1/pods', '/api/v1/namespaces/default/nodes/x', '/api/v1/namespaces/default/pods/日本',
    ...trickyKeys.flatMap((k) => [`/${k}`, `/api/v1/${k}`, `/apis/${k}/v1/x`, `/apis/apps/${k}/x`, `/api/v1/namespaces/default/pods/x/${k}`, `${target}/${k}`, `/openapi/v3/${k}`, `/livez/${k}`]),
  ]).replace(/[^\x20-\x7e]/g, (c) => encodeURIComponent(c)),
})

const badVerbs: Generator = (random) => ({
  over: 'http2',
  method: random.pick(['FOO', 'get', 'PROPFIND', 'TRACE', 'OPTIONS', 'LINK', 'x'.repeat(500), ...trickyKeys]),
  path: random.pick([target, configMaps, '/api/v1', '/version/x', `${deployments}/x/scale`, `${pods}/x/status`, '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews']),
})

const wrongVerbs: Generator = (random) =>
  random.pick([
    { method: 'POST', path: target }, { method: 'PUT', path: configMaps }, { method: 'PATCH', path: configMaps }, { method: 'DELETE', path: '/api/v1/pods' }, { method: 'POST', path: '/api/v1/pods' }, { method: 'HEAD', path: target },
    { method: 'GET', path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews' }, { method: 'DELETE', path: `${target}/status` }, { method: 'DELETE', path: '/api/v1/namespaces' }, { method: 'PUT', path: `${pods}/x/eviction` },
  ])

const badContentTypes: Generator = (random) => ({
  ...random.pick([{ method: 'POST', path: configMaps }, { method: 'PUT', path: target }, { method: 'PATCH', path: target }]),
  headers: {
    'content-type': random.pick([
      'text/plain', 'application/xml', 'application', '/', ';', 'application/json;', 'application/json; charset', `application/json${' '.repeat(5000)}x`, `application/json;${'a=b;'.repeat(1000)}x`, 'application/x-www-form-urlencoded', 'image/png, application/json',
      'application/apply-patch+yaml', 'application/merge-patch', '*/*', ...trickyKeys,
    ]),
  },
  body: '{"nothing": true',
})

const badAccept: Generator = (random) => ({
  path: random.pick([target, configMaps]),
  headers: {
    accept: random.pick([
      'text/html', 'application/xml', 'application/vnd.kubernetes.protobuf', 'image/*', 'application/json;as=Table;v=v9;g=meta.k8s.io', 'application/json;as=Bogus;v=v1;g=meta.k8s.io', 'x', '/', ';;;;', 'application/', `text/plain${',x/y;q=0.1'.repeat(800)}`,
      `a/b${';'.repeat(5000)}`,
    ]),
  },
})

const badPatches: Generator = (random) => {
  const type = random.pick(patchTypes)
  const ops = (list: unknown[]) => JSON.stringify(list)
  const byType: Record<string, (() => string)[]> = {
    'application/json-patch+json': [
      () => ops([{ op: 'bogus', path: '/a' }]),
      () => ops([{ op: 'remove', path: '/nowhere' }]),
      () => ops([{ op: 'add', path: '/metadata/name', value: 7 }]),
      () => ops([{ op: 'test', path: '/data/a', value: 'never' }]),
      () => ops([{ op: 'replace', path: '' }]),
      () => ops([{ op: 'add', path: 'data', value: 1 }]),
      () => ops([{ op: 'move', from: '/metadata', path: '/metadata/labels/x' }]),
      () => ops([{ op: 'add', path: '/__proto__/polluted', value: 'yes' }, { op: 'remove', path: '/nowhere' }]),
      () => ops([{ op: 'replace', path: '/constructor/prototype/polluted', value: 'yes' }]),
      () => ops(Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/kind', value: 'ConfigMap' }))),
      // Twice as much with every step.
      () => ops([{ op: 'add', path: '/data/a', value: 'x'.repeat(1000) }, ...Array.from({ length: 40 }, (_, i) => ({ op: 'copy', from: '', path: `/data${i}` })), ...Array.from({ length: 40 }, () => ({ op: 'copy', from: '/data', path: '/data/x' }))]),
      () => ops(Array.from({ length: 3_000 }, (_, i) => (i % 2 ? { op: 'move', from: '/x', path: '/y/x' } : { op: 'add', path: '/y', value: {} })).flatMap((o) => [o, { op: 'move', from: '/y', path: '/x' }])),
      () => ops([{ op: 'add', path: '/data/a', value: 1 }]),
      () => ops([{ op: 'add', path: '/kind', value: 'Pod' }]),
      () => ops([{ op: 'add', path: '/metadata/labels', value: { 'a/b/c': 'x' } }]),
      () => ops([{ op: 'add', path: '/metadata/finalizers/-1', value: 'x' }]),
      () => ops([7]),
      () => '{}',
      () => '"x"',
    ],
    'application/merge-patch+json': [
      () => '[]',
      () => 'null',
      () => '{"metadata":{"name":"other"}}',
      () => '{"metadata":{"uid":"x","resourceVersion":"1"}}',
      () => '{"metadata":[]}',
      () => '{"data":7}',
      () => '{"data":{"a":{"b":1}}}',
      () => '{"metadata":null}',
      () => '{"__proto__":{"polluted":"yes"},"data":7}',
    ],
    'application/strategic-merge-patch+json': [
      () => '[]',
      () => '{"metadata":{"$patch":"replace","x":1}}',
      () => '{"$retainKeys":7,"data":7}',
      () => '{"metadata":{"finalizers":7}}',
      () => '{"metadata":{"ownerReferences":[{"name":"no-key"}]}}',
      () => '{"__proto__":{"polluted":"yes"},"constructor":{"prototype":1},"data":[]}',
    ],
  }
  return { method: 'PATCH', path: `${target}?fieldValidation=Strict`, headers: { 'content-type': type }, body: random.pick(byType[type]!)() }
}

/** Patches that Kubernetes itself answers with a plain 500. */
const unloved: Generator = (random) => {
  const [type, body] = random.pick([
    [patchTypes[1], '{"metadata":{"resourceVersion":"abc"}}'],
    [patchTypes[2], '{"$patch":7}'],
    [patchTypes[2], '{"$patch":"bogus"}'],
    [patchTypes[2], '{"$setElementOrder/data":7,"data":7}'],
    [patchTypes[2], '{"metadata":{"$setElementOrder/finalizers":[[]],"finalizers":[7]}}'],
    [patchTypes[2], '{"$deleteFromPrimitiveList/metadata":{"$patch":[]},"metadata":7}'],
  ] as const)
  return { method: 'PATCH', path: target, headers: { 'content-type': type }, body, also: [500] }
}

const varint = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, ...varint(Math.floor(value / 128))])
const bytesField = (field: number, bytes: Buffer) => Buffer.concat([Buffer.from([(field << 3) | 2, ...varint(bytes.length)]), bytes])

const badProtobuf: Generator = (random) => {
  const meta = bytesField(1, Buffer.concat([bytesField(1, Buffer.from('v1')), bytesField(2, Buffer.from('ConfigMap'))]))
  const raw = bytesField(1, bytesField(1, Buffer.from('never')))
  const whole = Buffer.concat([Buffer.from('k8s\0'), meta, bytesField(2, raw)])
  const body = random.pick([
    () => whole.subarray(0, 1 + random.below(whole.length - 1)),
    () => Buffer.from('k8s'),
    () => Buffer.from('k9s\0xxxx'),
    () => Buffer.concat([Buffer.from('k8s\0'), Buffer.from([0x12, ...varint(0xffffffff)])]),
    () => Buffer.concat([Buffer.from('k8s\0'), Buffer.from([0x12, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1])]),
    () => Buffer.concat([Buffer.from('k8s\0'), meta, bytesField(2, Buffer.from([0x0a, ...varint(1 << 30), 1]))]),
    () => Buffer.concat([Buffer.from('k8s\0'), meta, bytesField(2, Buffer.from([0x08, 1]))]),
    () => Buffer.concat([Buffer.from('k8s\0'), meta, bytesField(2, Buffer.from([0x0b, 0x0c, 0x0f]))]),
    () => Buffer.concat([Buffer.from('k8s\0'), meta, bytesField(2, bytesField(1, bytesField(8, Buffer.from([0x08, 255, 255, 255, 255, 255, 255, 255, 255, 127]))))]),
    () => Buffer.concat([Buffer.from('k8s\0'), bytesField(1, bytesField(1, Buffer.from('v9'))), bytesField(2, raw)]),
    () => Buffer.concat([Buffer.from('k8s\0'), meta, bytesField(2, Buffer.concat(Array.from({ length: 2000 }, () => bytesField(1, noise(random, 5)))))]),
  ])()
  return { method: 'POST', path: configMaps, headers: protobuf, body }
}

const invalidObjects: Generator = (random) => ({
  method: 'POST',
  path: configMaps,
  headers: json,
  ...random.pick<Partial<Malformed>>([
    { body: '{}' },
    { body: '{"metadata":{"name":"A B"}}' },
    { body: JSON.stringify({ metadata: { name: 'x'.repeat(300) } }) },
    { body: JSON.stringify({ metadata: { generateName: '\r\nSet-Cookie: x' } }) },
    { body: JSON.stringify({ metadata: { name: 'x', namespace: 'other' } }) },
    { body: JSON.stringify({ kind: 'Pod', metadata: { name: 'x' } }) },
    { body: JSON.stringify({ apiVersion: 'a/b/c', metadata: { name: 'x' } }) },
    { body: JSON.stringify({ metadata: { name: 'x', labels: { '__proto__ ': 'y', constructor: 'a b' } } }) },
    { body: '{"metadata":{"name":"x","labels":{"__proto__":"a b"}}}' },
    { body: JSON.stringify({ metadata: { name: 'x' }, data: { 'a/b': 'c' } }) },
    { body: JSON.stringify({ metadata: { name: 'x' }, data: { a: 'x'.repeat(1_100_000) } }) },
    { body: JSON.stringify({ metadata: { name: 'x', annotations: { a: 'x'.repeat(300_000) } } }) },
    // Kubernetes' own answer to that is a plain 500.
    { body: JSON.stringify({ metadata: { name: 'x', resourceVersion: '5' } }), also: [500] },
    { path: '/api/v1/namespaces/nowhere/configmaps', body: '{"metadata":{"name":"x"}}' },
    { path: `${configMaps}?dryRun=bogus`, body: '{"metadata":{"name":"x"}}' },
    { path: `${configMaps}?dryRun=All&dryRun=None`, body: '{"metadata":{"name":"x"}}' },
    { path: `${configMaps}?fieldValidation=bogus`, body: '{"metadata":{"name":"x"}}' },
    { path: `${configMaps}?fieldManager=${'%01'}`, body: '{"metadata":{"name":"x"}}' },
    { path: `${configMaps}?fieldManager=${'x'.repeat(200)}`, body: '{"metadata":{"name":"x"}}' },
    { path: `${pods}/x/binding`, body: '{"metadata":{"name":"x"},"target":{"name":"n"}}' },
    { path: `${pods}/x/eviction`, body: '{"metadata":{"name":"y"}}' },
    { method: 'DELETE', path: target, body: '{"propagationPolicy":"bogus"}' },
    { method: 'DELETE', path: target, body: '{"preconditions":{"uid":"bogus"}}' },
    { method: 'DELETE', path: target, body: '{"kind":"Pod","apiVersion":"v1"}' },
    { method: 'DELETE', path: target, body: '[]' },
    { method: 'DELETE', path: `${target}?gracePeriodSeconds=x` },
    { method: 'PUT', path: target, body: '{"metadata":{"name":"target","resourceVersion":"1"}}' },
    { method: 'PUT', path: target, body: '{"metadata":{"name":"other"}}' },
  ]),
})

/** Warnings quote what the client said: whatever that is must not get out of its header. Nothing is stored. */
const nastyWarnings: Generator = (random) => {
  const name = random.pick(['x\r\nSet-Cookie: pwned=1', 'x\u0000y', '日本語', 'é', '\ud83d\ude00', '"quoted"\\', 'x\u007f', '\u0085\u2028', 'x'.repeat(5000)])
  const fields = Object.fromEntries(Array.from({ length: random.pick([1, 3, 2000]) }, (_, i) => [`${name}${i}`, 1]))
  return {
    method: 'POST',
    path: `${configMaps}?dryRun=All&fieldValidation=Warn`,
    headers: json,
    body: JSON.stringify({ metadata: { name: 'x' }, ...fields }),
    also: [201],
  }
}

const oversized: Generator = (random) => ({
  method: random.pick(['POST', 'PUT', 'PATCH']),
  path: random.pick([configMaps, target]),
  headers: json,
  body: Buffer.alloc(3 * 1024 * 1024 + 1 + random.below(100_000), random.pick(['{', ' ', 'x', '"'])),
})

/** Just inside the limit of a body, and far too much for whoever takes it apart. */
const heavy: Generator = (random) => ({
  path: configMaps,
  ...random.pick<Partial<Malformed>>([
    { method: 'POST', headers: json, body: `{"metadata":{"name":"x"},"data":{${Array.from({ length: 60_000 }, (_, i) => `"k${i}":1`).join(',')}}}` },
    { method: 'POST', headers: json, body: `{"metadata":{"name":"x","name":"x"},"x":[${'{"a":1,"a":2},'.repeat(50_000)}0],"data":7}` },
    { method: 'POST', headers: json, body: `{"data":{"a":"${'\\u0000'.repeat(300_000)}"}}` },
    { method: 'POST', headers: yaml, body: `a:\n${'- x\n'.repeat(20_000)}` },
    { method: 'PATCH', path: target, headers: { 'content-type': patchTypes[2] }, body: `{"metadata":{"finalizers":[${'"x",'.repeat(100_000)}"x"]}}` },
    { method: 'PATCH', path: target, headers: { 'content-type': patchTypes[0] }, body: JSON.stringify(Array.from({ length: 10_000 }, () => ({ op: 'add', path: '/metadata/finalizers/0', value: 'x' }))) },
  ]),
})

/** The number of each kind in a thousand. */
const shares: readonly (readonly [name: string, share: number, make: Generator])[] = [
  ['wrong types', 110, wrongTypes],
  ['unknown fields', 50, unknownFields],
  ['bad JSON', 90, badJson],
  ['bad UTF-8', 30, badUtf8],
  ['garbage', 60, garbage],
  ['bad YAML', 45, badYaml],
  ['a YAML bomb', 10, yamlBomb],
  ['deep nesting', 6, deep],
  ['deep YAML', 2, deepYaml],
  ['bad label selectors', 70, badSelectors],
  ['bad field selectors', 50, badFieldSelectors],
  ['a bad resource version on a list', 20, badVersionOnList],
  ['a bad resource version on a get', 20, badVersionOnGet],
  ['a bad resource version on a watch', 20, badVersionOnWatch],
  ['a resource version of the future', 10, futureVersion],
  ['bad list options', 40, badListOptions],
  ['a bad continue token', 40, badContinue],
  ['a bad path', 100, badPaths],
  ['a bad verb', 30, badVerbs],
  ['a wrong verb', 30, wrongVerbs],
  ['a bad content type', 40, badContentTypes],
  ['a bad Accept header', 30, badAccept],
  ['a bad patch', 90, badPatches],
  ['an unloved patch', 10, unloved],
  ['bad protobuf', 60, badProtobuf],
  ['an invalid object', 60, invalidObjects],
  ['nasty warnings', 20, nastyWarnings],
  ['a body that is too large', 4, oversized],
  ['a heavy body', 2, heavy],
]

const total = shares.reduce((sum, [, share]) => sum + share, 0)

/** Some malformed request. */
export function malformedRequest(random: SeededRandom): Malformed {
  let at = random.below(total)
  for (const [name, share, make] of shares) {
    if ((at -= share) < 0) return { name, ...make(random) }
  }
  throw new Error('unreachable')
}
