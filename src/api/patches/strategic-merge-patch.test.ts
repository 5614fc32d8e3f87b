import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { deepFreeze } from '../json/index.ts'
import type { Json } from '../object.ts'
import { applyMergePatch } from './merge-patch.ts'
import { applyStrategicMergePatch } from './strategic-merge-patch.ts'

const podSpec = deepFreeze<Json>({
  containers: [
    {
      name: 'a',
      image: 'i',
      env: [{ name: 'X', value: '1' }, { name: 'Y', value: '2' }],
      args: ['p', 'q'],
      ports: [{ containerPort: 80 }],
    },
    { name: 'b', image: 'j' },
  ],
  volumes: [{ name: 'v', emptyDir: {} }, { name: 'w', configMap: { name: 'x' } }],
  nodeSelector: { a: '1', c: '3' },
  tolerations: [{ key: 't' }],
})

type PodSpec = { [key: string]: Json } & { containers: { name: string; [key: string]: Json }[] }

const patchSpec = (patch: Json) =>
  (applyStrategicMergePatch({ spec: podSpec }, deepFreeze({ spec: patch }), 'Pod') as { spec: PodSpec }).spec

const deployment = deepFreeze<Json>({ spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } } })

describe('applyStrategicMergePatch() on lists by key', () => {
  it('changes an item and leaves the others', () => {
    expect(patchSpec({ containers: [{ name: 'b', image: 'k' }] }).containers).toEqual([
      (podSpec as PodSpec).containers[0],
      { name: 'b', image: 'k' },
    ])
  })

  test.each<[string, Json, string]>([
    ['a new item comes first', [{ name: 'n', image: 'k' }], 'n a b'],
    ['a new item before one that is there', [{ name: 'n' }, { name: 'a' }], 'n a b'],
    ['a new item after one that is there', [{ name: 'a' }, { name: 'n' }], 'a n b'],
    ['items in the order of the patch', [{ name: 'b' }, { name: 'a' }], 'b a'],
    ['delete', [{ name: 'a', $patch: 'delete' }], 'b'],
    ['delete of one that is not there', [{ name: 'z', $patch: 'delete' }], 'a b'],
    ['delete and add', [{ name: 'a', $patch: 'delete' }, { name: 'n' }], 'n b'],
    ['replace by the others in the patch', [{ name: 'n' }, { $patch: 'replace' }], 'n'],
    ['replace by nothing', [{ $patch: 'replace', name: 'a', image: 'z' }], ''],
    ['an empty list changes nothing', [], 'a b'],
  ])('%s', (_, containers, names) => {
    expect(patchSpec({ containers }).containers.map((c) => c.name).join(' ')).toBe(names)
  })

  it('goes on inside an item', () => {
    const env: Json = [{ name: 'Y', value: '9' }, { name: 'Z', value: '3' }, { name: 'X', $patch: 'delete' }]
    expect(patchSpec({ containers: [{ name: 'a', env, args: ['z'] }] }).containers[0]).toEqual({
      name: 'a',
      image: 'i',
      env: [{ name: 'Y', value: '9' }, { name: 'Z', value: '3' }],
      args: ['z'],
      ports: [{ containerPort: 80 }],
    })
  })

  it('null removes a field of an item', () => {
    const env = [{ name: 'X', value: null, valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }]
    expect(patchSpec({ containers: [{ name: 'a', env }] }).containers[0]!['env']).toEqual([
      { name: 'X', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'Y', value: '2' },
    ])
  })

  it('a list without a key is replaced', () => {
    expect(patchSpec({ tolerations: [{ key: 'n' }] })['tolerations']).toEqual([{ key: 'n' }])
  })

  test.each<[string, Json[], Json[] | undefined, string]>([
    ['alone', [{ name: 'b' }, { name: 'a' }], undefined, 'b a'],
    ['and a change', [{ name: 'b' }, { name: 'a' }], [{ name: 'a', image: 'z' }], 'b a'],
    ['and a new item', [{ name: 'n' }, { name: 'b' }, { name: 'a' }], [{ name: 'n' }], 'n b a'],
    ['that leaves one out', [{ name: 'n' }, { name: 'b' }], [{ name: 'n' }], 'n a b'],
    ['and a deletion', [{ name: 'b' }], [{ name: 'a', $patch: 'delete' }], 'b'],
  ])('$setElementOrder %s', (_, order, containers, names) => {
    const patch: Json = { '$setElementOrder/containers': order, ...(containers ? { containers } : {}) }
    expect(patchSpec(patch).containers.map((c) => c.name).join(' ')).toBe(names)
  })
})

