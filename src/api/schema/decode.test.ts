import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseJson } from '../json/index.ts'
import type { Json } from '../object.ts'
import { DecodeError, decodeObject } from './decode.ts'
import { schema } from './index.ts'
import type { FieldType } from './index.ts'

/** Decodes a copy in place, too: both ways must come to the same. */
const decode = (type: string, value: Json) => {
  const { object } = decodeObject(type, value)
  expect(decodeObject(type, structuredClone(value), { isOwned: true }).object).toEqual(object)
  return object
}

describe('decodeObject() lets zeroes vanish or appear', () => {
  const rows: [what: string, type: string, sent: Json, decoded: unknown][] = [
    ['a boolean that is a value', 'PodSpec', { hostNetwork: false, containers: [] }, { containers: null }],
    ['a boolean that is a pointer', 'SecurityContext', { privileged: false }, { privileged: false }],
    ['a number that is a value', 'Probe', { periodSeconds: 0, timeoutSeconds: 1 }, { timeoutSeconds: 1 }],
    ['a number that is a pointer', 'KeyToPath', { key: 'k', path: 'p', mode: 0 }, { key: 'k', path: 'p', mode: 0 }],
    ['a text that is a value', 'EnvVar', { name: 'A', value: '' }, { name: 'A' }],
    ['a text that is a pointer', 'PersistentVolumeClaimSpec', { storageClassName: '' }, { storageClassName: '', resources: {} }],
    ['empty lists and maps', 'LabelSelector', { matchLabels: {}, matchExpressions: [] }, {}],
    ['an empty structure behind a pointer', 'Volume', { name: 'v', emptyDir: {} }, { name: 'v', emptyDir: {} }],
    ['what is always written', 'Container', {}, { name: '', resources: {} }],
    ['lists that are always written', 'Role', { rules: [] }, { metadata: {}, rules: null }],
    ['pointers that are always written', 'TypedLocalObjectReference', { kind: 'k', name: 'n' }, { apiGroup: null, kind: 'k', name: 'n' }],
    ['quantities that are always written', 'ResourceFieldSelector', { resource: 'r' }, { divisor: '0', resource: 'r' }],
    ['numbers that are always written', 'DaemonEndpoint', {}, { Port: 0 }],
    [
      'structures within structures', 'Deployment', {},
      { metadata: {}, spec: { selector: null, strategy: {}, template: { metadata: {}, spec: { containers: null } } }, status: {} },
    ],
    ['no creation time', 'ObjectMeta', { creationTimestamp: null, name: 'a' }, { name: 'a' }],
    ['a zero creation time', 'ObjectMeta', { creationTimestamp: '0001-01-01T00:00:00Z' }, {}],
    ['no deletion time', 'ObjectMeta', { deletionTimestamp: null }, {}],
    ['times of conditions', 'PodCondition', { type: 'T', status: 'True' }, { lastProbeTime: null, lastTransitionTime: null, status: 'True', type: 'T' }],
    ['raw data', 'ControllerRevision', { revision: 1 }, { metadata: {}, data: null, revision: 1 }],
  ]
  test.each(rows)('%s', (_, type, sent, decoded) => {
    expect(decode(type, sent)).toEqual(decoded)
  })
})

describe('decodeObject() takes null for nothing', () => {
  const rows: [what: string, type: string, sent: Json, decoded: unknown][] = [
    ['a field', 'EnvVar', { name: null, value: null }, { name: '' }],
    ['an item that is a structure', 'PodSpec', { containers: [null] }, { containers: [{ name: '', resources: {} }] }],
    ['an item that is a text', 'ExecAction', { command: ['a', null] }, { command: ['a', ''] }],
    ['a value of a map', 'ConfigMap', { data: { k: null } }, { metadata: {}, data: { k: '' } }],
    ['a value of a map of bytes', 'Secret', { data: { k: null } }, { metadata: {}, data: { k: '' } }],
    ['a value of a map of quantities', 'ResourceRequirements', { limits: { cpu: null } }, { limits: { cpu: '0' } }],
    ['everything', 'ConfigMap', null, { metadata: {} }],
  ]
  test.each(rows)('%s', (_, type, sent, decoded) => {
    expect(decode(type, sent)).toEqual(decoded)
  })
})

