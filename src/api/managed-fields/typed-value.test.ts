import { describe, expect, it } from 'vitest'
import { type FieldSet, closed, difference, differenceBelow, intersection, pathTexts, union } from './field-set.ts'
import { sampleType } from './testing/sample-type.ts'
import { compare, fieldSetOf, merge, remove, withNamedFields } from './typed-value.ts'

/** A set out of paths: `a.b` means field b of a; a leading '.' in front of a path is not written. */
function setOf(...paths: string[]): FieldSet {
  return paths.reduce<FieldSet>((sum, path) => union(sum, path.split('/').reduceRight<FieldSet>((below, element) => ({ [element]: below }), {})), {})
}
const f = (path: string) => path.split('.').map((name) => `f:${name}`).join('/')
const fields = (...paths: string[]) => setOf(...paths.map(f))
const texts = (set: FieldSet) => [...pathTexts(set)].sort()

describe('sets of fields', () => {
  const ab = fields('a', 'b')
  it.each<[string, FieldSet, FieldSet]>([
    ['union of nothing with nothing', union({}, {}), {}],
    ['union with nothing', union(ab, {}), ab],
    ['union of nothing', union({}, ab), ab],
    ['union of two fields', union(fields('a'), fields('b')), { 'f:a': {}, 'f:b': {} }],
    ['union of a field and one below it', union(fields('a'), fields('a.b')), { 'f:a': { '.': {}, 'f:b': {} } }],
    ['union of one below and the field', union(fields('a.b'), fields('a')), { 'f:a': { '.': {}, 'f:b': {} } }],
    ['union of two below one', union(fields('a.c'), fields('a.b')), { 'f:a': { 'f:b': {}, 'f:c': {} } }],
    ['difference with nothing', difference(ab, {}), ab],
    ['difference of nothing', difference({}, ab), {}],
    ['difference with itself', difference(ab, ab), {}],
    ['difference takes one', difference(ab, fields('a')), { 'f:b': {} }],
    ['difference leaves what is below', difference(fields('a', 'a.b'), fields('a')), { 'f:a': { 'f:b': {} } }],
    ['difference leaves what is above', difference(fields('a', 'a.b'), fields('a.b')), { 'f:a': {} }],
    ['difference of a field with one below', difference(fields('a'), fields('a.b')), { 'f:a': {} }],
    ['difference of one below with the field', difference(fields('a.b'), fields('a')), { 'f:a': { 'f:b': {} } }],
    ['difference of both', difference(fields('a', 'a.b'), fields('a', 'a.b')), {}],
    ['differenceBelow takes what is below', differenceBelow(fields('a.b', 'c'), fields('a')), { 'f:c': {} }],
    ['differenceBelow of a path takes only that', differenceBelow(fields('a.b', 'a.c'), fields('a.b')), { 'f:a': { 'f:c': {} } }],
    ['differenceBelow with nothing', differenceBelow(ab, {}), ab],
    ['intersection with nothing', intersection(ab, {}), {}],
    ['intersection of nothing', intersection({}, ab), {}],
    ['intersection with itself', intersection(ab, ab), ab],
    ['intersection of two', intersection(ab, fields('b', 'c')), { 'f:b': {} }],
    ['intersection of a field and one below', intersection(fields('a'), fields('a.b')), {}],
    ['intersection below', intersection(fields('a', 'a.b'), fields('a.b')), { 'f:a': { 'f:b': {} } }],
    ['intersection above', intersection(fields('a', 'a.b'), fields('a')), { 'f:a': {} }],
    ['fields of a structure become members', withNamedFields(sampleType, fields('struct.x')), { 'f:struct': { '.': {}, 'f:x': {} } }],
    ['keys of a map do not become members', withNamedFields(sampleType, fields('structs.k.x')), { 'f:structs': { '.': {}, 'f:k': { 'f:x': {} } } }],
    ['items do not become members', withNamedFields(sampleType, setOf('f:items/k:{"name":1}/f:v')), { 'f:items': { '.': {}, 'k:{"name":1}': { 'f:v': {} } } }],
    ['what has no schema has no fields', withNamedFields(sampleType, fields('any.x.y')), { 'f:any': { '.': {}, 'f:x': { 'f:y': {} } } }],
  ])('%s', (_, found, expected) => {
    expect(JSON.stringify(found)).toBe(JSON.stringify(expected))
  })

  it('union() and difference() hand back the very same set where nothing changes', () => {
    expect(union(ab, fields('a'))).toBe(ab)
    expect(difference(ab, fields('c'))).toBe(ab)
  })

  it.each<[string, string, number]>([
    ['.', 'f:a', -1], ['f:a', 'f:b', -1], ['f:b', 'f:a', 1], ['f:z', 'k:{"a":1}', -1], ['k:{"a":1}', 'v:1', -1], ['v:1', 'i:0', -1],
    ['k:{"p":80}', 'k:{"p":443}', -1], ['k:{"n":"a"}', 'k:{"n":"b"}', -1], ['v:"a"', 'v:"b"', -1], ['k:{"a":1}', 'k:{"a":1,"b":1}', -1],
  ])('%s and %s are in order', (a, b, order) => {
    expect(Object.keys(closed({ [a]: {}, [b]: {} }))).toEqual(order < 0 ? [a, b] : [b, a])
    expect(Object.keys(closed({ [b]: {}, [a]: {} }))).toEqual(order < 0 ? [a, b] : [b, a])
  })
})

