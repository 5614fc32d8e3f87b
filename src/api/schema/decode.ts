import { schema } from '../generated/schema.ts'
import { isInt64, toInt64 } from '../numbers/int64.ts'
import {
  cloneChanged,
  cloneObject,
  exactNumber,
  hasFractions,
  parseTree,
  setKey,
  treeOf,
  withExactNumbers,
} from '../json/index.ts'
import type { Json } from '../object.ts'
import { canonicalQuantity } from '../numbers/quantity.ts'
import { canonicalBase64 } from './base64.ts'
import { diagnose } from './diagnose.ts'
import type { Field, FieldType, Struct } from './schema.ts'
import { canonicalTime } from './time.ts'

/** A value that does not fit its type, or has forbidden unknown fields, in the words of Go's decoder. */
export class DecodeError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'DecodeError'
  }
}

export interface DecodeOptions {
  /** The source text. Errors quote its numbers and follow its order. Without it, keys count as sorted. */
  text?: string | undefined
  /** True if `text` has numbers with a fraction or an exponent, which are never integers. Computed if undefined. */
  hasFractions?: boolean
  /** Duplicate fields that the parser found. */
  duplicates?: string[]
  /** The value may be modified and become the result. */
  isOwned?: boolean
  /**
   * A decoded value of the same type that this one was derived from. Shared parts are valid, and the result shares
   * them.
   */
  madeOf?: Json
}

export interface Decoded {
  object: { [key: string]: Json }
  /** Paths of the fields that the type does not have, which are dropped: `spec.containers[0].bar`. */
  unknown: string[]
  /**
   * Unknown and duplicate fields as Kubernetes tells them, in the order of the text: `unknown field "metadata.bar"`.
   */
  problems: string[]
}

/** Decodes a value that it may modify. Valid parts are reused in the result. */
type Reader = (value: Json) => Json | undefined

/** Thrown if a value does not fit. The slow path then finds the exact error in the text. */
const mismatch = new Error('mismatch')

// Set by a reader that finds an unknown field, which only the text can locate.
let isUnsettled = false

const nothing: ReadonlySet<object> = new Set()

/** Parts shared with an already decoded value, which need no decoding. */
let settled = nothing

interface Step {
  name: string
  read: Reader
  /** Creates the value of an absent field that is always serialized; undefined for other fields. */
  absent: (() => Json) | undefined
}

/** The zero value of a type, for a null item of a list or map. */
function zeroItem(type: FieldType): () => Json {
  switch (type.kind) {
    case 'string':
    case 'bytes':
      return () => ''
    case 'boolean':
      return () => false
    case 'int32':
    case 'int64':
    case 'double':
    case 'intOrString':
      return () => 0
    case 'quantity':
      return () => '0'
    case 'struct':
      return () => structReader(type.name)({})!
    default:
      return () => null
  }
}

function scalarReader(kind: FieldType['kind'], dropZero: boolean): Reader {
  switch (kind) {
    case 'string':
      return (value) => {
        if (typeof value !== 'string') throw mismatch
        return dropZero && value === '' ? undefined : value
      }
    case 'boolean':
      return (value) => {
        if (typeof value !== 'boolean') throw mismatch
        return dropZero && !value ? undefined : value
      }
    case 'int32':
      return (value) => {
        if (typeof value !== 'number' || (value | 0) !== value) throw mismatch
        return dropZero && value === 0 ? undefined : value | 0
      }
    case 'int64':
      return (value) => {
        const read = Number.isSafeInteger(value) ? value : largeInteger(value)
        return dropZero && read === 0 ? undefined : read
      }
    case 'double':
      return (value) => {
        if (typeof value !== 'number' && typeof value !== 'bigint') throw mismatch
        return dropZero && value === 0 ? undefined : Number(value)
      }
    case 'intOrString':
      return (value) => {
        if (typeof value !== 'string' && (typeof value !== 'number' || (value | 0) !== value)) throw mismatch
        return value
      }
    case 'bytes':
      return (value) => {
        if (typeof value !== 'string') throw mismatch
        return dropZero && value === '' ? undefined : canonicalBase64(value)
      }
    case 'quantity':
      return (value) => {
        if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') throw mismatch
        return quantityText(value)
      }
    case 'time':
      return (value) => {
        if (typeof value !== 'string') throw mismatch
        return canonicalTime(value, 'second') ?? (dropZero ? undefined : null)
      }
    case 'microTime':
      return (value) => {
        if (typeof value !== 'string') throw mismatch
        return canonicalTime(value, 'microsecond') ?? (dropZero ? undefined : null)
      }
    case 'raw':
      return (value) => withExactNumbers(value)
    default:
      return (value) => value
  }
}

/** Decodes an int64 that is not a safe number. Without a text, the number may have another form. */
function largeInteger(value: Json): Json {
  const exact = typeof value === 'bigint' ? value : typeof value === 'number' ? exactNumber(String(value)) : undefined
  if (typeof exact !== 'bigint' || !isInt64(exact)) throw mismatch
  return toInt64(exact)
}

// The same few quantities occur repeatedly. The cache is bounded, so that requests cannot exhaust memory.
const knownQuantities = new Map<string, string>()

function quantityText(value: string | number | bigint): string {
  const text = typeof value === 'string' ? value.trim() : String(value)
  const known = knownQuantities.get(text)
  if (known !== undefined) return known
  const canonical = canonicalQuantity(text)
  if (text.length < 20 && knownQuantities.size < 1000) knownQuantities.set(text, canonical)
  return canonical
}

/** The result of an empty list or map: nothing, itself, or null, depending on its zero. */
type Empty = Json | undefined