describe('applyStrategicMergePatch() on objects', () => {
  test.each<[string, Json, Json]>([
    ['maps merge, and null removes', { nodeSelector: { b: '2', a: null } }, { b: '2', c: '3' }],
    ['replace by directive', { nodeSelector: { $patch: 'replace', n: '1' } }, { n: '1' }],
    ['delete by directive', { nodeSelector: { $patch: 'delete' } }, {}],
    ['null removes the field', { nodeSelector: null }, undefined as never],
  ])('%s', (_, patch, nodeSelector) => {
    expect(patchSpec(patch)['nodeSelector']).toEqual(nodeSelector)
  })

  it('what is new comes without nulls and directives', () => {
    const spec = patchSpec({
      initContainers: [{ name: 'n', image: null, env: [{ name: 'E', $patch: 'delete' }] }, { $patch: 'replace' }],
      securityContext: { $patch: 'delete' },
    })
    expect(spec['initContainers']).toEqual([{ name: 'n', env: [] }])
    expect(Object.hasOwn(spec, 'securityContext')).toBe(false)
  })

  it('$retainKeys clears what it does not list', () => {
    const patch = { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } }
    expect(applyStrategicMergePatch(deployment, patch, 'Deployment')).toEqual({ spec: { strategy: { type: 'Recreate' } } })
  })

  it('keeps fields the type does not know, for the decoder to judge', () => {
    expect(patchSpec({ foo: 'bar' })['foo']).toBe('bar')
  })

  it('takes __proto__ for a field like any other', () => {
    const patch: Json = JSON.parse('{"metadata":{"labels":{"__proto__":"x"}}}')
    const result = applyStrategicMergePatch({ metadata: { labels: { a: 'b' } } }, patch, 'Pod')
    expect(JSON.stringify(result)).toBe('{"metadata":{"labels":{"a":"b","__proto__":"x"}}}')
  })

  it('null as the patch changes nothing', () => {
    expect(applyStrategicMergePatch(deployment, null, 'Deployment')).toBe(deployment)
  })
})

describe('applyStrategicMergePatch() on sets', () => {
  const doc = deepFreeze<Json>({ metadata: { finalizers: ['a', 'b'] } })

  test.each<[string, Json, string[]]>([
    ['merge, in the order of the patch', { finalizers: ['c', 'a'] }, ['c', 'a', 'b']],
    ['the same twice', { finalizers: ['c', 'c'] }, ['c', 'a', 'b']],
    ['deleteFromPrimitiveList', { '$deleteFromPrimitiveList/finalizers': ['a'] }, ['b']],
    ['deleteFromPrimitiveList of a missing one', { '$deleteFromPrimitiveList/finalizers': ['z'] }, ['a', 'b']],
    ['deleteFromPrimitiveList that is no list', { '$deleteFromPrimitiveList/finalizers': 'a' }, ['a', 'b']],
    ['delete and add', { '$deleteFromPrimitiveList/finalizers': ['a'], finalizers: ['c'] }, ['c', 'b']],
    ['setElementOrder', { '$setElementOrder/finalizers': ['b', 'a'] }, ['b', 'a']],
  ])('%s', (_, patch, expected) => {
    expect(applyStrategicMergePatch(doc, { metadata: patch }, 'ConfigMap')).toEqual({ metadata: { finalizers: expected } })
  })
})