describe('fieldSetOf()', () => {
  it.each<[string, unknown, string[]]>([
    ['nothing', {}, []],
    ['a scalar', { a: 1 }, ['.a']],
    ['a null', { a: null }, ['.a']],
    ['a false', { a: false }, ['.a']],
    ['an empty text', { a: '' }, ['.a']],
    ['an undefined field', { a: undefined }, []],
    ['a structure', { struct: { x: 1 } }, ['.struct.x']],
    ['an empty structure', { struct: {} }, ['.struct']],
    ['a null structure', { struct: null }, ['.struct']],
    ['a nested structure', { struct: { inner: { z: 1 } } }, ['.struct.inner.z']],
    ['an empty nested structure', { struct: { inner: {} } }, ['.struct.inner']],
    ['an atomic structure', { whole: { x: 1, y: 2 } }, ['.whole']],
    ['an empty atomic structure', { whole: {} }, ['.whole']],
    ['a map', { map: { p: 1, q: 2 } }, ['.map.p', '.map.q']],
    ['an empty map', { map: {} }, ['.map']],
    ['a null in a map', { map: { p: null } }, ['.map.p']],
    ['an atomic map', { wholeMap: { p: 1 } }, ['.wholeMap']],
    ['an atomic list', { list: [1, 2] }, ['.list']],
    ['an empty atomic list', { list: [] }, ['.list']],
    ['a set', { set: ['x', 'y'] }, ['.set[="x"]', '.set[="y"]']],
    ['a set of numbers', { set: [1] }, ['.set[=1]']],
    ['an empty set', { set: [] }, []],
    ['items', { items: [{ name: 'n', v: 1 }] }, ['.items[name="n"]', '.items[name="n"].name', '.items[name="n"].v']],
    ['two items', { items: [{ name: 'n' }, { name: 'm' }] }, ['.items[name="m"]', '.items[name="m"].name', '.items[name="n"]', '.items[name="n"].name']],
    ['no items', { items: [] }, []],
    ['null items', { items: null }, ['.items']],
    ['a set in an item', { items: [{ name: 'n', set: ['s'] }] }, ['.items[name="n"]', '.items[name="n"].name', '.items[name="n"].set[="s"]']],
    ['a key with a default', { ports: [{ port: 80 }] }, ['.ports[port=80,protocol="TCP"]', '.ports[port=80,protocol="TCP"].port']],
    ['two keys', { ports: [{ port: 53, protocol: 'UDP' }] }, ['.ports[port=53,protocol="UDP"]', '.ports[port=53,protocol="UDP"].port', '.ports[port=53,protocol="UDP"].protocol']],
    ['a scalar without a schema', { any: 1 }, ['.any']],
    ['a list without a schema', { any: [{ x: 1 }] }, ['.any']],
    ['a map without a schema', { any: { x: { y: 1 } } }, ['.any.x', '.any.x.y']],
    ['an empty map without a schema', { any: {} }, ['.any']],
    ['a map of structures', { structs: { k: { x: 1 } } }, ['.structs.k', '.structs.k.x']],
    ['a structure with other fields', { open: { x: 1, q: { r: 1 } } }, ['.open.q', '.open.q.r', '.open.x']],
  ])('%s', (_, value, expected) => {
    expect(texts(fieldSetOf(sampleType, value))).toEqual(expected)
  })
})

