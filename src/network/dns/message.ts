/** The record types with an encoding of their own. Queries for other types are forwarded unchanged. */
export const types = { A: 1, NS: 2, CNAME: 5, SOA: 6, PTR: 12, TXT: 16, AAAA: 28, SRV: 33, OPT: 41, ANY: 255 } as const
export const internetClass = 1

/** Response codes (RFC 1035, section 4.1.1). */
export const codes = {
  noError: 0,
  formatError: 1,
  serverFailure: 2,
  nameError: 3,
  notImplemented: 4,
  refused: 5,
} as const

/** A name as a list of labels, in the case of the query, without the root. */
export interface Question {
  name: readonly string[]
  type: number
  class: number
}

export type RecordData =
  | { type: 'A' | 'AAAA'; address: Buffer }
  | { type: 'CNAME' | 'PTR' | 'NS'; target: readonly string[] }
  | { type: 'SRV'; priority: number; weight: number; port: number; target: readonly string[] }
  | { type: 'TXT'; text: string }
  | {
      type: 'SOA'
      server: readonly string[]
      mailbox: readonly string[]
      serial: number
      refresh: number
      retry: number
      expire: number
      minimum: number
    }

export interface DnsRecord {
  name: readonly string[]
  ttl: number
  data: RecordData
}

export interface Query {
  id: number
  opcode: number
  wantsRecursion: boolean
  question: Question | undefined
  /** The maximum size of UDP responses for the client: 512 without EDNS. */
  size: number
  hasEdns: boolean
}

interface Answer {
  code: number
  isAuthoritative: boolean
  answers: readonly DnsRecord[]
  authorities?: readonly DnsRecord[]
  additionals?: readonly DnsRecord[]
}

const headerSize = 12
const mostPointers = 32
/** The maximum size of a UDP response, which avoids fragmentation in any network. */
const largestDatagram = 1232
const smallestDatagram = 512

/** Parses a query; undefined if the message is malformed or no query. */
export function readQuery(bytes: Buffer): Query | undefined {
  if (bytes.length < headerSize || (bytes[2]! & 0x80) !== 0) return undefined
  const flags = bytes.readUInt16BE(2)
  const head = { id: bytes.readUInt16BE(0), opcode: (flags >> 11) & 15, wantsRecursion: (flags & 0x0100) !== 0 }
  const plain = { ...head, question: undefined, size: smallestDatagram, hasEdns: false }
  try {
    if (bytes.readUInt16BE(4) !== 1) return plain
    const [name, at] = readName(bytes, headerSize)
    const question = { name, type: bytes.readUInt16BE(at), class: bytes.readUInt16BE(at + 2) }
    return { ...head, question, ...readEdns(bytes, at + 4) }
  } catch (e) {
    if (!(e instanceof RangeError)) throw e
    return plain
  }
}

/** Finds the OPT record in the additional section. */
function readEdns(bytes: Buffer, from: number): { size: number; hasEdns: boolean } {
  const records = bytes.readUInt16BE(6) + bytes.readUInt16BE(8) + bytes.readUInt16BE(10)
  for (let at = from, left = records; left > 0; left--) {
    const [, behind] = readName(bytes, at)
    const asked = bytes.readUInt16BE(behind + 2)
    if (bytes.readUInt16BE(behind) === types.OPT) {
      return { hasEdns: true, size: Math.min(largestDatagram, Math.max(smallestDatagram, asked)) }
    }
    at = behind + 10 + bytes.readUInt16BE(behind + 8)
  }
  return { hasEdns: false, size: smallestDatagram }
}

/**
 * Reads a name and returns its end offset. Throws a RangeError if the name exceeds the message or has a pointer loop.
 */
