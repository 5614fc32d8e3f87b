import { describe, expect, it } from 'vitest'
import { Path } from '../validation/path.ts'
import { type Schema, StructuralSchema, defaultErrors, mergeTypeOf, schemaErrors, selectablePathProblem, statusRootErrors, structuralErrors } from './index.ts'

const text: Schema = { type: 'string' }
const int: Schema = { type: 'integer' }
const object = (properties: Record<string, Schema>, more: Schema = {}): Schema => ({ type: 'object', properties, ...more })
const list = (items: Schema, more: Schema = {}): Schema => ({ type: 'array', items, ...more })
const spec = (schema: Schema) => new StructuralSchema(object({ spec: schema }))
const said = (errors: readonly { field: string; message: string }[]) => errors.map((error) => `${error.field}: ${error.message}`)
/** The errors of all validations, in the order of a write. */
function judged(schema: Schema, value: unknown, before?: unknown): string[] {
  const kind = spec(schema)
  const [object, old] = [{ spec: value }, before === undefined ? undefined : { spec: before }]
  const found = [...kind.validate(object, old), ...kind.validateEmbedded(object), ...kind.validateLists(object, old)]
  const steps = kind.evaluateRules(object, old, found)
  if (!steps) return said(found)
  for (let i = 0; i < 1000; i++) {
    const { done, value: result } = steps.next()
    if (done) return said([...found, ...result.errors])
  }
  throw new Error('the rules do not end')
}

