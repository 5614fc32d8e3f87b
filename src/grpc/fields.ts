import type { Decoded, Encodable, MessageField, MessageFields, MessageType } from './message.ts'
import { type WireReader, WireType, type WireWriter, varintSize } from './wire.ts'

type Scalar<T> = MessageField<T, T>

const tagOf = (number: number, wireType: number): number => number * 8 + wireType
const sizeWithLength = (tag: number, length: number): number => varintSize(tag) + varintSize(length) + length

interface Coding<T> {
  size(value: T): number
  write(writer: WireWriter, value: T): void
  read(reader: WireReader): T
}

/** The codec of a number. As in proto3, zero is not sent. */
function numeric<T extends number | bigint | boolean>(number: number, zero: T, code: Coding<T>): Scalar<T> {
  const tag = tagOf(number, WireType.varint)
  return {
    number,
    wireType: WireType.varint,
    absent: () => zero,
    size: (value) => (value === zero ? 0 : varintSize(tag) + code.size(value)),
    write(writer, value) {
      if (value === zero) return
      writer.number(tag)
      code.write(writer, value)
    },
    read: (reader) => code.read(reader),
  }
}

const writeNumber = (writer: WireWriter, value: number): void => {
  if (value < 0) writer.bigint(BigInt(value))
  else writer.number(value)
}

/** Unsigned 64-bit numbers from here on represent negative ones. */
const signBit = 2 ** 63

/** An int32, an enum or an int64 whose values are below 2^53, such as a revision. */
export const int = (number: number): Scalar<number> =>
  numeric<number>(number, 0, {
    size: varintSize,
    write: writeNumber,
    read(reader) {
      const at = reader.at
      const value = reader.number()
      if (value < signBit) return value
      reader.at = at
      return Number(BigInt.asIntN(64, reader.bigint()))
    },
  })

/** A full 64-bit int64, such as a lease id or a time in nanoseconds. */
export const int64 = (number: number): Scalar<bigint> =>
  numeric<bigint>(number, 0n, {
    size: varintSize,
    write: (writer, value) => writer.bigint(value),
    read: (reader) => BigInt.asIntN(64, reader.bigint()),
  })

/** A full 64-bit uint64, such as a member id. */
export const uint64 = (number: number): Scalar<bigint> =>
  numeric<bigint>(number, 0n, {
    size: varintSize,
    write: (writer, value) => writer.bigint(value),
    read: (reader) => reader.bigint(),
  })

export const bool = (number: number): Scalar<boolean> =>
  numeric<boolean>(number, false, {
    size: () => 1,
    write: (writer) => writer.number(1),
    read: (reader) => reader.number() !== 0,
  })

/** Bytes. Decoded ones share memory with the message, unless `copy` copies them. */
export function bytes(number: number, copy?: (shared: Buffer) => Buffer): Scalar<Buffer> {
  const tag = tagOf(number, WireType.bytes)
  return {
    number,
    wireType: WireType.bytes,
    absent: () => nothing,
    size: (value) => (value.length === 0 ? 0 : sizeWithLength(tag, value.length)),
    write(writer, value) {
      if (value.length === 0) return
      writer.number(tag)
      writer.number(value.length)
      writer.at += value.copy(writer.bytes, writer.at)
    },
    read(reader) {
      const end = reader.length()
      const value = reader.bytes.subarray(reader.at, end)
      reader.at = end
      return copy ? copy(value) : value
    },
  }
}

const nothing = Buffer.alloc(0)

export function string(number: number): Scalar<string> {
  const tag = tagOf(number, WireType.bytes)
  return {
    number,
    wireType: WireType.bytes,
    absent: () => '',
    size: (value) => (value === '' ? 0 : sizeWithLength(tag, Buffer.byteLength(value))),
    write(writer, value) {
      if (value === '') return
      writer.number(tag)
      writer.number(Buffer.byteLength(value))
      writer.at += writer.bytes.write(value, writer.at)
    },
    read(reader) {
      const end = reader.length()
      const value = reader.bytes.toString('utf8', reader.at, end)
      reader.at = end
      return value
    },
  }
}

/** A nested message. `type` is a function, so that message types may be recursive. */
export function nested<Fields extends MessageFields>(
  number: number,
  type: () => MessageType<Fields>,
): MessageField<Encodable<Fields>, Decoded<Fields> | undefined> {
  const tag = tagOf(number, WireType.bytes)
  return {
    number,
    wireType: WireType.bytes,
    absent: () => undefined,
    size: (value) => sizeWithLength(tag, type().size(value)),
    write(writer, value) {
      writer.number(tag)
      writer.number(type().size(value))
      type().write(writer, value)
    },
    read: (reader) => readNested(reader, type()),
  }
}

function readNested<Fields extends MessageFields>(reader: WireReader, type: MessageType<Fields>): Decoded<Fields> {
  const end = reader.length()
  const value = type.read(reader.within(end))
  reader.at = end
  return value
}

/** A repeated field. */
export function repeated<In, Out>(field: MessageField<In, Out>): MessageField<readonly In[], NonNullable<Out>[]> {
  // A zero value in a list is sent.
  const explicit = optional(field)
  return {
    number: field.number,
    wireType: field.wireType,
    absent: () => [],
    size: (values) => values.reduce((size, value) => size + explicit.size(value), 0),
    write: (writer, values) => {
      for (const value of values) explicit.write(writer, value)
    },
    read: (reader, before) => {
      before.push(field.read(reader, field.absent())!)
      return before
    },
  }
}

/** A field that distinguishes zero from absence: part of a `oneof`, or `optional`. */
export function optional<In, Out>(field: MessageField<In, Out>): MessageField<In, Out | undefined> {
  const zero = Buffer.from([0])
  const tag = tagOf(field.number, field.wireType)
  return {
    ...field,
    absent: () => undefined,
    size: (value) => field.size(value) || varintSize(tag) + 1,
    write(writer, value) {
      if (field.size(value) > 0) return field.write(writer, value)
      writer.number(tag)
      writer.at += zero.copy(writer.bytes, writer.at)
    },
    read: (reader) => field.read(reader, field.absent()),
  }
}

/** A map with string keys. */
export function map<In, Out>(
  number: number,
  value: MessageField<In, Out>,
): MessageField<Readonly<Record<string, In>>, Record<string, Out>> {
  const tag = tagOf(number, WireType.bytes)
  const key = string(1)
  const sizeOf = (name: string, item: In): number => key.size(name) + value.size(item)
  return {
    number,
    wireType: WireType.bytes,
    absent: () => ({}),
    size: (items) =>
      Object.entries(items).reduce((size, [name, item]) => size + sizeWithLength(tag, sizeOf(name, item)), 0),
    write(writer, items) {
      for (const [name, item] of Object.entries(items)) {
        writer.number(tag)
        writer.number(sizeOf(name, item))
        key.write(writer, name)
        value.write(writer, item)
      }
    },
    read(reader, before) {
      const end = reader.length()
      const entry = reader.within(end)
      let name = ''
      let item = value.absent()
      while (entry.at < end) {
        const part = entry.number()
        if (part === tagOf(1, WireType.bytes)) name = key.read(entry, name)
        else if (part === tagOf(2, value.wireType)) item = value.read(entry, item)
        else entry.skip(part & 7)
      }
      reader.at = end
      // defineProperty also accepts keys such as __proto__.
      Object.defineProperty(before, name, { value: item, enumerable: true, writable: true, configurable: true })
      return before
    },
  }
}
