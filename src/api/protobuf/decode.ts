import { type Int64, toInt64 } from '../numbers/int64.ts'
import { parseJson } from '../json/index.ts'
import type { Json } from '../object.ts'
import { type FieldType, structOf } from '../schema/index.ts'
import { fieldNumbers } from './field-numbers.ts'
import { ProtobufError, type WireField, wireFields } from './wire.ts'

/** The prefix of every protobuf message of Kubernetes. */
const magic = Buffer.from('k8s\0')

type Fields = { [key: string]: Json }

/** The name and type of a message field. `inline` fields belong to the outer object. */
type Target = { kind: 'field'; name: string; type: FieldType } | { kind: 'inline'; message: string }

const layouts = new Map<string, Map<number, Target>>()

/** The fields of a message by number. `owner` is the type of the fields of an inline message. */
function layoutOf(message: string, owner: string): Map<number, Target> {
  const key = `${owner}/${message}`
  let layout = layouts.get(key)
  if (layout) return layout
  const fields = structOf(owner)?.fields
  const table = fieldNumbers[message]
  if (!fields || table === undefined) throw new ProtobufError(`no protobuf form of ${message} is known`)
  layout = new Map()
  for (const entry of table.split(' ')) {
    const [name = '', number] = entry.split('=')
    const field = fields[name]
    if (name.startsWith('...')) layout.set(Number(number), { kind: 'inline', message: name.slice(3) })
    else if (field) layout.set(Number(number), { kind: 'field', name, type: field.type })
  }
  layouts.set(key, layout)
  return layout
}

const integer = (value: bigint): Int64 => toInt64(BigInt.asIntN(64, value))

const bytesOf = (field: WireField): Buffer => {
  if (field.type !== 'bytes') throw new ProtobufError(`proto: wrong wireType for field ${field.number}`)
  return field.bytes
}

const numberOf = (field: WireField): bigint => {
  if (field.type !== 'varint') throw new ProtobufError(`proto: wrong wireType for field ${field.number}`)
  return field.value
}

/** Messages that are scalars in JSON. The last of repeated fields applies. */
function parts(message: Buffer): Map<number, WireField> {
  const found = new Map<number, WireField>()
  for (const field of wireFields(message)) found.set(field.number, field)
  return found
}

function readTime(message: Buffer, digits: 0 | 6): Json {
  const found = parts(message)
  const seconds = found.has(1) ? Number(integer(numberOf(found.get(1)!))) : 0
  const nanos = found.has(2) ? Number(integer(numberOf(found.get(2)!))) : 0
  // Go's zero time means that there is no time.
  if (seconds <= -62135596800 || (seconds === 0 && nanos === 0 && message.length === 0)) return null
  // RFC 3339 has four digits for a year.
  if (seconds >= 253402300800) throw new ProtobufError('Time.UnmarshalProto: year outside of range [0,9999]')
  const base = new Date(seconds * 1000).toISOString().slice(0, 19)
  return digits === 0 ? `${base}Z` : `${base}.${String(Math.floor(nanos / 1000)).padStart(6, '0')}Z`
}

function readIntOrString(message: Buffer): Json {
  const found = parts(message)
  const isText = found.has(1) && numberOf(found.get(1)!) === 1n
  if (isText) return found.has(3) ? bytesOf(found.get(3)!).toString() : ''
  return found.has(2) ? integer(numberOf(found.get(2)!)) : 0
}

function readScalar(type: FieldType, field: WireField): Json {
  switch (type.kind) {
    case 'boolean':
      return numberOf(field) !== 0n
    case 'int32':
    case 'int64':
      return integer(numberOf(field))
    case 'double':
      if (field.type !== 'fixed') throw new ProtobufError(`proto: wrong wireType for field ${field.number}`)
      return field.bytes.length === 8 ? field.bytes.readDoubleLE() : field.bytes.readFloatLE()
    case 'string':
      return bytesOf(field).toString()
    case 'bytes':
      return bytesOf(field).toString('base64')
    case 'time':
      return readTime(bytesOf(field), 0)
    case 'microTime':
      return readTime(bytesOf(field), 6)
    case 'quantity': {
      const text = parts(bytesOf(field)).get(1)
      return text ? bytesOf(text).toString() : '0'
    }
    case 'intOrString':
      return readIntOrString(bytesOf(field))
    case 'duration': {
      const nanos = parts(bytesOf(field)).get(1)
      return `${nanos ? Number(integer(numberOf(nanos))) / 1e9 : 0}s`
    }
    case 'raw': {
      const raw = parts(bytesOf(field)).get(1)
      const text = raw ? bytesOf(raw).toString() : ''
      return text === '' ? null : parseJson(text).value
    }
    case 'struct':
      return readMessage(bytesOf(field), type.name)
    case 'list': {
      // A list in a map or list is a message whose first field is the list.
      const items: Json[] = []
      for (const item of wireFields(bytesOf(field))) if (item.number === 1) items.push(readScalar(type.of, item))
      return items
    }
    default:
      throw new ProtobufError(`proto: field ${field.number} cannot be read`)
  }
}

const setOwn = (out: Fields, key: string, value: Json) =>
  Object.defineProperty(out, key, { value, enumerable: true, configurable: true, writable: true })

function readInto(out: Fields, message: Buffer, name: string, owner: string): void {
  const layout = layoutOf(name, owner)
  for (const field of wireFields(message)) {
    const target = layout.get(field.number)
    // Unknown fields are ignored, as in Kubernetes.
    if (!target) continue
    if (target.kind === 'inline') {
      // A LocalObjectReference may also be such a message. Its fields are found under the enclosing type.
      readInto(out, bytesOf(field), target.message, owner)
      continue
    }
    const { type } = target
    if (type.kind === 'list') {
      const list = (out[target.name] ??= []) as Json[]
      list.push(readScalar(type.of, field))
    } else if (type.kind === 'map') {
      const entry = parts(bytesOf(field))
      const map = (out[target.name] ??= {}) as Fields
      const key = entry.get(1)
      const value = entry.get(2)
      setOwn(map, key ? bytesOf(key).toString() : '', value ? readScalar(type.of, value) : emptyValue(type.of))
    } else {
      out[target.name] = readScalar(type, field)
    }
  }
}

const emptyValue = (type: FieldType): Json => (type.kind === 'list' ? [] : type.kind === 'struct' ? {} : '')

function readMessage(message: Buffer, typeName: string): Fields {
  const out: Fields = {}
  readInto(out, message, typeName, typeName)
  return out
}

/** The envelope of a message. */
interface ProtobufEnvelope {
  apiVersion: string
  kind: string
  raw: Buffer
}

/** Decodes the envelope of a message. Throws ProtobufError. */
export function openEnvelope(body: Buffer): ProtobufEnvelope {
  if (!body.subarray(0, magic.length).equals(magic))
    throw new ProtobufError('provided data does not appear to be a protobuf message, expected prefix 6b 38 73 00')
  const found = parts(body.subarray(magic.length))
  const typeMeta = found.has(1) ? parts(bytesOf(found.get(1)!)) : new Map<number, WireField>()
  const text = (n: number) => (typeMeta.has(n) ? bytesOf(typeMeta.get(n)!).toString() : '')
  return { apiVersion: text(1), kind: text(2), raw: found.has(2) ? bytesOf(found.get(2)!) : Buffer.alloc(0) }
}

/** Decodes a message of a schema type to the JSON value that the client would have sent. Throws ProtobufError. */
export const decodeProtobuf = (raw: Buffer, typeName: string): { [key: string]: Json } => readMessage(raw, typeName)