describe('decodeObject() writes canonically', () => {
  const rows: [what: string, type: string, sent: Json, decoded: unknown][] = [
    ['quantities', 'ResourceRequirements', { limits: { cpu: '0.5', memory: '1024Mi' } }, { limits: { cpu: '500m', memory: '1Gi' } }],
    ['quantities that are numbers', 'ResourceRequirements', { limits: { cpu: 1, memory: 0.5 } }, { limits: { cpu: '1', memory: '500m' } }],
    ['times', 'ObjectMeta', { deletionTimestamp: '2024-01-01T02:00:00.5+01:00' }, { deletionTimestamp: '2024-01-01T01:00:00Z' }],
    ['times with microseconds', 'LeaseSpec', { renewTime: '2024-01-01T02:00:00.500000+01:00' }, { renewTime: '2024-01-01T01:00:00.500000Z' }],
    ['base64', 'Secret', { data: { a: 'YW\nJj' } }, { metadata: {}, data: { a: 'YWJj' } }],
    ['ports by number or name', 'HTTPGetAction', { port: 'http' }, { port: 'http' }],
  ]
  test.each(rows)('%s', (_, type, sent, decoded) => {
    expect(decode(type, sent)).toEqual(decoded)
  })

  test('fields stay in the order they came in, behind them what is always written', () => {
    const sent = { spec: { replicas: 1, paused: true }, kind: 'Deployment', metadata: { name: 'a', labels: { b: 'c' } }, apiVersion: 'apps/v1' }
    const object = decode('Deployment', sent)
    expect(Object.keys(object)).toEqual(['spec', 'kind', 'metadata', 'apiVersion', 'status'])
    expect(Object.keys(object.spec as object)).toEqual(['replicas', 'paused', 'selector', 'strategy', 'template'])
  })

  test('free-form parts stay as they are', () => {
    const data = { a: null, b: [], c: { '': 0 } }
    expect(decode('ControllerRevision', { revision: 0, data }).data).toEqual(data)
    const managedFields = [{ manager: 'm', fieldsV1: { 'f:a': {} } }]
    expect(decode('ObjectMeta', { managedFields })).toEqual({ managedFields })
  })

  test('the result shares no lists, maps or structures with what was sent', () => {
    const sent = { metadata: { labels: { a: 'b' }, finalizers: ['c'] } }
    const object = decode('ConfigMap', sent) as typeof sent
    object.metadata.labels.a = 'x'
    object.metadata.finalizers.push('y')
    expect(sent).toEqual({ metadata: { labels: { a: 'b' }, finalizers: ['c'] } })
  })

  test('what is owned and fits is the result itself', () => {
    const sent = { containers: [{ name: 'a', resources: { limits: { cpu: '1' } }, env: [{ name: 'A', value: 'b' }] }], nodeSelector: { a: 'b' } }
    const before = structuredClone(sent)
    expect(decodeObject('PodSpec', sent, { isOwned: true }).object).toBe(sent)
    expect(sent).toEqual(before)
  })

  test('what a value shares with one that was decoded before is taken as it is, and all else is read', () => {
    const before = decodeObject('PodSpec', { containers: [{ name: 'a' }, { name: 'b' }], nodeSelector: { a: 'b' }, tolerations: [{ key: 'k' }] }).object
    const [first] = before.containers as Json[]
    const value = { ...before, containers: [first!, { name: 'c', stdin: false }], tolerations: [{ key: 'k', value: '' }] }
    const { object } = decodeObject('PodSpec', value, { madeOf: before })
    expect(object).toEqual({ containers: [{ name: 'a', resources: {} }, { name: 'c', resources: {} }], nodeSelector: { a: 'b' }, tolerations: [{ key: 'k' }] })
    expect((object.containers as Json[])[0]).toBe(first)
    expect(object.nodeSelector).toBe(before.nodeSelector)
    expect(object.containers).not.toBe(value.containers)
    expect(value.containers[1]).toEqual({ name: 'c', stdin: false })
    // The next one has nothing in common with it.
    expect(decodeObject('PodSpec', { containers: [], nodeSelector: before.nodeSelector! }).object.nodeSelector).not.toBe(before.nodeSelector)
  })

  test('what is wrong is told in the same words, whatever it shares', () => {
    const before = decodeObject('PodSpec', { containers: [{ name: 'a' }], nodeSelector: { a: 'b' } }).object
    const value = { ...before, containers: [{ name: 7 }], tolerations: [{ foo: 1 }] }
    const told = (options: object) => {
      try {
        return decodeObject('PodSpec', value, options)
      } catch (e) {
        return (e as Error).message
      }
    }
    expect(told({ madeOf: before })).toEqual(told({}))
    expect(told({ madeOf: before })).toContain('cannot unmarshal number')
  })

  test('a key named __proto__ is a key of a map and unknown to a structure', () => {
    const sent = JSON.parse('{"__proto__":{"polluted":"1"},"data":{"__proto__":"x"}}') as Json
    const { object, unknown } = decodeObject('ConfigMap', sent)
    expect(JSON.stringify(object)).toBe('{"metadata":{},"data":{"__proto__":"x"}}')
    expect(unknown).toEqual(['__proto__'])
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })
})

