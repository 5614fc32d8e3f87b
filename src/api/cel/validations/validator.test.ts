import { describe, expect, it } from 'vitest'
import { Path } from '../../validation/path.ts'
import type { JsonSchema, ValidationRule } from '../schema/schema-types.ts'
import { RuleValidator, type ValidationOptions } from './validator.ts'

const int: JsonSchema = { type: 'integer' }
const text: JsonSchema = { type: 'string' }
const ruled = (schema: JsonSchema, ...rules: ValidationRule[]): JsonSchema => ({
  ...schema,
  'x-kubernetes-validations': rules,
})
const object = (properties: Record<string, JsonSchema>, ...rules: ValidationRule[]) =>
  ruled({ type: 'object', properties }, ...rules)

function judge(schema: JsonSchema, value: unknown, options: ValidationOptions = {}) {
  const { errors, warnings } = new RuleValidator(schema, false).validate(value, Path.of('spec'), options)
  return [
    ...errors.map(({ field, message }) => `${field}: ${message}`),
    ...warnings.map(({ field, message }) => `warning ${field}: ${message}`),
  ]
}

const positive = { rule: 'self.a > 0' }

describe('a rule that does not hold', () => {
  it.each<[string, ValidationRule, string]>([
    ['shows itself', positive, 'spec: Invalid value: failed rule: self.a > 0'],
    ['shows its message', { ...positive, message: ' too small ' }, 'spec: Invalid value: too small'],
    [
      'makes its message',
      { ...positive, messageExpression: "'a is %d'.format([self.a])" },
      'spec: Invalid value: a is -1',
    ],
    [
      'has a message for when that fails',
      { ...positive, message: 'm', messageExpression: 'string(1 / 0)' },
      'spec: Invalid value: m',
    ],
    [
      'passes over an empty message',
      { ...positive, messageExpression: "' '" },
      'spec: Invalid value: failed rule: self.a > 0',
    ],
    [
      'passes over one of two lines',
      { ...positive, messageExpression: "'a\\nb'" },
      'spec: Invalid value: failed rule: self.a > 0',
    ],
    ['has a reason', { ...positive, reason: 'FieldValueForbidden', message: 'no' }, 'spec: Forbidden: no'],
    ['asks for a value', { ...positive, reason: 'FieldValueRequired', message: 'no' }, 'spec: Required value: no'],
    ['tells of a repetition', { ...positive, reason: 'FieldValueDuplicate', message: 'no' }, 'spec: Duplicate value'],
    ['names a field', { ...positive, fieldPath: '.a', message: 'no' }, 'spec.a: Invalid value: no'],
    ['names a key', { ...positive, fieldPath: ".labels['x y']", message: 'no' }, 'spec.labels[x y]: Invalid value: no'],
    [
      'cannot be evaluated',
      { rule: 'self.b > 0' },
      'spec: Invalid value: "object": no such key: b evaluating rule: self.b > 0',
    ],
    [
      'has no overload',
      { rule: 'self.port > 0' },
      `spec: Invalid value: "object": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self.port > 0`,
    ],
  ])('%s', (_, rule, error) => {
    const schema = object(
      {
        a: int,
        b: int,
        port: { 'x-kubernetes-int-or-string': true },
        labels: { type: 'object', additionalProperties: text },
      },
      rule,
    )
    expect(judge(schema, { a: -1, port: 'http' })).toEqual([error])
  })

  it('is reported where the value stands', () => {
    const item = object({ name: text }, { rule: "self.name != 'x'", message: 'no x' })
    const schema = object({ list: { type: 'array', items: item }, map: { type: 'object', additionalProperties: item } })
    expect(judge(schema, { list: [{ name: 'a' }, { name: 'x' }], map: { k: { name: 'x' } } })).toEqual([
      'spec.list[1]: Invalid value: no x',
      'spec.map[k]: Invalid value: no x',
    ])
  })

  it('stands nowhere at the root of a resource, and sees its name', () => {
    const validator = new RuleValidator(object({}, { rule: "self.metadata.name == 'a'", message: 'not a' }))
    expect(validator.validate({ metadata: { name: 'b' } }).errors).toMatchObject([
      { field: '<nil>', message: 'Invalid value: not a' },
    ])
  })

  it('counts in allOf, too', () => {
    expect(judge({ type: 'integer', allOf: [{ 'x-kubernetes-validations': [{ rule: 'self > 0' }] }] }, -1)).toEqual([
      'spec: Invalid value: -1: failed rule: self > 0',
    ])
  })

  it('is not asked about null', () => {
    expect(judge(ruled({ ...int, nullable: true }, { rule: 'self > 0' }), null)).toEqual([])
  })
})