describe('a value that does not fit', () => {
  const embedded = object({}, { 'x-kubernetes-embedded-resource': true })
  const port: Schema = { 'x-kubernetes-int-or-string': true }
  it.each<[string, Schema, unknown, string[]]>([
    ['a text for a number', int, 'x', ['spec: Invalid value: "string": spec in body must be of type integer: "string"']],
    ['a fraction', int, 1.5, [
      'spec: Invalid value: "number": spec in body must be of type integer: "number"',
      '<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec',
    ]],
    ['a whole number for a number', { type: 'number' }, 1, []],
    ['more than 32 bits', { ...int, format: 'int32' }, 3e9, [
      '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec',
    ]],
    ['a list for an object', object({}), [], ['spec: Invalid value: "array": spec in body must be of type object: "array"']],
    ['null where it is allowed', { ...int, nullable: true }, null, []],
    ['a boolean for a port', port, true, ['spec: Invalid value: "boolean": spec in body must be of type integer,string: "boolean"']],
    ['an item', list(int), [1, 'x'], ['spec[1]: Invalid value: "string": spec[1] in body must be of type integer: "string"']],
    ['a value of a map', { type: 'object', additionalProperties: int }, { k: 'x' }, [
      'spec.k: Invalid value: "string": spec.k in body must be of type integer: "string"',
    ]],
    ['what is missing', object({ a: text }, { required: ['a'] }), {}, ['spec.a: Required value']],
    ['an unknown word', { ...text, enum: ['b', 'a'] }, 'c', ['spec: Unsupported value: "c": supported values: "a", "b"']],
    ['a pattern', { ...text, pattern: '^x' }, 'y', ['spec: Invalid value: "y": spec in body should match \'^x\'']],
    ['a long text, whose pattern is not asked', { ...text, maxLength: 1, pattern: '^x' }, 'ab', ['spec: Too long: may not be more than 1 bytes']],
    ['a short text, whose pattern is not asked', { ...text, minLength: 2, pattern: '^x' }, 'a', ['spec: Invalid value: "a": spec in body should be at least 2 chars long']],
    ['a short text', { ...text, minLength: 2 }, '€', ['spec: Invalid value: "€": spec in body should be at least 2 chars long']],
    ['a long text', { ...text, maxLength: 1 }, 'ab', ['spec: Too long: may not be more than 1 bytes']],
    ['a small number', { ...int, minimum: 3 }, 2, ['spec: Invalid value: 2: spec in body should be greater than or equal to 3']],
    ['a limit itself', { ...int, maximum: 3, exclusiveMaximum: true }, 3, ['spec: Invalid value: 3: spec in body should be less than 3']],
    ['no multiple', { ...int, multipleOf: 2 }, 3, ['spec: Invalid value: 3: spec in body should be a multiple of 2']],
    ['too few items', list(int, { minItems: 1 }), [], ['spec: Invalid value: 0: spec in body should have at least 1 items']],
    ['too many items', list(int, { maxItems: 1 }), [1, 2], ['spec: Too many: 2: must have at most 1 items']],
    ['a format', { ...text, format: 'ipv4' }, 'x', ['spec: Invalid value: "x": spec in body must be of type ipv4: "x"']],
    ['none of several', object({ a: text, b: text }, { anyOf: [{ required: ['a'] }, { required: ['b'] }] }), {}, [
      '<nil>: Invalid value: "": "spec" must validate at least one schema (anyOf)',
      'spec.a: Required value',
    ]],
    ['both of two', object({ a: text, b: text }, { oneOf: [{ required: ['a'] }, { required: ['b'] }] }), { a: '', b: '' }, [
      '<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    ]],
    ['one of all', { ...text, allOf: [{ minLength: 2 }, { pattern: '^x' }] }, 'x', [
      'spec: Invalid value: "x": spec in body should be at least 2 chars long',
      '<nil>: Invalid value: "": "spec" must validate all the schemas (allOf)',
    ]],
    ['what must not be', { ...text, not: { pattern: '^x' } }, 'x', ['<nil>: Invalid value: "": "spec" must not validate the schema (not)']],
    ['a set', list(text, { 'x-kubernetes-list-type': 'set' }), ['a', 'b', 'a'], ['spec[2]: Duplicate value: "a"']],
    [
      'keys',
      list(object({ k: text, v: int }), { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }),
      [{ k: 'a' }, { k: 'a', v: 1 }],
      ['spec[1]: Duplicate value: {"k":"a"}'],
    ],
    ['an embedded resource', object({}, { 'x-kubernetes-embedded-resource': true }), {}, [
      'spec.apiVersion: Required value', 'spec.kind: Required value',
    ]],
    ['a bad type of an embedded resource', embedded, { apiVersion: 'a/b/c', kind: 'x y' }, [
      'spec.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
      expect.stringMatching(/^spec\.kind: Invalid value: "x y": may have mixed case, but should otherwise match: a DNS-1035 label/) as never,
    ]],
    ['an empty kind of an embedded resource', embedded, { apiVersion: 'v1', kind: '' }, ['spec.kind: Invalid value: "": must not be empty']],
    ['bad metadata of an embedded resource', embedded, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a/b', finalizers: ['x y'] } }, [
      'spec.metadata.name: Invalid value: "a/b": may not contain \'/\'',
      expect.stringMatching(/^spec\.metadata\.finalizers: Invalid value: "x y": /) as never,
    ]],
    ['metadata of another type', embedded, { apiVersion: 'v1', kind: 'Pod', metadata: { finalizers: 'x' } }, [
      expect.stringMatching(/^spec\.metadata: Invalid value: .*cannot unmarshal string into/) as never,
    ]],
  ])('%s', (_, schema, value, errors) => expect(judged(schema, value)).toEqual(errors))

  it('is not judged by rules where it is of another type', () => {
    const schema = object({ a: int }, { 'x-kubernetes-validations': [{ rule: 'self.a > 0' }] })
    expect(judged(schema, { a: 'x' })).toHaveLength(2)
    expect(judged(schema, { a: 0 })).toEqual(['spec: Invalid value: failed rule: self.a > 0'])
  })

  it('of a status is named from the status on', () => {
    const schema = new StructuralSchema(object({ status: object({ note: text }) }))
    expect(said(schema.validateStatus({ note: 3 }))).toEqual([
      'status.note: Invalid value: "integer": note in body must be of type string: "integer"',
    ])
  })
})

describe('a pattern', () => {
  it('is not matched against a text that would take too long', () => {
    const schema: Schema = { ...text, pattern: '(a?){900}$' }
    expect(judged(schema, 'a'.repeat(100))).toEqual([])
    const [error] = judged(schema, 'a'.repeat(1_000_000))
    expect(error!.replace(/"a+"/, 'TEXT')).toBe("spec: Invalid value: TEXT: spec in body is too long to be matched by '(a?){900}$'")
  })
})

describe('an update', () => {
  const limited: Schema = { ...int, maximum: 5 }
  const keyed: Schema = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }
  const set: Schema = { 'x-kubernetes-list-type': 'set' }
  it.each<[string, Schema, unknown, unknown, number]>([
    ['keeps a bad value', object({ a: limited, b: int }), { a: 9, b: 2 }, { a: 9, b: 1 }, 0],
    ['may not change it to another bad one', object({ a: limited }), { a: 8 }, { a: 9 }, 1],
    ['keeps an item found by its key', list(object({ k: text, v: limited }), keyed), [{ k: 'b' }, { k: 'a', v: 9 }], [{ k: 'a', v: 9 }], 0],
    ['judges items that cannot be told apart', list(limited), [9, 1], [9], 1],
    ['keeps a list with doubles', object({ l: list(text, set), b: int }), { l: ['a', 'a'], b: 1 }, { l: ['a', 'a'] }, 0],
    // As in Kubernetes, an object with a double anywhere may get others.
    ['adds doubles where there were some', object({ l: list(text, set), m: list(text, set) }), { l: ['a', 'a'], m: ['b', 'b'] }, { l: ['a', 'a'] }, 0],
    ['adds no doubles to a list without', object({ l: list(text, set), m: list(text, set) }), { l: ['a'], m: ['b', 'b'] }, { l: ['a'] }, 1],
  ])('%s', (_, schema, value, old, errors) => expect(judged(schema, value, old)).toHaveLength(errors))
})