function listReader(of: FieldType, empty: Empty): Reader {
  const read = reader(of, false)
  const zero = zeroItem(of)
  return (value) => {
    if (!Array.isArray(value)) throw mismatch
    if (settled.has(value)) return value
    const n = value.length
    if (n === 0) return empty === undefined || empty === null ? empty : []
    for (let i = 0; i < n; i++) {
      const item = value[i]
      const next = item === null || item === undefined ? zero() : read(item)!
      if (next !== item) value[i] = next
    }
    return value
  }
}

function mapReader(of: FieldType, empty: Empty): Reader {
  const read = reader(of, false)
  const zero = zeroItem(of)
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw mismatch
    if (settled.has(value)) return value
    let isEmpty = true
    for (const key in value) {
      const item = value[key]
      if (item === undefined) {
        // An undefined field counts as absent, as in JSON.
        delete value[key]
        continue
      }
      const next = item === null ? zero() : read(item)!
      if (next !== item) setKey(value, key, next)
      isEmpty = false
    }
    return isEmpty && (empty === undefined || empty === null) ? empty : value
  }
}

const structReaders = new Map<string, Reader>()

/** The reader of a structure, compiled on first use because types are recursive. */
function structReader(name: string): Reader {
  let read = structReaders.get(name)
  if (read) return read
  const struct = schema[name]
  if (!struct) throw new Error(`no type ${name} in the schema`)
  let steps: Steps | undefined
  read = (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw mismatch
    if (settled.has(value)) return value
    steps ??= compileSteps(struct)
    return readInPlace(value, steps) ? value : readAnew(value, steps)
  }
  structReaders.set(name, read)
  return read
}

interface Steps {
  all: Step[]
  byName: Map<string, Step>
  /** Those of fields that are always written out. */
  emitted: Step[]
}

function compileSteps(struct: Struct): Steps {
  const all = Object.values(struct.fields).map(compileStep)
  return {
    all,
    byName: new Map(all.map((step) => [step.name, step])),
    emitted: all.filter((step) => step.absent !== undefined),
  }
}

/**
 * Modifies `value` in place, unless a field must be deleted, which would make it slow. Decoding a partly modified value
 * again gives the same result.
 */
function readInPlace(value: { [key: string]: Json }, { byName, emitted }: Steps): boolean {
  for (const name in value) {
    const step = byName.get(name)
    const sent = value[name]
    if (step === undefined || sent === undefined) return false
    const next = sent === null ? step.absent?.() : step.read(sent)
    if (next === sent) continue
    if (next === undefined) return false
    value[name] = next
  }
  for (const step of emitted) if (value[step.name] === undefined) value[step.name] = step.absent!()
  return true
}

function readAnew(value: { [key: string]: Json }, { all }: Steps): Json {
  const out: { [key: string]: Json } = {}
  let seen = 0
  for (let i = 0; i < all.length; i++) {
    const step = all[i]!
    const sent = value[step.name]
    if (sent !== undefined) seen++
    if (sent === undefined || sent === null) {
      if (step.absent !== undefined) out[step.name] = step.absent()
      continue
    }
    const read = step.read(sent)
    if (read !== undefined) out[step.name] = read
  }
  // An undefined field counts as absent. Objects created in the server have such fields.
  for (const name in value) if (value[name] !== undefined) seen--
  if (seen !== 0) isUnsettled = true
  return out
}

function reader(type: FieldType, dropZero: boolean, empty: Empty = dropZero ? undefined : null): Reader {
  switch (type.kind) {
    case 'struct':
      return structReader(type.name)
    // An empty list or map that is always serialized does not survive storage: Kubernetes returns null.
    case 'list':
      return listReader(type.of, empty)
    case 'map':
      return mapReader(type.of, empty)
    default:
      return scalarReader(type.kind, dropZero)
  }
}

function compileStep(field: Field): Step {
  const { name, type } = field
  const isTime = type.kind === 'time' || type.kind === 'microTime'
  const dropZero = field.zero === 'omit' || (isTime && field.zero === 'keep')
  const emitted = field.nullable ? () => null : zeroItem(type)
  const empty = field.zero === 'keep' ? [] : field.zero === 'omit' ? undefined : null
  return { name, read: reader(type, dropZero, empty), absent: field.zero === 'emit' ? emitted : undefined }
}

/**
 * Decodes a value as a type of the schema: checks types, drops unknown fields, normalizes quantities, times and base64,
 * and adds or removes zero values as Kubernetes does. The result shares nothing with the value, unless `isOwned` or
 * `madeOf` is set.
 */
export function decodeObject(typeName: string, value: Json, options: DecodeOptions = {}): Decoded {
  const read = structReader(typeName)
  const exact = () => diagnose(typeName, options.text === undefined ? treeOf(value) : parseTree(options.text))
  isUnsettled = false
  let object: Decoded['object']
  try {
    object = read(ownCopy(value, options)) as Decoded['object']
  } catch (e) {
    const { error } = exact()
    if (error === undefined) throw e
    throw new DecodeError(error)
  } finally {
    settled = nothing
  }
  const isSuspect = options.text !== undefined && (options.hasFractions ?? hasFractions(options.text))
  if (!isUnsettled && !isSuspect && !options.duplicates?.length) return { object, unknown: [], problems: [] }
  const { error, unknown, problems } = exact()
  if (error !== undefined) throw new DecodeError(error)
  return { object, unknown, problems }
}

/** The value that readers may modify. Records the parts that they must not modify. */
function ownCopy(value: Json, { isOwned, madeOf }: DecodeOptions): Json {
  if (value === null || value === undefined) return {}
  if (isOwned) return value
  if (madeOf === undefined) return cloneObject(value)
  const shared = new Set<object>()
  settled = shared
  return cloneChanged(value, madeOf, shared)
}