describe('rules about the old value', () => {
  const immutable = { rule: 'self == oldSelf', message: 'immutable' }
  const name = object({ name: ruled(text, immutable) })

  it('are not asked on create', () => {
    expect(judge(name, { name: 'a' })).toEqual([])
    expect(judge(name, { name: 'a' }, { old: {} })).toEqual([])
  })

  it('compare with it on update', () => {
    expect(judge(name, { name: 'b' }, { old: { name: 'a' } })).toEqual(['spec.name: Invalid value: "b": immutable'])
    expect(judge(name, { name: 'a' }, { old: { name: 'a' } })).toEqual([])
  })

  it('are asked on create with optionalOldSelf', () => {
    const rule = {
      rule: "oldSelf.hasValue() ? self == oldSelf.value() : self != 'x'",
      optionalOldSelf: true,
      message: 'no',
    }
    const schema = object({ name: ruled(text, rule) })
    expect(judge(schema, { name: 'x' })).toEqual(['spec.name: Invalid value: "x": no'])
    expect(judge(schema, { name: 'x' }, { old: { name: 'x' } })).toEqual([])
    expect(judge(schema, { name: 'y' }, { old: { name: 'x' } })).toEqual(['spec.name: Invalid value: "y": no'])
  })

  it('find elements of a list by their keys', () => {
    const item = object({ name: text, value: ruled(int, { rule: 'self >= oldSelf', message: 'shrinks' }) })
    const list = { type: 'array', items: item, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }
    const old = {
      list: [
        { name: 'a', value: 5 },
        { name: 'b', value: 1 },
      ],
    }
    expect(
      judge(
        object({ list }),
        {
          list: [
            { name: 'b', value: 1 },
            { name: 'a', value: 3 },
            { name: 'c', value: 0 },
          ],
        },
        { old },
      ),
    ).toEqual(['spec.list[1].value: Invalid value: 3: shrinks'])
    expect(
      judge(object({ list: { type: 'array', items: item } }), { list: [{ name: 'a', value: 3 }] }, { old }),
    ).toEqual([])
  })
})

describe('lists of a kind', () => {
  it('are compared and joined without regard to order', () => {
    const set = { type: 'array', items: text, 'x-kubernetes-list-type': 'set' }
    const items = object({ k: text, v: int })
    const map = { type: 'array', items, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }
    const same = { rule: 'self[0] == self[1] && size(self[0] + self[1]) == size(self[0])' }
    const pair = (list: JsonSchema, rule: ValidationRule) => ruled({ type: 'array', items: list }, rule)
    const [x, y] = [{ k: 'x', v: 1 }, { k: 'y' }]
    expect(
      judge(pair(set, same), [
        ['x', 'y'],
        ['y', 'x'],
      ]),
    ).toEqual([])
    expect(
      judge(pair(map, same), [
        [x, y],
        [y, x],
      ]),
    ).toEqual([])
    expect(
      judge(pair(map, { rule: 'self[0] != self[1] && (self[0] + self[1])[0].v == 2' }), [[x], [{ k: 'x', v: 2 }]]),
    ).toEqual([])
  })
})

describe('ratcheting', () => {
  const schema = object({ a: object({ x: ruled(int, { rule: 'self > 0' }) }), b: int })

  it('makes a warning of what an update leaves as it was', () => {
    expect(judge(schema, { a: { x: -1 }, b: 2 }, { old: { a: { x: -1 }, b: 1 } })).toEqual([
      'warning spec.a.x: Invalid value: -1: failed rule: self > 0',
    ])
    expect(judge(schema, { a: { x: -2 } }, { old: { a: { x: -1 } } })).toHaveLength(1)
    expect(judge(schema, { a: { x: -1 } }, { old: { a: { x: -1 } }, isRatcheting: false })).toEqual([
      'spec.a.x: Invalid value: -1: failed rule: self > 0',
    ])
  })

  it('asks about the list where an element has no old value of its own', () => {
    const list = { type: 'array', items: ruled(int, { rule: 'self > 0' }) }
    expect(judge(object({ list, b: int }), { list: [-1], b: 2 }, { old: { list: [-1], b: 1 } })[0]).toMatch(/^warning/)
    expect(judge(object({ list, b: int }), { list: [-1, 1] }, { old: { list: [-1] } })[0]).toMatch(/^spec/)
  })
})

describe('budgets', () => {
  const list = { type: 'array', items: int }
  const schema = object(
    { list },
    { rule: 'self.list.all(x, self.list.all(y, x + y >= 0))', message: 'heavy' },
    { rule: 'true' },
  )
  const value = { list: Array.from({ length: 1_000 }, (_, i) => i) }

  it('end a rule that costs too much, and all others', () => {
    expect(judge(schema, value, { perCallLimit: 10_000 })).toEqual([
      `spec: Invalid value: "object": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: heavy`,
    ])
  })

  it('end when the object has cost too much', () => {
    const { errors } = new RuleValidator(schema, false).validate(value, Path.of('spec'), {
      budget: 1_000,
      perCallLimit: 10_000_000,
    })
    expect(errors.map((error) => error.message)).toEqual([
      'Invalid value: "object": validation failed due to running out of cost budget, no further validation rules will be run',
    ])
  })

  it('leave the caller a chance before each rule', () => {
    const steps = new RuleValidator(object({ a: int }, positive, positive), false).steps({ a: 1 }, Path.of('spec'))
    expect([steps.next().done, steps.next().done, steps.next().done]).toEqual([false, false, true])
  })
})