describe('pruning', () => {
  it.each<[string, Schema, unknown, unknown, string[]]>([
    ['drops what is unknown', object({ a: int }), { a: 1, b: 2 }, { a: 1 }, ['spec.b']],
    ['looks into lists', list(object({ a: int })), [{ b: 1 }], [{}], ['spec[0].b']],
    ['looks into maps', { type: 'object', additionalProperties: object({ a: int }) }, { k: { z: 1 } }, { k: {} }, ['spec.k.z']],
    [
      'keeps what is to be kept, but not in what is known',
      object({ k: object({ a: int }) }, { 'x-kubernetes-preserve-unknown-fields': true }),
      { x: { y: 1 }, k: { a: 1, b: 2 } },
      { x: { y: 1 }, k: { a: 1 } },
      ['spec.k.b'],
    ],
    [
      'reads metadata of embedded resources',
      object({}, { 'x-kubernetes-embedded-resource': true }),
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x', foo: 1 }, z: 1 },
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' } },
      ['spec.metadata.foo', 'spec.z'],
    ],
  ])('%s', (_, schema, value, left, dropped) => {
    const whole = { apiVersion: 'x/v1', kind: 'X', metadata: { name: 'x' }, spec: value }
    expect(spec(schema).prune(whole)).toEqual(dropped)
    expect(whole).toEqual({ apiVersion: 'x/v1', kind: 'X', metadata: { name: 'x' }, spec: left })
  })
})

describe('defaults', () => {
  it.each<[string, Schema, unknown, unknown]>([
    ['fill in', object({ a: { ...int, default: 3 } }), {}, { a: 3 }],
    ['leave what is there', object({ a: { ...int, default: 3 } }), { a: 0 }, { a: 0 }],
    ['take the place of null', object({ a: { ...int, default: 3 } }), { a: null }, { a: 3 }],
    ['leave null where it is allowed', object({ a: { ...int, default: 3, nullable: true } }), { a: null }, { a: null }],
    ['drop null where it is not', object({ a: int }), { a: null }, {}],
    ['nest', object({ o: object({ p: { ...text, default: 'q' } }, { default: {} }) }), {}, { o: { p: 'q' } }],
    ['do not make what is around them', object({ o: object({ p: { ...text, default: 'q' } }) }), {}, {}],
    ['stand in items', list(object({ v: { ...text, default: 'd' } })), [{}, { v: 'x' }], [{ v: 'd' }, { v: 'x' }]],
    ['stand in maps', { type: 'object', additionalProperties: object({ v: { ...int, default: 1 } }) }, { k: {}, n: null }, { k: { v: 1 } }],
  ])('%s', (_, schema, value, filled) => {
    const whole = { spec: value }
    spec(schema).fillIn(whole)
    expect(whole.spec).toEqual(filled)
  })
})

