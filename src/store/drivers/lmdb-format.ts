import { crc32 } from 'node:zlib'
import { LogState } from '../log-state.ts'
import { decodeHead, isIntact } from '../record-codec.ts'
import type { Compacted } from '../record-log.ts'
import { FileProblem, LmdbFile } from './lmdb-file.ts'
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

/** Reads and checks the whole file, without LMDB and without a change. Throws FileProblem or NewerFormat. */
export function readContents(path: string): { state: LogState; places: RecordPlaces } {
  const file = new LmdbFile(path)
  try {
    const state = new LogState(readMeta(file))
    const places = new RecordPlaces()
    readLog(file, state, places)
    file.checkFreePages()
    return { state, places }
  } finally {
    file.close()
  }
}

function readMeta(file: LmdbFile): Compacted | undefined {
  const entries = new Map<string, Buffer>()
  file.visit(metaName, ({ key, value }) => entries.set(key.toString('latin1'), Buffer.from(value)))
  if (!file.has(logName) || !entries.has('format')) {
    throw new FileProblem('ForeignFormat', 'it is an LMDB file of another application')
  }
  const format = decodeMeta<Format>(entries.get('format')!)
  if (format.name !== currentFormat.name) throw new FileProblem('ForeignFormat', `it says that it is ${format.name}`)
  if (format.version > currentFormat.version) throw new NewerFormat(format.version)
  const reserved = entries.get('reserved')
  if (reserved && file.size < decodeMeta<Reserved>(reserved).bytes) throw new FileProblem('Corrupt', 'it is truncated')
  const compacted = entries.get('compacted')
  return compacted && decodeMeta<Compacted>(compacted)
}

function decodeMeta<T>(bytes: Buffer): T {
  const json = bytes.subarray(4)
  if (bytes.length < 4 || bytes.readUInt32LE(0) !== crc32(json)) throw new FileProblem('Corrupt', 'its description is damaged')
  return JSON.parse(json.toString()) as T
}

function readLog(file: LmdbFile, state: LogState, places: RecordPlaces): void {
  let last = 0
  file.visit(logName, ({ key, value: bytes, position }) => {
    const revision = key.length === 8 ? key.readUInt32BE(0) * 2 ** 32 + key.readUInt32BE(4) : 0
    // What was compacted leaves gaps; everything after it is there.
    const isNext = revision > last && (revision <= state.compactedRevision || revision === Math.max(last, state.compactedRevision) + 1)
    if (!isNext) throw new FileProblem('Corrupt', `revision ${revision} follows revision ${last}`)
    if (!isIntact(bytes, revision)) throw new FileProblem('Corrupt', `revision ${revision} does not match its checksum`)
    state.recover(decodeHead(bytes))
    if (position !== undefined) places.add(revision, position, bytes.length)
    last = revision
  })
}
