import { crc32 } from 'node:zlib'
import { LogState } from '../log-state.ts'
import { decodeHead, isIntact } from '../record-codec.ts'
import type { Compacted } from '../record-log.ts'
import { LmdbFile } from './lmdb-file.ts'
import { FileProblem } from './lmdb-header.ts'
import { RecordPlaces } from './record-places.ts'

// Two databases. log: revision (8 bytes, big-endian) → record. meta: name → crc32 of the rest, JSON.
export const logName = 'log'
export const metaName = 'meta'

/** The first entry of a meta database: says that the file is ours, and how it is laid out. */
export interface Format {
  name: 'coxswain-store'
  version: number
}

export const currentFormat: Format = { name: 'coxswain-store', version: 1 }

/** A format that a later release wrote. */
export class NewerFormat extends Error {
  readonly version: number
  constructor(version: number) {
    super(`it has format ${version}`)
    this.version = version
  }
}

/** Sets `key` to the revision's place in the log. */
export function encodeRevision(revision: number, key: Buffer): Buffer {
  key.writeUInt32BE(Math.floor(revision / 2 ** 32), 0)
  key.writeUInt32BE(revision % 2 ** 32, 4)
  return key
}

/** How long the file is at least. A shorter one has lost something. */
export interface Reserved {
  bytes: number
}

export function encodeMeta(value: Format | Compacted | Reserved): Buffer {
  const json = Buffer.from(JSON.stringify(value))
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32LE(crc32(json))
  return Buffer.concat([checksum, json])
}

/** What a file holds. */
export interface Contents {
  readonly state: LogState
  /** Where it holds it. */
  readonly places: RecordPlaces
}

type Descriptions = ReadonlyMap<string, Buffer>

/** How to read every format that was ever released. A new one keeps the old ones here, and is written by all that is new. */
const readers: Readonly<Record<number, (file: LmdbFile, descriptions: Descriptions) => Contents>> = { 1: readFormat1 }

/** Reads and checks the whole file, without LMDB and without a change. Throws FileProblem or NewerFormat. */
export function readContents(path: string): Contents {
  const file = new LmdbFile(path)
  try {
    const descriptions = new Map<string, Buffer>()
    file.visit(metaName, ({ key, value }) => descriptions.set(key.toString('latin1'), Buffer.from(value)))
    const contents = chooseReader(file, descriptions)(file, descriptions)
    file.checkFreePages()
    return contents
  } finally {
    file.close()
  }
}

function chooseReader(file: LmdbFile, descriptions: Descriptions): typeof readFormat1 {
  const description = descriptions.get('format')
  if (!file.has(logName) || !description) throw new FileProblem('ForeignFormat', 'it is an LMDB file of another application')
  const { name, version } = decodeMeta<Format>(description)
  if (name !== currentFormat.name) throw new FileProblem('ForeignFormat', `it says that it is ${name}`)
  const reader = readers[version]
  if (!reader) throw new NewerFormat(version)
  return reader
}

function readFormat1(file: LmdbFile, descriptions: Descriptions): Contents {
  const reserved = descriptions.get('reserved')
  if (reserved && file.size < decodeMeta<Reserved>(reserved).bytes) throw new FileProblem('Corrupt', 'it is truncated')
  const compacted = descriptions.get('compacted')
  const state = new LogState(compacted && decodeMeta<Compacted>(compacted))
  const places = new RecordPlaces()
  let last = 0
  file.visit(logName, ({ key, value: bytes, position }) => {
    const revision = key.length === 8 ? key.readUInt32BE(0) * 2 ** 32 + key.readUInt32BE(4) : 0
    // What was compacted leaves gaps; everything after it is there.
    const isForgotten = revision <= state.compactedRevision
    const isNext = isForgotten ? revision > last : revision === Math.max(last, state.compactedRevision) + 1
    if (!isNext) throw new FileProblem('Corrupt', `revision ${revision} follows revision ${last}`)
    if (!isIntact(bytes, revision)) throw new FileProblem('Corrupt', `revision ${revision} does not match its checksum`)
    state.recover(decodeHead(bytes))
    if (position !== undefined) places.add(revision, position, bytes.length)
    last = revision
  })
  return { state, places }
}

function decodeMeta<T>(bytes: Buffer): T {
  const json = bytes.subarray(4)
  if (bytes.length < 4 || bytes.readUInt32LE(0) !== crc32(json)) throw new FileProblem('Corrupt', 'its description is damaged')
  return JSON.parse(json.toString()) as T
}