describe('compare()', () => {
  it.each<[string, unknown, unknown, string[], string[]]>([
    ['nothing and nothing', {}, {}, [], []],
    ['the same scalar', { a: 1 }, { a: 1 }, [], []],
    ['another scalar', { a: 1 }, { a: 2 }, ['.a'], []],
    ['a new scalar', {}, { a: 1 }, ['.a'], []],
    ['a scalar that is gone', { a: 1 }, {}, [], ['.a']],
    ['one more, one less', { a: 1 }, { b: 1 }, ['.b'], ['.a']],
    ['a null for a scalar', { a: 1 }, { a: null }, ['.a'], []],
    ['a new structure is a member itself', {}, { struct: { x: 1 } }, ['.struct', '.struct.x'], []],
    ['a new empty structure', {}, { struct: {} }, ['.struct'], []],
    ['a structure that is gone', { struct: { x: 1 } }, {}, [], ['.struct', '.struct.x']],
    ['a field in a structure', { struct: { x: 1, y: 1 } }, { struct: { x: 2, y: 1 } }, ['.struct.x'], []],
    ['a structure that is filled', { struct: {} }, { struct: { x: 1 } }, ['.struct.x'], []],
    ['a structure that is emptied', { struct: { x: 1 } }, { struct: {} }, [], ['.struct.x']],
    ['an atomic structure', { whole: { x: 1 } }, { whole: { x: 2 } }, ['.whole'], []],
    ['a field more in an atomic structure', { whole: { x: 1 } }, { whole: { x: 1, y: 1 } }, ['.whole'], []],
    ['the same atomic structure', { whole: { x: 1 } }, { whole: { x: 1 } }, [], []],
    ['a key of a map', { map: { p: 1 } }, { map: { p: 2 } }, ['.map.p'], []],
    ['a new key', { map: { p: 1 } }, { map: { p: 1, q: 1 } }, ['.map.q'], []],
    ['a key that is gone', { map: { p: 1, q: 1 } }, { map: { p: 1 } }, [], ['.map.q']],
    ['a new map', {}, { map: { p: 1 } }, ['.map', '.map.p'], []],
    ['an atomic map', { wholeMap: { p: 1 } }, { wholeMap: {} }, ['.wholeMap'], []],
    ['an atomic list', { list: [1] }, { list: [1, 2] }, ['.list'], []],
    ['an atomic list in another order', { list: [1, 2] }, { list: [2, 1] }, ['.list'], []],
    ['a set in another order', { set: [1, 2] }, { set: [2, 1] }, [], []],
    ['one more in a set', { set: [1] }, { set: [1, 2] }, ['.set[=2]'], []],
    ['one less in a set', { set: [1, 2] }, { set: [1] }, [], ['.set[=2]']],
    ['a new item', { items: [] }, { items: [{ name: 'n' }] }, ['.items[name="n"]', '.items[name="n"].name'], []],
    ['an item that is gone', { items: [{ name: 'n' }] }, { items: [] }, [], ['.items[name="n"]', '.items[name="n"].name']],
    ['a field of an item', { items: [{ name: 'n', v: 1 }] }, { items: [{ name: 'n', v: 2 }] }, ['.items[name="n"].v'], []],
    ['items in another order', { items: [{ name: 'n' }, { name: 'm' }] }, { items: [{ name: 'm' }, { name: 'n' }] }, [], []],
    ['a list that was null', { items: null }, { items: [{ name: 'n' }] }, ['.items[name="n"]', '.items[name="n"].name'], []],
    ['a key that says its default', { ports: [{ port: 1 }] }, { ports: [{ port: 1, protocol: 'TCP' }] }, ['.ports[port=1,protocol="TCP"].protocol'], []],
    ['items that stand twice', { ports: [{ port: 1 }, { port: 1 }] }, { ports: [{ port: 1 }, { port: 1, name: 'x' }] }, ['.ports[port=1,protocol="TCP"]'], []],
    ['without a schema, below', { any: { x: { y: 1 } } }, { any: { x: { y: 2 } } }, ['.any.x.y'], []],
    ['without a schema, a list', { any: { x: [1] } }, { any: { x: [2] } }, ['.any.x'], []],
    ['without a schema, a map for a scalar', { any: { x: 1 } }, { any: { x: { y: 1 } } }, ['.any.x', '.any.x.y'], []],
    ['without a schema, a scalar for a map', { any: { x: { y: 1 } } }, { any: { x: 1 } }, ['.any.x'], ['.any.x.y']],
    ['without a schema, a list for a map', { any: { x: { y: 1 } } }, { any: { x: [1] } }, ['.any.x'], ['.any.x.y']],
  ])('%s', (_, before, after, changed, removed) => {
    const found = compare(sampleType, before, after)
    expect([texts(found.changed), texts(found.removed)]).toEqual([changed, removed])
  })

  it('passes over fields that do not count', () => {
    expect(compare(sampleType, { a: 1, b: 1 }, { a: 2, b: 2 }, new Set(['b'])).changed).toEqual({ 'f:a': {} })
  })
})