describe('applyStrategicMergePatch() refuses', () => {
  const bare = { code: 500, reason: '' }
  const badRequest = { code: 400, reason: 'BadRequest' }
  test.each<[string, Json, object, string]>([
    ['an item without its key', { containers: [{ image: 'k' }] }, bare, 'map: map[image:k] does not contain declared merge key: name'],
    ['a deletion without the key', { containers: [{ $patch: 'delete' }] }, bare, 'map: map[$patch:delete] does not contain declared merge key: name'],
    ['merge as a directive', { containers: [{ $patch: 'merge', name: 'a' }] }, bare, 'merging lists cannot yet be specified in the patch'],
    [
      'an unknown directive in a list',
      { containers: [{ $patch: 'frob', name: 'a', image: 'z' }] },
      bare,
      'unknown patch type: frob in map: map[$patch:frob image:z name:a]',
    ],
    ['an unknown directive', { nodeSelector: { $patch: 'frob' } }, bare, 'unknown patch type: frob in map: map[$patch:frob]'],
    [
      'texts where objects are',
      { volumes: ['x'] },
      bare,
      'list element types are not identical: [[map[emptyDir:map[] name:v] map[configMap:map[name:x] name:w]] [x]]',
    ],
    ['an order that is no list', { '$setElementOrder/containers': 1 }, bare, 'expected a []interface {}, but received a int64'],
    ['an order for nothing', { '$setElementOrder_containers': [] }, badRequest, 'invalid patch format of setElementOrder list'],
    [
      'an order of a field that does not exist',
      { '$setElementOrder/foo': [] },
      bare,
      'unable to find api field in struct PodSpec for the json field "foo"',
    ],
    [
      'an order that misses an item of the patch',
      { '$setElementOrder/containers': [{ name: 'a' }], containers: [{ name: 'n', image: 'z' }] },
      bare,
      "The order in patch list:\n[map[image:z name:n]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n",
    ],
    [
      'an order with an item without the key',
      { '$setElementOrder/containers': [{ image: 'z' }] },
      bare,
      'map: map[image:z] does not contain declared merge key: name',
    ],
    ['a deletion list for nothing', { $deleteFromPrimitiveList: ['x'] }, badRequest, 'invalid patch format of primitive list'],
    ['keys to retain that miss one given', { nodeSelector: { $retainKeys: ['a'], n: '1' } }, badRequest, 'invalid patch format of retainKeys'],
    ['keys to retain that are no list', { nodeSelector: { $retainKeys: 'a' } }, badRequest, 'invalid patch format of retainKeys'],
  ])('%s', (_, patch, error, message) => {
    expect(() => patchSpec(patch)).toThrow(expect.objectContaining({ ...error, message }))
  })

  it('lists in a list', () => {
    expect(() => applyStrategicMergePatch({ metadata: { finalizers: [] } }, { metadata: { finalizers: [['x']] } }, 'Pod')).toThrow(
      expect.objectContaining({ code: 422, reason: 'Invalid', message: 'the server rejected our request due to an error in our request' }),
    )
  })

  it('a patch that is no object', () => {
    expect(() => applyStrategicMergePatch({}, [], 'Pod')).toThrow(
      expect.objectContaining({ ...badRequest, message: 'json: cannot unmarshal array into Go value of type map[string]interface {}' }),
    )
  })
})

const text = fc.constantFrom<Json>('x', 'y', '', null)
const labels = fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__'), text, { maxKeys: 4 }) as fc.Arbitrary<Json>
const withoutLists = fc.record(
  {
    metadata: fc.record({ name: text, labels, annotations: labels }, { requiredKeys: [] }),
    data: labels,
    immutable: fc.constantFrom<Json>(true, false, null),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Json>

describe('for any objects without lists', () => {
  it('a strategic merge is a merge', () => {
    fc.assert(
      fc.property(withoutLists, withoutLists, (doc, patch) => {
        const strategic = applyStrategicMergePatch(deepFreeze(doc), deepFreeze(patch), 'ConfigMap')
        expect(strategic).toEqual(applyMergePatch(doc, patch))
      }),
    )
  })
})
