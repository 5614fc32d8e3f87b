import { describe, expect, it } from 'vitest'
import { compile, kubernetesEnvironment, schemaType } from './index.ts'
import type { JsonSchema } from './index.ts'
import { formatType } from './types.ts'

const schema: JsonSchema = {
  type: 'object',
  properties: {
    count: { type: 'integer' },
    ratio: { type: 'number' },
    name: { type: 'string' },
    on: { type: 'boolean' },
    port: { 'x-kubernetes-int-or-string': true },
    'x-kebab': { type: 'string' },
    'a.b/c': { type: 'string' },
    if: { type: 'string' },
    under__score: { type: 'string' },
    '1st': { type: 'string' },
    since: { type: 'string', format: 'date-time' },
    day: { type: 'string', format: 'date' },
    wait: { type: 'string', format: 'duration' },
    data: { type: 'string', format: 'byte' },
    anything: { 'x-kubernetes-preserve-unknown-fields': true },
    tags: { type: 'array', items: { type: 'string' } },
    labels: { type: 'object', additionalProperties: { type: 'integer' } },
    other: { type: 'object', properties: { x: { type: 'string' } } },
    embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
  },
}
const environment = kubernetesEnvironment.extend({ self: schemaType(schema)! })

describe('types of a schema', () => {
  it.each([
    ['an integer', 'self.count', 'int'],
    ['a number', 'self.ratio', 'double'],
    ['a text', 'self.name', 'string'],
    ['a boolean', 'self.on', 'bool'],
    ['an int-or-string', 'self.port', 'dyn'],
    ['a name with dashes', 'self.x__dash__kebab', 'string'],
    ['a name with dots and slashes', 'self.a__dot__b__slash__c', 'string'],
    ['a name that is a word of CEL', 'self.__if__', 'string'],
    ['a name with two underscores', 'self.under__underscores__score', 'string'],
    ['a moment', 'self.since', 'timestamp'],
    ['a day', 'self.day', 'timestamp'],
    ['a duration', 'self.wait', 'duration'],
    ['bytes', 'self.data', 'bytes'],
    ['a list', 'self.tags', 'list(string)'],
    ['a map', 'self.labels', 'map(string, int)'],
    ['the name of an embedded resource', 'self.embedded.metadata.name', 'string'],
    ['an optional field', 'self.?name', 'optional_type(string)'],
    ['a field of an optional', 'self.?embedded.metadata.?name', 'optional_type(string)'],
    ['a list that is mapped', 'self.tags.map(t, size(t))', 'list(int)'],
    ['an empty list, joined', '[] + self.tags', 'list(string)'],
    ['a comparison with null', 'self.embedded == null', 'bool'],
    ['a map that is transformed', 'self.labels.transformMap(k, v, string(v))', 'map(string, string)'],
    ['a sum of which nothing is known', 'dyn(1) + dyn(2)', 'dyn'],
  ])('%s: %s is %s', (_, expression, type) => {
    const { program, error } = compile(expression, environment)
    expect(error?.message).toBeUndefined()
    expect(formatType(program!.type)).toBe(type)
  })
})

describe('compile errors', () => {
  const at = (column: number, message: string, expression: string) =>
    `ERROR: <input>:1:${column}: ${message}\n | ${expression}\n | ${'.'.repeat(column - 1)}^`

  it.each([
    ['a field that is not there', 'self.zz > 1', 5, "undefined field 'zz'"],
    ['a field without a type', 'self.anything == 1', 5, "undefined field 'anything'"],
    ['a name that cannot be escaped', 'self.st == 1', 5, "undefined field 'st'"],
    [
      'types that do not compare',
      "self.count == 'x'",
      12,
      "found no matching overload for '_==_' applied to '(int, string)'",
    ],
    ['a text and null', 'self.name == null', 11, "found no matching overload for '_==_' applied to '(string, null)'"],
    [
      'objects of different schemas',
      'self.embedded == self.other',
      15,
      "found no matching overload for '_==_' applied to '(selfType.embedded, selfType.other)'",
    ],
    ['a function that is not there', 'nosuch(self.count)', 7, "undeclared reference to 'nosuch' (in container '')"],
    ['a member that is not there', 'self.name.nope()', 15, "undeclared reference to 'nope' (in container '')"],
    ['a member of another type', 'self.count.size()', 16, "found no matching overload for 'size' applied to 'int.()'"],
    ['a field of a text', 'self.name.x', 10, "type 'string' does not support field selection"],
    [
      'a loop over a number',
      'self.count.all(x, true)',
      5,
      "expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)",
    ],
    [
      'a predicate that is no bool',
      'self.tags.all(t, 1)',
      14,
      "found no matching overload for '_&&_' applied to '(bool, int)'",
    ],
    ['elements of several types', "[1, 'a'].size() == 2", 5, "expected type 'int' but found 'string'"],
    ['values of several types', "{'a': 1, 'b': true}.size() == 2", 15, "expected type 'int' but found 'bool'"],
    ['a duration that is none', "duration('soon') > self.wait", 10, 'invalid duration argument'],
    ['a timestamp that is none', "timestamp('soon') > self.since", 11, 'invalid timestamp argument'],
    ['a pattern that is none', "self.name.matches('(')", 19, 'invalid matches argument'],
    [
      'a pattern that is too large',
      "self.name.matches('(abcdefghijklmnopqrstuvwxyz){999}')",
      19,
      'invalid matches argument',
    ],
  ])('%s', (_, expression, column, message) => {
    expect(compile(expression, environment).error?.message).toBe(at(column, message, expression))
  })

  it('are in the order of the text, each with its line', () => {
    const { error } = compile('self.a\n || self.b', environment)
    expect(error!.message).toBe(
      "ERROR: <input>:1:5: undefined field 'a'\n | self.a\n | ....^\nERROR: <input>:2:9: undefined field 'b'\n |  || self.b\n | ........^",
    )
  })

  it('are few however many mistakes there are', () => {
    const { error } = compile(Array.from({ length: 200 }, () => 'x').join(' && '), environment)
    expect(error!.message.split('ERROR')).toHaveLength(101)
  })

  it.each([
    ['brackets', `${'('.repeat(10_000)}1${')'.repeat(10_000)}`],
    ['operators', Array.from({ length: 10_000 }, () => '1').join(' + ')],
    ['selections', `self${'.a'.repeat(10_000)}`],
    ['brackets and operators', `${'('.repeat(200)}1${`${' + 1'.repeat(200)})`.repeat(200)}`],
    ['signs', `${'-!'.repeat(10_000)}1`],
  ])('refuse an expression that is too deep: %s', (_, expression) => {
    expect(compile(expression, environment).error).toBeDefined()
  })

  it('take a chain of optMap, which must not double with each', () => {
    const chain = `optional.of(1)${'.optMap(x, x + 1)'.repeat(60)}.orValue(0)`
    expect(compile(chain, environment).program!.evaluate({}).value).toBe(61)
  })

  it('take as many comparisons as an expression can have, within the time of a test', () => {
    const text = Array.from({ length: 12_000 }, () => '1 == 1').join('||')
    expect(text.length).toBeLessThan(100_000)
    expect(compile(text, environment).error).toBeUndefined()
  })

  it('take a long chain of conditions', () => {
    expect(compile(Array.from({ length: 3_000 }, () => 'self.on').join(' && '), environment).error).toBeUndefined()
  })
})