describe('decodeObject() refuses in the words of Go', () => {
  const field = (what: string, where: string, type: string) => `json: cannot unmarshal ${what} into Go struct field ${where} of type ${type}`
  const rows: [what: string, type: string, text: string, message: string][] = [
    ['a text for a number', 'Deployment', '{"spec":{"replicas":"3"}}', field('string', 'DeploymentSpec.spec.replicas', 'int32')],
    ['a fraction', 'Deployment', '{"spec":{"replicas":1.5}}', field('number 1.5', 'DeploymentSpec.spec.replicas', 'int32')],
    ['a whole fraction', 'Deployment', '{"spec":{"replicas":3.0}}', field('number 3.0', 'DeploymentSpec.spec.replicas', 'int32')],
    ['an exponent', 'Deployment', '{"spec":{"replicas":1e1}}', field('number 1e1', 'DeploymentSpec.spec.replicas', 'int32')],
    ['more than 32 bits', 'Deployment', '{"spec":{"replicas":3000000000}}', field('number 3000000000', 'DeploymentSpec.spec.replicas', 'int32')],
    ['more than 64 bits', 'ControllerRevision', '{"revision":9223372036854775808}', field('number 9223372036854775808', 'ControllerRevision.revision', 'int64')],
    ['a boolean for a number', 'Deployment', '{"spec":{"replicas":true}}', field('bool', 'DeploymentSpec.spec.replicas', 'int32')],
    ['a text for a boolean', 'ConfigMap', '{"immutable":"true"}', field('string', 'ConfigMap.immutable', 'bool')],
    ['a text for a structure', 'Deployment', '{"spec":"text"}', field('string', 'Deployment.spec', 'v1.DeploymentSpec')],
    ['a list for a structure', 'Deployment', '{"spec":[]}', field('array', 'Deployment.spec', 'v1.DeploymentSpec')],
    ['a text for a list', 'Pod', '{"spec":{"containers":"x"}}', field('string', 'PodSpec.spec.containers', '[]v1.Container')],
    ['a text for an item', 'Pod', '{"spec":{"containers":["x"]}}', field('string', 'PodSpec.spec.containers', 'v1.Container')],
    ['a list for a map', 'ConfigMap', '{"metadata":{"labels":[]}}', field('array', 'ObjectMeta.metadata.labels', 'map[string]string')],
    ['a number in a map', 'ConfigMap', '{"data":{"k":1}}', field('number', 'ConfigMap.data', 'string')],
    ['a list for resources', 'Pod', '{"spec":{"overhead":[]}}', field('array', 'PodSpec.spec.overhead', 'v1.ResourceList')],
    ['a number for a choice', 'Pod', '{"spec":{"restartPolicy":1}}', field('number', 'PodSpec.spec.restartPolicy', 'v1.RestartPolicy')],
    ['a text for choices', 'PersistentVolume', '{"spec":{"accessModes":"x"}}', field('string', 'PersistentVolumeSpec.spec.accessModes', '[]v1.PersistentVolumeAccessMode')],
    ['a number for a time', 'ConfigMap', '{"metadata":{"creationTimestamp":1}}', field('number', 'ObjectMeta.metadata.creationTimestamp', 'string')],
    ['a boolean for a port', 'Service', '{"spec":{"ports":[{"targetPort":true}]}}', field('bool', 'ServicePort.spec.ports.targetPort', 'int32')],
    ['a fraction for a port', 'Service', '{"spec":{"ports":[{"targetPort":1.0}]}}', field('number 1.0', 'ServicePort.spec.ports.targetPort', 'int32')],
    ['a number for bytes', 'Secret', '{"data":{"a":1}}', field('number', 'Secret.data', '[]uint8')],
    ['what is no base64', 'Secret', '{"data":{"a":"***"}}', 'illegal base64 data at input byte 0'],
    ['what is no time', 'ConfigMap', '{"metadata":{"creationTimestamp":"x"}}', 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'],
    [
      'what is no quantity', 'ResourceQuota', '{"spec":{"hard":{"pods":"x"}}}',
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    ['the first of two', 'ConfigMap', '{"immutable":1,"data":2}', field('number', 'ConfigMap.immutable', 'bool')],
    ['a type that reads itself before others', 'ConfigMap', '{"immutable":1,"metadata":{"creationTimestamp":"2024"}}', 'parsing time "2024" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "-"'],
  ]
  test.each(rows)('%s', (_, type, text, message) => {
    const { value } = parseJson(text)
    expect(() => decodeObject(type, value, { text })).toThrow(new DecodeError(message))
  })
})

describe('decodeObject() tells what it drops', () => {
  const rows: [what: string, type: string, text: string, problems: string[]][] = [
    ['nothing', 'ConfigMap', '{"data":{"k":"v"}}', []],
    ['unknown fields in the order of the text', 'Pod', '{"zoo":1,"spec":{"foo":1,"containers":[{},{"bar":{"a":1,"a":2}}]}}', ['unknown field "zoo"', 'unknown field "spec.foo"', 'unknown field "spec.containers[1].bar"']],
    ['another case is another name', 'ConfigMap', '{"Kind":"ConfigMap","Data":{}}', ['unknown field "Kind"', 'unknown field "Data"']],
    ['duplicate fields', 'ConfigMap', '{"metadata":{"name":"a","name":"a"},"data":{"k":"1","k":"2"}}', ['duplicate field "metadata.name"', 'duplicate field "data.k"']],
    ['both in order', 'ConfigMap', '{"foo":1,"data":{},"data":{},"bar":2}', ['unknown field "foo"', 'duplicate field "data"', 'unknown field "bar"']],
    ['not what free-form parts repeat', 'ControllerRevision', '{"revision":1,"data":{"a":1,"a":2}}', []],
    ['each only once', 'ConfigMap', '{"data":{"k":"1","k":"2","k":"3"}}', ['duplicate field "data.k"']],
  ]
  test.each(rows)('%s', (_, type, text, problems) => {
    const { value, duplicates, hasFractions } = parseJson(text)
    expect(decodeObject(type, value, { text, duplicates, hasFractions }).problems).toEqual(problems)
  })

  test('in the order of the names where there is no text', () => {
    expect(decodeObject('ConfigMap', { metadata: { bar: 2 }, foo: 1 }).unknown).toEqual(['foo', 'metadata.bar'])
  })
})

const samples: Partial<Record<FieldType['kind'], Json[]>> = {
  string: ['', 'x'],
  boolean: [true, false],
  bytes: ['', 'YQ==', 'YR=='],
  time: [null, '2024-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '2024-01-01T00:00:00.5+01:00'],
  microTime: [null, '2024-01-01T00:00:00.000001Z', '0001-01-01T00:00:00.000000Z'],
  quantity: ['0', '1024Mi', 0.5, '1e3'],
  raw: [null, { a: [1] }],
}

/** Values that fit a type, or now and then do not. */
function likely(type: FieldType, depth: number): fc.Arbitrary<Json> {
  const odd = fc.constantFrom<Json>(null, true, 0, -1, 1.5, 3e9, 2 ** 63, '', 'x', '1Gi', '2024-01-01T00:00:00Z', 'YQ==', [], {}, [null], { a: null })
  const fitting = (): fc.Arbitrary<Json> => {
    switch (type.kind) {
      case 'struct': {
        const fields = Object.values(schema[type.name]!.fields)
        if (depth === 0) return fc.constant({})
        const some = fc.subarray(fields, { maxLength: Math.min(4, fields.length) })
        return some.chain((chosen) => fc.record(Object.fromEntries(chosen.map((f) => [f.name, likely(f.type, depth - 1)]))) as fc.Arbitrary<Json>)
      }
      case 'list':
        return fc.array(likely(type.of, depth), { maxLength: 2 })
      case 'map':
        return fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), likely(type.of, depth), { maxKeys: 2 }) as fc.Arbitrary<Json>
      default:
        return fc.constantFrom<Json>(...(samples[type.kind] ?? [0, 80]))
    }
  }
  return fc.oneof({ weight: 30, arbitrary: fitting() }, { weight: 1, arbitrary: odd })
}

describe('decodeObject() for anything that is sent', () => {
  test.each(['Pod', 'Deployment', 'V2HorizontalPodAutoscaler', 'CoreV1Event', 'PersistentVolume'])('as %s either refuses or settles', (type) => {
    let tried = 0
    let refused = 0
    fc.assert(
      fc.property(likely({ kind: 'struct', name: type }, 5), (value) => {
        let once: Json
        tried++
        try {
          once = decode(type, value)
        } catch (e) {
          expect(e).toBeInstanceOf(DecodeError)
          refused++
          return
        }
        expect(decode(type, once)).toEqual(once)
        expect(decode(type, JSON.parse(JSON.stringify(once)) as Json)).toEqual(once)
      }),
      { numRuns: 300 },
    )
    expect(refused).toBeGreaterThan(0)
    expect(refused).toBeLessThan(tried)
  })
})
