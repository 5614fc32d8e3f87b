import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { schema } from '../generated/schema.ts'
import { type Int64, toInt64 } from '../numbers/int64.ts'
import { cloneObject, jsonText, parseJson, parseYaml, readJson } from '../json/index.ts'
import type { Json } from '../object.ts'
import { applyJsonPatch } from '../patches/json-patch.ts'
import { applyMergePatch } from '../patches/merge-patch.ts'
import { applyStrategicMergePatch } from '../patches/strategic-merge-patch.ts'
import { decodeProtobuf } from '../protobuf/index.ts'
import { fieldNumbers } from '../protobuf/field-numbers.ts'
import { DecodeError, decodeObject } from './decode.ts'
import { type FieldPath, pathsTo, readAt, valueAt } from './sample-paths.ts'

const max = 2n ** 63n - 1n
const min = -(2n ** 63n)
const anyInt64 = fc
  .oneof(fc.bigInt({ min, max }), fc.bigInt({ min: 2n ** 53n - 2n, max: 2n ** 53n + 2n }), fc.constantFrom(min, max))
  .filter((n) => n !== 0n)
  .map(toInt64)

/** The types that are sent and stored: all kinds, and the options and requests that are bodies. */
const requests = ['DeleteOptions', 'AuthenticationV1TokenRequest']
const bodies = Object.keys(schema).filter((name) => schema[name]!.kind !== undefined || requests.includes(name))

const fields = bodies.flatMap((typeName) => pathsTo('int64', typeName).map((path) => ({ typeName, path })))
const nameOf = ({ typeName, path }: { typeName: string; path: FieldPath }) => `${typeName}.${path.join('.')}`
const anyField = fc.constantFrom(...fields)

const patchable = fields.filter(({ path }) => !path.includes('[]') && !path.includes('{}'))

test('the schema has such fields in many places', () => {
  expect(fields.length).toBeGreaterThan(500)
  const names = fields.map(nameOf)
  expect(names).toContain('ControllerRevision.revision')
  expect(names).toContain('Deployment.spec.template.spec.tolerations.[].tolerationSeconds')
  expect(names).toContain('CloneSet.status.observedGeneration')
})

describe('any int64 in any int64 field of any kind is read to the last digit', () => {
  it('from JSON, wherever it stands', () => {
    for (const field of fields) {
      for (const value of [max, min, 2n ** 53n + 1n, 3546343826724305833n]) {
        const text = jsonText(valueAt(field.path, value))
        const { object, problems } = decodeObject(field.typeName, parseJson(text).value, { text, isOwned: true })
        expect(readAt(object, field.path), nameOf(field)).toBe(value)
        expect(problems).toEqual([])
      }
    }
  })

  it('from JSON, from a value of this process and from YAML, and back', async () => {
    await fc.assert(
      fc.asyncProperty(anyField, anyInt64, async ({ typeName, path }, value) => {
        const sent = valueAt(path, value)
        const text = jsonText(sent)
        const { object } = decodeObject(typeName, parseJson(text).value, { text })
        expect(readAt(object, path)).toBe(value)
        expect(decodeObject(typeName, sent).object).toEqual(object)
        expect(decodeObject(typeName, parseYaml(text).value).object).toEqual(object)
        expect(readJson(jsonText(object))).toEqual(object)
        expect(cloneObject(object)).toEqual(object)
        // A value of this process may have another form; what is stored has the one.
        expect(readAt(decodeObject(typeName, valueAt(path, BigInt(value))).object, path)).toBe(value)
      }),
      { numRuns: 500 },
    )
  })

  it('from protobuf', () => {
    const encodable = fields.filter(({ typeName }) => fieldNumbers[typeName] !== undefined)
    expect(encodable.length).toBeGreaterThan(400)
    for (const { typeName, path } of encodable) {
      for (const value of [max, min, 2n ** 53n + 1n]) {
        const read = decodeProtobuf(encoded(typeName, path, value), typeName)
        expect(readAt(read, path), nameOf({ typeName, path })).toBe(value)
      }
    }
  })

  it('from a patch of each kind', () => {
    fc.assert(
      fc.property(fc.constantFrom(...patchable), anyInt64, anyInt64, ({ typeName, path }, before, value) => {
        const current = decodeObject(typeName, valueAt(path, before)).object
        const patched = [
          applyMergePatch(current, patch(path, value)),
          applyStrategicMergePatch(current, patch(path, value), typeName),
          applyJsonPatch(current, patchOperations(path, before, value)),
        ]
        for (const made of patched) {
          expect(readAt(decodeObject(typeName, made, { madeOf: current }).object, path)).toBe(value)
        }
      }),
    )
  })
})

const patch = (path: FieldPath, value: Int64): Json => parseJson(jsonText(valueAt(path, value))).value