describe('merge()', () => {
  it.each<[string, unknown, unknown, unknown]>([
    ['nothing into nothing', {}, {}, {}],
    ['a scalar into nothing', {}, { a: 1 }, { a: 1 }],
    ['nothing into a scalar', { a: 1 }, {}, { a: 1 }],
    ['a scalar over a scalar', { a: 1 }, { a: 2 }, { a: 2 }],
    ['a null over a scalar', { a: 1 }, { a: null }, { a: null }],
    ['a field into a structure', { struct: { x: 1 } }, { struct: { y: 2 } }, { struct: { x: 1, y: 2 } }],
    ['an empty structure', { struct: { x: 1 } }, { struct: {} }, { struct: { x: 1 } }],
    ['a null structure over one that is filled', { struct: { x: 1 } }, { struct: null }, { struct: { x: 1 } }],
    ['a null structure over an empty one', { struct: {} }, { struct: null }, { struct: null }],
    ['an atomic structure', { whole: { x: 1 } }, { whole: { y: 2 } }, { whole: { y: 2 } }],
    ['a map', { map: { p: 1 } }, { map: { q: 2 } }, { map: { p: 1, q: 2 } }],
    ['an atomic map', { wholeMap: { p: 1 } }, { wholeMap: { q: 2 } }, { wholeMap: { q: 2 } }],
    ['an atomic list', { list: [1, 2] }, { list: [3] }, { list: [3] }],
    ['a set', { set: [1, 2] }, { set: [2, 3] }, { set: [1, 2, 3] }],
    ['a set in another order', { set: [1, 2] }, { set: [2, 1] }, { set: [2, 1] }],
    ['an empty set over one that is filled', { set: [1] }, { set: [] }, { set: [1] }],
    ['an item by its key', { items: [{ name: 'n', v: 1 }] }, { items: [{ name: 'n', w: 2 }] }, { items: [{ name: 'n', v: 1, w: 2 }] }],
    ['a new item behind', { items: [{ name: 'n' }] }, { items: [{ name: 'm' }] }, { items: [{ name: 'n' }, { name: 'm' }] }],
    ['items in the order that is applied', { items: [{ name: 'a' }, { name: 'b' }] }, { items: [{ name: 'b' }, { name: 'a' }] }, { items: [{ name: 'b' }, { name: 'a' }] }],
    ['an item of another in between', { items: [{ name: 'a' }, { name: 'o' }, { name: 'b' }] }, { items: [{ name: 'a' }, { name: 'b' }] }, { items: [{ name: 'a' }, { name: 'o' }, { name: 'b' }] }],
    ['an item of another in front of one that moves', { items: [{ name: 'a' }, { name: 'o' }, { name: 'b' }] }, { items: [{ name: 'b' }, { name: 'a' }] }, { items: [{ name: 'o' }, { name: 'b' }, { name: 'a' }] }],
    ['an item that stood twice', { items: [{ name: 'a', v: 1 }, { name: 'b' }, { name: 'a', v: 2 }] }, { items: [{ name: 'a', w: 1 }] }, { items: [{ name: 'a', w: 1 }, { name: 'b' }] }],
    ['a new item in front', { items: [{ name: 'b' }] }, { items: [{ name: 'a' }, { name: 'b' }] }, { items: [{ name: 'a' }, { name: 'b' }] }],
    ['a port by a default key', { ports: [{ port: 1, protocol: 'TCP' }] }, { ports: [{ port: 1, name: 'x' }] }, { ports: [{ port: 1, protocol: 'TCP', name: 'x' }] }],
    ['a port of another protocol', { ports: [{ port: 1 }] }, { ports: [{ port: 1, protocol: 'UDP' }] }, { ports: [{ port: 1 }, { port: 1, protocol: 'UDP' }] }],
    ['a set in an item', { items: [{ name: 'n', set: [1] }] }, { items: [{ name: 'n', set: [2] }] }, { items: [{ name: 'n', set: [1, 2] }] }],
    ['without a schema', { any: { x: 1 } }, { any: { y: [1] } }, { any: { x: 1, y: [1] } }],
    ['without a schema, another shape', { any: { x: 1 } }, { any: [1] }, { any: [1] }],
  ])('%s', (_, live, applied, expected) => {
    expect(merge(sampleType, live, applied)).toEqual(expected)
  })

  it('hands back the very same value where nothing changes', () => {
    const live = { a: 1, items: [{ name: 'n', v: 1 }], map: { p: 1 } }
    expect(merge(sampleType, live, { a: 1, items: [{ name: 'n' }], map: { p: 1 } })).toBe(live)
  })
})

