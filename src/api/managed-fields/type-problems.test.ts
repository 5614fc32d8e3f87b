import { describe, expect, it } from 'vitest'
import { builtInMergeType } from './built-in-type.ts'
import { sampleType } from './testing/sample-type.ts'
import { problemsOf, problemsText } from './type-problems.ts'

describe('problemsOf()', () => {
  it.each<[string, unknown, ...string[]]>([
    ['what fits', { a: 1, items: [{ name: 'n' }] }],
    ['an unknown field', { foo: 1 }, '.foo: field not declared in schema'],
    ['an unknown field of an item', { items: [{ name: 'n', q: 1 }] }, '.items[name="n"].q: field not declared in schema'],
    ['a list for a structure', { struct: [] }, '.struct: expected map, got &{[]}'],
    ['a scalar for a list', { items: 1 }, '.items: expected list, got &{1}'],
    ['an item twice', { items: [{ name: 'n' }, { name: 'n' }] }, '.items: duplicate entries for key [name="n"]'],
    ['a value twice', { set: [1, 1] }, '.set: duplicate entries for key [=1]'],
    ['a map in a set', { set: [{}] }, ".set: element 0: associative list without keys has an element that's a map type"],
    ['a list in a set', { set: [[]] }, '.set: element 0: not supported: associative list with lists as elements'],
    ['null in a set', { set: [null] }, ".set: element 0: associative list without keys has an element that's an explicit null"],
    ['null among items', { items: [null] }, '.items: element 0: associative list with keys may not have a null element'],
    ['a scalar among items', { items: [1] }, '.items: element 0: associative list with keys may not have non-map elements'],
    ['an item without its key', { items: [{}] }, `.items: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn't have default values for any key fields)`],
    ['anything without a schema', { any: { x: [{}] } }],
    ['all that is wrong', { items: [{ name: 'n', q: 1 }, { name: 'n', r: 1 }], struct: 'x', foo: 1 }, '.items[name="n"].q: field not declared in schema',
      '.items: duplicate entries for key [name="n"]', '.items[name="n"].r: field not declared in schema', '.struct: expected map, got &{x}', '.foo: field not declared in schema'],
    ['one undeclared field of each map', { foo: 1, bar: 1, struct: { baz: 1 } }, '.struct.baz: field not declared in schema', '.foo: field not declared in schema'],
    ['nothing behind an item that has no key', { items: [{ name: 'n', q: 1 }, {}, { name: 'm', q: 1 }] }, '.items[name="n"].q: field not declared in schema',
      `.items: element 1: associative list with keys has an element that omits all key fields ["name"] (and doesn't have default values for any key fields)`],
  ])('%s', (_, value, ...expected) => {
    expect(problemsOf(sampleType, value)).toEqual(expected)
  })

  it.each<[string, unknown, ...string[]]>([
    ['numbers', { replicas: 'two', minReadySeconds: { a: 1 }, revisionHistoryLimit: [1] }, '.spec.replicas: expected numeric (int or float), got string',
      '.spec.minReadySeconds: expected numeric (int or float), got map[string]interface {}', '.spec.revisionHistoryLimit: expected numeric (int or float), got []interface {}'],
    ['booleans', { paused: 'yes' }, '.spec.paused: expected boolean, got &{yes}'],
    ['strings', { strategy: { type: { a: ['x', 1.5, null, true] } } }, '.spec.strategy.type: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":[]interface {}{"x", 1.5, interface {}(nil), true}}}'],
    ['numbers or strings', { strategy: { rollingUpdate: { maxSurge: [1] } } }, '.spec.strategy.rollingUpdate.maxSurge: expected any scalar, got &{[1]}'],
    ['quantities', { template: { spec: { containers: [{ name: 'c', resources: { limits: { cpu: {} } } }] } } }, '.spec.template.spec.containers[name="c"].resources.limits.cpu: expected any scalar, got &{map[]}'],
  ])('tells the types of %s', (_, spec, ...expected) => {
    expect(problemsOf(builtInMergeType('Deployment'), { spec })).toEqual(expected)
  })

  it('ends after a thousand', () => {
    expect(problemsOf(sampleType, { items: Array.from({ length: 5000 }, (_, i) => ({ name: `${i}`, q: 1 })) })).toHaveLength(1000)
  })
})

it('problemsText() tells one as it is and several under each other', () => {
  expect([problemsText(['a']), problemsText(['a', 'b'])]).toEqual(['a', 'errors:\n  a\n  b'])
})
