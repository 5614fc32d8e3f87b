import { WireError, WireReader, WireType, WireWriter } from './wire.ts'

/** The codec of one field. `In` is the type that the encoder takes, `Out` the type that the decoder returns. */
export interface MessageField<In, Out> {
  readonly number: number
  readonly wireType: number
  /** The value of an absent field. */
  absent(): Out
  /** The size of the encoded field in bytes, tag included; 0 omits the field. */
  size(value: In): number
  write(writer: WireWriter, value: In): void
  /** Decodes one occurrence of the field, after its tag. `before` is the value of the earlier occurrences. */
  read(reader: WireReader, before: Out): Out
}

type AnyField = MessageField<never, unknown>
type Entry = readonly [name: string, field: MessageField<unknown, unknown>]
export type MessageFields = Record<string, AnyField>

/** The type that `encode` takes. An omitted field is not sent. */
export type Encodable<Fields extends MessageFields> = {
  readonly [Name in keyof Fields]?: (Fields[Name] extends MessageField<infer In, unknown> ? In : never) | undefined
}
/**
 * The type that `decode` returns. An absent field has its zero value; an absent message or optional field is undefined.
 */
export type Decoded<Fields extends MessageFields> = {
  [Name in keyof Fields]: Fields[Name] extends MessageField<never, infer Out> ? Out : never
}

/** The decoded form of a message type. */
export type MessageOf<Type> = Type extends MessageType<infer Fields> ? Decoded<Fields> : never

/** A protobuf message, described by a table of its fields. Unknown fields are skipped. */
export class MessageType<Fields extends MessageFields> {
  readonly #fields: readonly Entry[]
  readonly #byNumber: (Entry | undefined)[] = []

  constructor(fields: Fields) {
    this.#fields = Object.entries(fields) as unknown as Entry[]
    for (const entry of this.#fields) this.#byNumber[entry[1].number] = entry
  }

  /** Encodes a message, preceded by `headroom` bytes for the caller to fill. */
  encode(value: Encodable<Fields>, headroom = 0): Buffer {
    const bytes = Buffer.allocUnsafe(headroom + this.size(value))
    this.write(new WireWriter(bytes, headroom), value)
    return bytes
  }

  /** Throws WireError. */
  decode(bytes: Buffer): Decoded<Fields> {
    return this.read(new WireReader(bytes))
  }

  size(value: Encodable<Fields>): number {
    let size = 0
    for (const [name, field] of this.#fields) {
      const part = value[name]
      if (part !== undefined) size += field.size(part)
    }
    return size
  }

  write(writer: WireWriter, value: Encodable<Fields>): void {
    for (const [name, field] of this.#fields) {
      const part = value[name]
      if (part !== undefined) field.write(writer, part)
    }
  }

  read(reader: WireReader): Decoded<Fields> {
    const value = this.absent()
    this.readFields(value, reader)
    return value
  }

  /** The message without any field. */
  absent(): Decoded<Fields> {
    const value: Record<string, unknown> = {}
    for (const [name, field] of this.#fields) value[name] = field.absent()
    return value as Decoded<Fields>
  }

  /** Decodes the fields of a part of a message, and adds them to the fields that were decoded before. */
  readFields(value: Record<string, unknown>, reader: WireReader): void {
    while (reader.at < reader.end) {
      const tag = reader.number()
      const wireType = tag & 7
      const number = Math.floor(tag / 8)
      if (number === 0) throw new WireError('illegal tag 0')
      const entry = this.#byNumber[number]
      if (!entry) reader.skip(wireType)
      else if (entry[1].wireType === wireType) value[entry[0]] = entry[1].read(reader, value[entry[0]])
      // The values of a packed repeated field share one length-delimited field.
      else if (wireType === WireType.bytes && Array.isArray(value[entry[0]]))
        readPacked(entry[1], reader, value[entry[0]])
      else throw new WireError(`wrong wireType = ${wireType} for field ${entry[0]}`)
    }
  }
}

function readPacked(field: MessageField<unknown, unknown>, reader: WireReader, values: unknown): void {
  const end = reader.length()
  while (reader.at < end) field.read(reader, values)
}

/** Defines a message type by its fields. */
export const message = <Fields extends MessageFields>(fields: Fields): MessageType<Fields> => new MessageType(fields)