export function readName(bytes: Buffer, from: number): [labels: string[], end: number] {
  const labels: string[] = []
  let at = from
  let end: number | undefined
  for (let pointers = 0; ;) {
    const length = bytes.readUInt8(at)
    if (length === 0) return [labels, end ?? at + 1]
    if ((length & 0xc0) === 0xc0) {
      if (++pointers > mostPointers) throw new RangeError('a name has a compression loop')
      end ??= at + 2
      at = bytes.readUInt16BE(at) & 0x3fff
      continue
    }
    if (length > 63 || at + 1 + length > bytes.length) throw new RangeError('a label is too long')
    labels.push(bytes.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
}

/** Encodes a response of a maximum size. Records that do not fit are left out and the TC flag is set. */
export function writeAnswer(query: Query, answer: Answer, size: number): Buffer {
  const { answers, authorities = [], additionals = [] } = answer
  const whole = new MessageWriter(query, answer)
  const counts = [answers, authorities, additionals].map(
    (records) => records.filter((record) => whole.add(record)).length,
  )
  const bytes = whole.end(counts as [number, number, number], false)
  if (bytes.length <= size) return bytes
  return new MessageWriter(query, answer).end([0, 0, 0], true)
}

/** The response to a malformed message: its id and a response code. */
export const writeFailure = (query: Query, code: number): Buffer =>
  new MessageWriter(query, { code, isAuthoritative: false, answers: [] }).end([0, 0, 0], false)

class MessageWriter {
  readonly #query: Query
  readonly #answer: Answer
  readonly #pieces: Buffer[] = []
  /** The offsets of written names, for compression pointers. */
  readonly #names = new Map<string, number>()
  #size = headerSize

  constructor(query: Query, answer: Answer) {
    this.#query = query
    this.#answer = answer
    if (!query.question) return
    this.#name(query.question.name)
    this.#numbers([query.question.type, query.question.class])
  }

  add({ name, ttl, data }: DnsRecord): boolean {
    this.#name(name)
    this.#numbers([types[data.type], internetClass, ttl >>> 16, ttl & 0xffff])
    // The length is filled in after the data.
    const length = Buffer.alloc(2)
    this.#put(length)
    const from = this.#size
    this.#data(data)
    length.writeUInt16BE(this.#size - from)
    return true
  }

  end(counts: [number, number, number], isTruncated: boolean): Buffer {
    const { id, opcode, wantsRecursion, question, hasEdns } = this.#query
    const { code, isAuthoritative } = this.#answer
    if (hasEdns) {
      // The OPT record: the root name, the type, our maximum UDP size, no flags and no options.
      this.#put(Buffer.from([0]))
      this.#numbers([types.OPT, largestDatagram, 0, 0, 0])
    }
    const head = Buffer.alloc(headerSize)
    head.writeUInt16BE(id, 0)
    const flags =
      0x8000 |
      (opcode << 11) |
      (isAuthoritative ? 0x0400 : 0) |
      (isTruncated ? 0x0200 : 0) |
      (wantsRecursion ? 0x0100 : 0) |
      0x0080 |
      code
    head.writeUInt16BE(flags, 2)
    head.writeUInt16BE(question ? 1 : 0, 4)
    head.writeUInt16BE(counts[0], 6)
    head.writeUInt16BE(counts[1], 8)
    head.writeUInt16BE(counts[2] + (hasEdns ? 1 : 0), 10)
    return Buffer.concat([head, ...this.#pieces])
  }

  #data(data: RecordData): void {
    switch (data.type) {
      case 'A':
      case 'AAAA':
        return this.#put(data.address)
      case 'CNAME':
      case 'PTR':
      case 'NS':
        return this.#name(data.target)
      case 'SRV':
        this.#numbers([data.priority, data.weight, data.port])
        // The target of an SRV record is not compressed (RFC 2782).
        return this.#name(data.target, false)
      case 'TXT':
        return this.#put(Buffer.from([data.text.length, ...Buffer.from(data.text, 'latin1')]))
      case 'SOA':
        this.#name(data.server)
        this.#name(data.mailbox)
        return this.#numbers(
          [data.serial, data.refresh, data.retry, data.expire, data.minimum].flatMap((n) => [
            Math.floor(n / 65536) & 0xffff,
            n & 0xffff,
          ]),
        )
    }
  }

  #name(labels: readonly string[], mayPoint = true): void {
    for (let i = 0; i < labels.length; i++) {
      const key = labels.slice(i).join('.').toLowerCase()
      const known = this.#names.get(key)
      if (known !== undefined && mayPoint) return this.#numbers([0xc000 | known])
      if (this.#size < 0x4000) this.#names.set(key, known ?? this.#size)
      const label = Buffer.from(labels[i]!, 'latin1')
      this.#put(Buffer.concat([Buffer.from([label.length]), label]))
    }
    this.#put(Buffer.from([0]))
  }

  #numbers(values: readonly number[]): void {
    const bytes = Buffer.alloc(values.length * 2)
    values.forEach((value, i) => bytes.writeUInt16BE(value, i * 2))
    this.#put(bytes)
  }

  #put(piece: Buffer): void {
    this.#pieces.push(piece)
    this.#size += piece.length
  }
}