describe('a schema', () => {
  const path = Path.of('s')
  const all = (schema: Schema) => said([...schemaErrors(schema, path), ...structuralErrors(schema, path), ...defaultErrors(schema, path)])
  const field = (schema: Schema) => all(object({ f: schema }))
  it.each<[string, Schema, string]>([
    ['no type', {}, 's.properties[f].type: Required value: must not be empty for specified object fields'],
    ['no items', { type: 'array' }, 's.properties[f].items: Required value: must be specified'],
    ['a reference', { ...text, $ref: 'x' }, 's.properties[f].$ref: Forbidden: $ref is not supported'],
    ['unique items', list(text, { uniqueItems: true }), 's.properties[f].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic'],
    ['a nested type', { ...text, anyOf: [{ type: 'string' }] }, 's.properties[f].anyOf[0].type: Forbidden: must be empty to be structural'],
    ['a nested default', { ...text, not: { default: 1 } }, 's.properties[f].not.default: Forbidden: must be undefined to be structural'],
    ['a bad default', { ...text, default: 3 }, 's.properties[f].default: Invalid value: "integer":  in body must be of type string: "integer"'],
    ['an unknown field in a default', object({}, { default: { b: 1 } }), 's.properties[f].default: Invalid value: {"b":1}: must not have unknown fields'],
    ['a bad pattern', { ...text, pattern: '(' }, 's.properties[f].pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp: `(`'],
    ['another type', { type: 'foo' }, 's.properties[f].type: Unsupported value: "foo": supported values: "array", "boolean", "integer", "number", "object", "string"'],
    ['a default that a rule refuses', { ...int, default: 0, 'x-kubernetes-validations': [{ rule: 'self > 0' }] }, 's.properties[f].default: Invalid value: 0: failed rule: self > 0'],
    ['a list type of a text', { ...text, 'x-kubernetes-list-type': 'set' }, 's.properties[f].type: Invalid value: "string": must be array if x-kubernetes-list-type is specified'],
    ['a map list without keys', list(object({}), { 'x-kubernetes-list-type': 'map' }), 's.properties[f].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map'],
  ])('with %s is refused', (_, schema, error) => expect(field(schema)).toEqual([error]))

  it.each<[string, Schema, string]>([
    ['null', { nullable: true }, 's.nullable: Forbidden: nullable cannot be true at the root'],
    ['a default of its kind', { properties: { kind: { ...text, default: 'X' } } }, 's.properties[kind].default: Forbidden: must not be set in top-level kind'],
    ['a default of its name', { properties: { metadata: object({ name: { ...text, default: 'x' } }) } }, 's.properties[metadata].properties[name].default: Forbidden: must not be set in top-level metadata'],
  ])('of a resource with %s is refused', (_, more, error) => expect(all({ type: 'object', ...more })).toEqual([error]))

  it('with a status subresource has few fields at the root', () => {
    const errors = (schema: Schema) => said(statusRootErrors(schema, path)).map((error) => error.replace(/\{.*\}/, '…'))
    expect(errors(object({ spec: text }, { required: ['spec'], description: 'x', nullable: false }))).toEqual([])
    expect(errors(object({}, { allOf: [{ required: ['spec'] }] }))).toEqual([
      's: Invalid value: …: only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the status subresource is enabled',
    ])
    expect(errors(list(text))).toEqual(['s.type: Invalid value: "array": only "object" is allowed as the type at the root of the schema if the status subresource is enabled'])
  })

  it('of an int-or-string may say its types once more', () => {
    const either = [{ type: 'integer' }, { type: 'string' }]
    expect(field({ 'x-kubernetes-int-or-string': true, anyOf: either })).toEqual([])
    expect(field({ 'x-kubernetes-int-or-string': true, allOf: [{ anyOf: either }, { pattern: 'x' }] })).toEqual([])
  })

  it('names fields to select by', () => {
    const schema = object({ spec: object({ a: text, o: object({}) }) })
    expect(['.spec.a', '.spec.z', '.metadata.name', 'spec.a'].map((name) => selectablePathProblem(name, schema))).toEqual([
      undefined, 'is an invalid path: does not refer to a valid field', 'is an invalid path: does not refer to a valid field', 'is an invalid path: expected [ or . but got: spec',
    ])
  })
})

describe('the merge type of a schema', () => {
  const keyed = list(object({ k: { ...text, default: 'd' }, v: int }), {
    'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'],
  })
  const type = mergeTypeOf(object({
    s: text, l: list(text), set: list(text, { 'x-kubernetes-list-type': 'set' }), keyed,
    atom: object({ a: text }, { 'x-kubernetes-map-type': 'atomic' }),
    map: { type: 'object', additionalProperties: int },
    any: { 'x-kubernetes-preserve-unknown-fields': true },
    port: { 'x-kubernetes-int-or-string': true },
  }))
  const field = (name: string) => (type.kind === 'map' ? type.field(name) : undefined)

  it('says how each part is merged', () => {
    expect(field('s')).toEqual({ kind: 'scalar', of: 'string' })
    expect(field('port')).toEqual({ kind: 'scalar', of: 'any' })
    expect(field('any')).toEqual({ kind: 'untyped' })
    expect(field('l')).toMatchObject({ kind: 'list', merging: { kind: 'atomic' }, items: { kind: 'scalar' } })
    expect(field('set')).toMatchObject({ merging: { kind: 'set' } })
    expect(field('atom')).toMatchObject({ kind: 'map', isAtomic: true })
    expect(field('nosuch')).toBeUndefined()
    const map = field('map')
    expect(map?.kind === 'map' && map.field('x')).toEqual({ kind: 'scalar', of: 'number' })
  })

  it('knows keys and their defaults', () => {
    const found = field('keyed')
    const merging = found?.kind === 'list' ? found.merging : undefined
    expect(merging).toMatchObject({ kind: 'map', keys: ['k'] })
    expect(merging?.kind === 'map' && merging.defaultOf('k')).toBe('d')
  })
})
