import { describe, expect, it } from 'vitest'
import { Path } from '../../validation/path.ts'
import type { JsonSchema, ValidationRule } from '../schema/schema-types.ts'
import { checkSchemaRules } from './check-schema.ts'

const place = Path.of('spec', 'validation', 'openAPIV3Schema')
const at = `${place}.properties[spec].x-kubernetes-validations[0]`
const advice =
  '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)'

const text: JsonSchema = { type: 'string' }
const spec: JsonSchema = {
  type: 'object',
  properties: { a: { type: 'integer' }, name: text, list: { type: 'array', items: text } },
}

const check = (rule: ValidationRule, schema: JsonSchema = spec) =>
  checkSchemaRules(
    { type: 'object', properties: { spec: { ...schema, 'x-kubernetes-validations': [rule] } } },
    place,
  ).map(({ field, message }) => `${field}: ${message}`)

const shown = (rule: string, more = '') =>
  `{"Rule":${JSON.stringify(rule).replace('>', '\\u003e')},"Message":"","MessageExpression":"${more}","Reason":null,"FieldPath":"","OptionalOldSelf":null}`

describe('rules of a schema', () => {
  it.each<[string, ValidationRule, string[]]>([
    ['a rule that is fine', { rule: 'self.a > 1' }, []],
    ['a rule about the old value', { rule: 'self.a > oldSelf.a' }, []],
    ['an empty rule', { rule: ' ' }, [`${at}.rule: Required value: rule is not specified`]],
    [
      'a field that is not there',
      { rule: 'self.zz > 1' },
      [
        `${at}.rule: Invalid value: ${shown('self.zz > 1')}: compilation failed: ERROR: <input>:1:5: undefined field 'zz'\n | self.zz > 1\n | ....^`,
      ],
    ],
    [
      'a rule that is no bool',
      { rule: 'self.a + 1' },
      [`${at}.rule: Invalid value: ${shown('self.a + 1')}: cel expression must evaluate to a bool`],
    ],
    [
      'a message expression that is no string',
      { rule: 'self.a > 1', messageExpression: '1' },
      [
        `${at}.messageExpression: Invalid value: ${shown('self.a > 1', '1')}: messageExpression must evaluate to a string`,
      ],
    ],
    [
      'two lines without a message',
      { rule: 'self.a\n > 1' },
      [`${at}.message: Required value: message must be specified if rule contains line breaks`],
    ],
    [
      'a message of two lines',
      { rule: 'self.a > 1', message: 'a\nb' },
      [`${at}.message: Invalid value: "a\\nb": must not contain line breaks`],
    ],
    [
      'an unknown reason',
      { rule: 'self.a > 1', reason: 'Nope' },
      [
        `${at}.reason: Unsupported value: "Nope": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"`,
      ],
    ],
    ['a field path', { rule: 'self.a > 1', fieldPath: '.a' }, []],
    [
      'a field path that leads nowhere',
      { rule: 'self.a > 1', fieldPath: '.b' },
      [`${at}.fieldPath: Invalid value: ".b": fieldPath must be a valid path: does not refer to a valid field`],
    ],
    [
      'optionalOldSelf without oldSelf',
      { rule: 'self.a > 1', optionalOldSelf: true },
      [`${at}.optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule`],
    ],
    [
      'a message that has no bounds',
      { rule: 'self.a > 1', messageExpression: "'not ' + string(self.a)" },
      [
        `${at}.messageExpression: Forbidden: estimated messageExpression cost exceeds budget by factor of more than 100x ${advice}`,
        `${at}.messageExpression: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema`,
        `${place}: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x ${advice}`,
      ],
    ],
  ])('%s', (_, rule, errors) => {
    expect(check(rule)).toEqual(errors)
  })

  it('refuses oldSelf in a list whose elements cannot be told apart', () => {
    const list: JsonSchema = {
      type: 'array',
      maxItems: 5,
      items: { ...spec, 'x-kubernetes-validations': [{ rule: 'self.a > oldSelf.a' }] },
    }
    const [error] = checkSchemaRules({ type: 'object', properties: { list } }, place)
    expect(error).toMatchObject({
      field: `${place}.properties[list].items.x-kubernetes-validations[0].rule`,
      message: `Invalid value: "self.a > oldSelf.a": oldSelf cannot be used on the uncorrelatable portion of the schema within ${place}.properties[list]`,
    })
    const keyed = { ...list, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a'] }
    expect(checkSchemaRules({ type: 'object', properties: { list: keyed } }, place)).toEqual([])
  })
})

describe('estimates', () => {
  const lists = (outer?: number, inner?: number): JsonSchema => ({
    type: 'object',
    properties: {
      outer: {
        type: 'array',
        ...(outer && { maxItems: outer }),
        items: { type: 'array', ...(inner && { maxItems: inner }), items: { type: 'integer' } },
      },
    },
  })
  const nested = 'self.outer.all(x, x.all(y, y > 0))'

  it.each([
    ['a list of 10,000 in a list of 10,000 is refused', lists(10_000, 10_000), nested, true],
    ['lists without limits are refused', lists(), nested, true],
    ['small lists are fine', lists(100, 100), nested, false],
    [
      'a list against itself is fine up to a limit',
      lists(1_000, 1),
      'self.outer.all(x, self.outer.exists(y, x == y))',
      false,
    ],
    ['and refused beyond', lists(5_000, 1), 'self.outer.all(x, self.outer.exists(y, x == y))', true],
    ['a text without a limit is fine to compare with a short one', spec, "self.name == 'x'", false],
    ['and fine to match once', spec, "self.name.matches('^[a-z]+$')", false],
    ['but not with a pattern of its own', spec, 'self.name.matches(self.name)', true],
    ['and not each in a list', spec, "self.list.all(x, x.matches('^[a-z]+$'))", true],
  ])('%s', (_, schema, rule, isRefused) => {
    const errors = check({ rule }, schema)
    expect(errors.some((error) => error.includes('estimated rule cost exceeds budget'))).toBe(isRefused)
  })

  it('multiplies by how often the value may stand', () => {
    const ruled = (maxItems?: number): JsonSchema => ({
      type: 'array',
      ...(maxItems && { maxItems }),
      items: {
        type: 'object',
        properties: { name: { type: 'string', maxLength: 1_000 } },
        'x-kubernetes-validations': [{ rule: "self.name.contains('abcdefghijklmno')" }],
      },
    })
    expect(checkSchemaRules({ type: 'object', properties: { list: ruled(1_000) } }, place)).toEqual([])
    expect(checkSchemaRules({ type: 'object', properties: { list: ruled() } }, place)[0]!.message).toMatch(
      /^Forbidden: estimated rule cost exceeds budget by factor of/,
    )
  })
})