function patchOperations(path: FieldPath, before: Int64, value: Int64): Json {
  const pointer = `/${path.join('/')}`
  const operations = [{ op: 'test', path: pointer, value: before }, { op: 'replace', path: pointer, value }]
  return parseJson(jsonText(operations)).value
}

describe('what is no int64 is refused in the words of Go', () => {
  const above = fc.bigInt({ min: max + 1n, max: 10n ** 40n })
  const outside = fc.oneof(above, above.map((n) => -n - 1n))

  it('with all its digits, wherever it stands', () => {
    fc.assert(
      fc.property(anyField, outside, ({ typeName, path }, value) => {
        const text = jsonText(valueAt(path, value))
        const problem = () => decodeObject(typeName, parseJson(text).value, { text })
        expect(problem).toThrow(DecodeError)
        const place = 'Go struct field \\w+\\.[\\w.]+ of type int64'
        expect(problem).toThrow(new RegExp(`^json: cannot unmarshal number ${value} into ${place}$`))
        expect(() => decodeObject(typeName, valueAt(path, value))).toThrow(`cannot unmarshal number ${value} into`)
      }),
    )
  })

  const manyDigits = '9'.repeat(3_000_000)
  test.each<[what: string, typeName: string, field: string, number: string, type: string]>([
    ['an int32 beyond its range', 'DeploymentSpec', 'replicas', '9007199254740993', 'int32'],
    ['a port beyond all', 'HTTPGetAction', 'port', '9223372036854775808', 'int32'],
    ['an exponent', 'ControllerRevision', 'revision', '1e18', 'int64'],
    ['three million digits', 'ControllerRevision', 'revision', manyDigits, 'int64'],
  ])('%s', (_, typeName, field, number, type) => {
    const text = `{"${field}":${number}}`
    const said = `json: cannot unmarshal number ${number} into Go struct field ${typeName}.${field} of type ${type}`
    expect(() => decodeObject(typeName, parseJson(text).value, { text })).toThrow(said)
  })

  test('in free-form data what no double holds', () => {
    const text = '{"data":{"a":[1e400]}}'
    const said = 'json: cannot unmarshal number 1e400 into Go value of type float64'
    expect(() => decodeObject('ControllerRevision', parseJson(text).value, { text })).toThrow(said)
  })
})

describe('integers elsewhere', () => {
  it('in free-form data keep all their digits, however many', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: -(10n ** 60n), max: 10n ** 60n })), (numbers) => {
        const text = `{"data":{"numbers":[${numbers.join()}]}}`
        const { object } = decodeObject('ControllerRevision', parseJson(text).value, { text })
        expect(jsonText(object.data)).toBe(`{"numbers":[${numbers.join()}]}`)
        expect(decodeObject('ControllerRevision', { data: { numbers } }).object).toEqual(object)
      }),
    )
  })

  it('as quantities are read from their digits', () => {
    const { value } = parseJson('{"limits":{"memory":9007199254740993}}')
    expect(decodeObject('ResourceRequirements', value).object).toEqual({ limits: { memory: '9007199254740993' } })
  })
})

function varint(value: bigint): number[] {
  return value < 128n ? [Number(value)] : [Number(value & 127n) | 128, ...varint(value >> 7n)]
}

/** The message of a type that has an int64 at the path, and nothing else. */
function encoded(typeName: string, path: FieldPath, value: bigint): Buffer {
  const [name = '', ...rest] = path.filter((step) => step !== '[]' && step !== '{}')
  const { number, inline } = numberOf(typeName, name)
  const { type } = schema[typeName]!.fields[name]!
  const of = type.kind === 'list' || type.kind === 'map' ? type.of : type
  // The entry of a map is a message with the key as its first field and the value as its second.
  const at = type.kind === 'map' ? 2 : number
  const item = of.kind === 'struct' ? bytes(at, encoded(of.name, rest, value)) : integer(at, value)
  const field = type.kind === 'map' ? bytes(number, Buffer.concat([bytes(1, Buffer.from('key')), item])) : item
  return inline === undefined ? field : bytes(inline, field)
}

function bytes(number: number, message: Buffer): Buffer {
  const head = [...varint(BigInt((number << 3) | 2)), ...varint(BigInt(message.length))]
  return Buffer.concat([Buffer.from(head), message])
}

function integer(number: number, value: bigint): Buffer {
  return Buffer.from([...varint(BigInt(number << 3)), ...varint(BigInt.asUintN(64, value))])
}

/** The number of a field, and that of the message which it stands in if its own structure has no such number. */
function numberOf(typeName: string, name: string): { number: number; inline?: number } {
  const entries = fieldNumbers[typeName]!.split(' ').map((entry) => entry.split('=') as [string, string])
  const own = entries.find(([field]) => field === name)
  if (own) return { number: Number(own[1]) }
  for (const [field, number] of entries) {
    if (field.startsWith('...')) return { ...numberOf(field.slice(3), name), inline: Number(number) }
  }
  throw new Error(`${typeName}.${name} has no number`)
}
