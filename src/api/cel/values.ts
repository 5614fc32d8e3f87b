import type { Int64 } from '../numbers/int64.ts'
import type { ObjectType } from './types.ts'

/**
 * A value of an expression. An int is a number while that is safe and a bigint beyond (see Int64), so a double needs a
 * wrapper. A list is a plain array.
 */
export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Double
  | Uint
  | Uint8Array
  | Duration
  | Timestamp
  | TypeValue
  | Optional
  | ListValue
  | MapValue
  | Opaque

/** Elements of lists with keys are compared and joined without regard to their order. */
export type ListValue = Value[] & { isSet?: true; mapKeys?: readonly string[] }

export class Double {
  readonly value: number
  constructor(value: number) {
    this.value = value
  }
}

export class Uint {
  readonly value: bigint
  constructor(value: bigint) {
    this.value = value
  }
}

/** A span of time in nanoseconds. */
export class Duration {
  readonly nanos: bigint
  constructor(nanos: bigint) {
    this.nanos = nanos
  }
}

/** A moment in nanoseconds since 1970. */
export class Timestamp {
  readonly nanos: bigint
  constructor(nanos: bigint) {
    this.nanos = nanos
  }
}

/** The value of `type(x)`, known by its name. */
export class TypeValue {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/** A value or none. */
export class Optional {
  static readonly none = new Optional(undefined)
  readonly value: Value | undefined
  constructor(value: Value | undefined) {
    this.value = value
  }
}

/** A value of a library: a quantity, an address, a decision of the authorizer. */
export abstract class Opaque {
  abstract readonly typeName: string
  abstract equals(other: Opaque): boolean
}

/** Anything with keys: maps of expressions, maps and objects of data, and what a caller computes on demand. */
export abstract class MapValue {
  /** The declared object type; maps have none. */
  readonly type: ObjectType | undefined
  constructor(type?: ObjectType) {
    this.type = type
  }
  abstract get size(): number
  /** The value of a key; undefined if there is none. */
  abstract get(key: Value): Value | undefined
  abstract keys(): Value[]
  has(key: Value): boolean {
    return this.get(key) !== undefined
  }
}

/** The form in which a key is looked up: 1, 1u and 1.0 are the same key. */
export function mapKey(key: Value): string | number | bigint | boolean | undefined {
  if (typeof key === 'string' || typeof key === 'number' || typeof key === 'bigint' || typeof key === 'boolean')
    return key
  if (key instanceof Uint) return key.value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(key.value) : key.value
  if (key instanceof Double && Number.isInteger(key.value)) {
    return Number.isSafeInteger(key.value) ? key.value : BigInt(key.value)
  }
  return undefined
}

/** A map that an expression made. */
export class PlainMap extends MapValue {
  readonly entries = new Map<string | number | bigint | boolean, { key: Value; value: Value }>()

  override get size(): number {
    return this.entries.size
  }

  /** Adds an entry; false if the key is taken. The key must be a string, bool, int or uint. */
  insert(key: Value, value: Value): boolean {
    const known = mapKey(key)
    if (known === undefined || this.entries.has(known)) return false
    this.entries.set(known, { key, value })
    return true
  }

  override get(key: Value): Value | undefined {
    const known = mapKey(key)
    return known === undefined ? undefined : this.entries.get(known)?.value
  }

  override keys(): Value[] {
    return Array.from(this.entries.values(), (entry) => entry.key)
  }
}

/** An evaluation error. It does not extend Error: a stack trace is costly and `||` discards many. */
export class CelError {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

export const noSuchOverload = (): CelError => new CelError('no such overload')

export const isInt = (value: Value): value is Int64 => typeof value === 'number' || typeof value === 'bigint'

/** The name of a value's type, as `type(x)` shows it. */
export function typeName(value: Value): string {
  switch (typeof value) {
    case 'boolean':
      return 'bool'
    case 'number':
    case 'bigint':
      return 'int'
    case 'string':
      return 'string'
    default:
  }
  if (value === null) return 'null_type'
  if (Array.isArray(value)) return 'list'
  if (value instanceof MapValue) return value.type?.name ?? 'map'
  if (value instanceof Double) return 'double'
  if (value instanceof Uint) return 'uint'
  if (value instanceof Uint8Array) return 'bytes'
  if (value instanceof Timestamp) return 'google.protobuf.Timestamp'
  if (value instanceof Duration) return 'google.protobuf.Duration'
  if (value instanceof TypeValue) return 'type'
  if (value instanceof Optional) return 'optional_type'
  return (value as Opaque).typeName
}