describe('remove()', () => {
  const item = 'k:{"name":"n"}'
  it.each<[string, unknown, FieldSet, unknown]>([
    ['nothing', { a: 1 }, {}, { a: 1 }],
    ['a scalar', { a: 1, b: 1 }, fields('a'), { b: 1 }],
    ['a field that is not there', { a: 1 }, fields('b'), { a: 1 }],
    ['a field of a structure', { struct: { x: 1, y: 1 } }, fields('struct.x'), { struct: { y: 1 } }],
    ['a whole structure', { struct: { x: 1 } }, fields('struct'), {}],
    ['a key of a map', { map: { p: 1, q: 1 } }, fields('map.p'), { map: { q: 1 } }],
    ['an atomic list', { list: [1] }, fields('list'), {}],
    ['an atomic structure', { whole: { x: 1 } }, fields('whole'), {}],
    ['nothing inside an atomic structure', { whole: { x: 1 } }, fields('whole.x'), { whole: { x: 1 } }],
    ['a value of a set', { set: [1, 2] }, setOf('f:set/v:1'), { set: [2] }],
    ['an item', { items: [{ name: 'n' }, { name: 'm' }] }, setOf(`f:items/${item}`), { items: [{ name: 'm' }] }],
    ['a field of an item', { items: [{ name: 'n', v: 1 }] }, setOf(`f:items/${item}/f:v`), { items: [{ name: 'n' }] }],
    ['a port by a default key', { ports: [{ port: 1 }] }, setOf('f:ports/k:{"port":1,"protocol":"TCP"}'), { ports: [] }],
    ['all fields of a structure', { struct: { x: 1 } }, fields('struct.x'), { struct: {} }],
    ['without a schema', { any: { x: 1, y: 1 } }, fields('any.x'), { any: { y: 1 } }],
  ])('%s', (_, value, set, expected) => {
    expect(remove(sampleType, value, set)).toEqual(expected)
  })
})
