import { toInt64 } from '../../numbers/int64.ts'
import { deepEqual } from '../../deep-equal.ts'
import { parseDate, parseSchemaDuration, parseTimestamp } from '../time.ts'
import { type CelType, type Field, type ObjectType, dynType } from '../types.ts'
import { CelError, Double, type ListValue, MapValue, Opaque, type Value, mapKey } from '../values.ts'
import { isFields } from '../../object.ts'

type Json = Record<string, unknown>

const hasField = (json: Json, name: string) => Object.hasOwn(json, name)

/** A JSON object that is read through its declared fields. Nested values are converted on first use. */
class JsonObject extends MapValue {
  readonly json: Json
  readonly #type: ObjectType
  #parts: Map<string, Value> | undefined

  constructor(json: Json, type: ObjectType) {
    super(type)
    this.json = json
    this.#type = type
  }

  override get size(): number {
    return this.keys().length
  }

  /** A field that is null counts as absent. */
  override get(key: Value): Value | undefined {
    const field = this.#type.fields.get(key as string)
    if (!field) return undefined
    const json = this.json[field.jsonName]
    if (json === undefined || json === null) return undefined
    if (typeof json === 'string' && field.type.kind === 'string') return json
    if (typeof json === 'object') return this.#part(field, json)
    return hasField(this.json, field.jsonName) ? toValue(field.type, json) : undefined
  }

  override has(key: Value): boolean {
    const field = this.#type.fields.get(key as string)
    if (!field || !hasField(this.json, field.jsonName)) return false
    return this.json[field.jsonName] !== undefined && this.json[field.jsonName] !== null
  }

  override keys(): Value[] {
    return [...this.#type.fields.keys()].filter((name) => this.has(name))
  }

  #part({ jsonName, type }: Field, json: object): Value | undefined {
    if (!hasField(this.json, jsonName)) return undefined
    const known = this.#parts?.get(jsonName)
    if (known !== undefined) return known
    const made = toValue(type, json)
    this.#parts ??= new Map()
    this.#parts.set(jsonName, made)
    return made
  }
}

/** A JSON object as a map with string keys. */
class JsonMap extends MapValue {
  readonly json: Json
  readonly #value: CelType
  readonly #parts = new Map<string, Value>()
  #keys: string[] | undefined

  constructor(json: Json, value: CelType) {
    super()
    this.json = json
    this.#value = value
  }

  override get size(): number {
    return this.keys().length
  }

  override get(key: Value): Value | undefined {
    if (typeof key !== 'string' || !hasField(this.json, key)) return undefined
    const known = this.#parts.get(key)
    if (known !== undefined) return known
    const made = toValue(this.#value, this.json[key])
    this.#parts.set(key, made)
    return made
  }

  override has(key: Value): boolean {
    return typeof key === 'string' && hasField(this.json, key)
  }

  override keys(): string[] {
    return (this.#keys ??= Object.keys(this.json))
  }
}

/** JSON data without a declared type. It can only be compared. */
class UnknownData extends Opaque {
  readonly typeName = 'unknown'
  readonly json: unknown
  constructor(json: unknown) {
    super()
    this.json = json
  }
  equals(other: Opaque): boolean {
    return other instanceof UnknownData && deepEqual(this.json, other.json)
  }
}

const isJsonObject = (json: unknown): json is Json => isFields(json)

function listOf(type: CelType & { kind: 'list' }, json: unknown): ListValue {
  if (!Array.isArray(json))
    throw new CelError('invalid data, expected an array for the provided schema with type=array')
  const { element, facts } = type
  const list: ListValue = json.map((item: unknown) => toValue(element, item))
  if (facts?.listKind === 'set') list.isSet = true
  if (facts?.listKind === 'map') list.mapKeys = facts.mapKeys ?? []
  return list
}

function textOf(type: CelType, json: string): Value {
  switch (type.kind) {
    case 'timestamp': {
      const time = type.facts?.isDate ? parseDate(json) : parseTimestamp(json)
      if (time) return time
      throw new CelError(`Invalid ${type.facts?.isDate ? 'date' : 'date-time'} formatted string ${json}`)
    }
    case 'duration': {
      const duration = parseSchemaDuration(json)
      if (duration) return duration
      throw new CelError(`Invalid duration ${json}`)
    }
    case 'bytes':
      return new Uint8Array(Buffer.from(json, 'base64'))
    default:
      return json
  }
}

const wrongData = (wanted: string, json: unknown) =>
  new CelError(`invalid data, expected ${wanted}, got ${typeof json === 'number' ? 'float64' : typeof json}`)

/** Converts JSON data to a value of a declared type. Throws a CelError if it does not have that type. */
export function toValue(type: CelType, json: unknown): Value {
  if (json === null || json === undefined) {
    if (type.facts?.isNullable || type.kind === 'dyn') return null
    throw new CelError('invalid data, got null for schema with nullable=false')
  }
  switch (type.kind) {
    case 'string':
    case 'timestamp':
    case 'duration':
    case 'bytes':
      if (typeof json !== 'string') throw wrongData('string', json)
      return textOf(type, json)
    case 'int':
      if (typeof json === 'number' && Number.isInteger(json))
        return Number.isSafeInteger(json) ? json : toInt64(BigInt(json))
      if (typeof json === 'bigint') return toInt64(json)
      throw wrongData('int', json)
    case 'double':
      if (typeof json === 'number' || typeof json === 'bigint') return new Double(Number(json))
      throw wrongData('float', json)
    case 'bool':
      if (typeof json === 'boolean') return json
      throw wrongData('bool', json)
    case 'object':
      if (isJsonObject(json)) return new JsonObject(json, type)
      throw new CelError('invalid data, expected a map for the provided schema with type=object')
    case 'map':
      if (isJsonObject(json)) return new JsonMap(json, type.value)
      throw new CelError('invalid data, expected a map for the provided schema with type=object')
    case 'list':
      return listOf(type, json)
    case 'dyn':
      return type.facts?.isIntOrString ? intOrString(json) : untyped(json)
    default:
      return new UnknownData(json)
  }
}

function intOrString(json: unknown): Value {
  if (typeof json === 'string') return json
  if (typeof json === 'number' && Number.isInteger(json)) return json
  throw new CelError('invalid data, expected XIntOrString value to be either a string or integer')
}

/** Converts JSON data without a declared type. A number without a fraction becomes an int. */
export function untyped(json: unknown): Value {
  if (json === null || json === undefined) return null
  if (typeof json === 'number') return Number.isInteger(json) && Number.isSafeInteger(json) ? json : new Double(json)
  if (typeof json === 'string' || typeof json === 'boolean') return json
  if (typeof json === 'bigint') return toInt64(json)
  if (Array.isArray(json)) return json.map(untyped)
  return new JsonMap(json as Json, dynType)
}

/** An object whose fields the caller computes on first use, such as the variables of a policy. */
export class LazyObject extends MapValue {
  readonly #compute: Record<string, () => Value>
  readonly #known = new Map<string, Value>()

  constructor(compute: Record<string, () => Value>) {
    super()
    this.#compute = compute
  }

  override get size(): number {
    return Object.keys(this.#compute).length
  }

  override get(key: Value): Value | undefined {
    const name = mapKey(key)
    if (typeof name !== 'string' || !Object.hasOwn(this.#compute, name)) return undefined
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const value = this.#compute[name]!()
    this.#known.set(name, value)
    return value
  }

  override has(key: Value): boolean {
    return typeof key === 'string' && Object.hasOwn(this.#compute, key)
  }

  override keys(): Value[] {
    return Object.keys(this.#compute)
  }
}
