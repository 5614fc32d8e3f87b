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

export const currentFormat: Format = { name: 'coxswain-store', version: 2 }

/** A format that a later release wrote. */
export class NewerFormat extends Error {
  readonly version: number
  constructor(version: number) {
    super(`format ${version}`)
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

/**
 * Prefixes of keys that differ between formats 1 and 2. Format 1 kept every kind under its plural name; format 2 has
 * the keys that Kubernetes uses in etcd. All other kinds of format 1 have the same keys in both. This table never
 * changes: files of format 1 are what they are.
 */
const renamed: readonly (readonly [inFormat1: string, inFormat2: string])[] = [
  ['/registry/clonesets/', '/registry/apps.kruise.io/clonesets/'],
  ['/registry/endpoints/', '/registry/services/endpoints/'],
  ['/registry/ingresses/', '/registry/ingress/'],
  ['/registry/nodes/', '/registry/minions/'],
  ['/registry/replicationcontrollers/', '/registry/controllers/'],
  ['/registry/services/', '/registry/services/specs/'],
]

/** The key in format 2 of a record of format 1. */
export function keyInFormat2(key: string): string {
  const found = renamed.find(([inFormat1]) => key.startsWith(inFormat1))
  return found ? found[1] + key.slice(found[0].length) : key
}

/** Records that have to be written anew because the current format has other keys for them. */
export interface Outdated {
  readonly revisions: readonly number[]
  /** How many of them LMDB may give pages of their own, and the size of these. */
  readonly long: { readonly count: number; readonly bytes: number }
}

/** LMDB gives a record pages of its own if a page has no room for two; a key may become 15 bytes longer. */
const longBytes = 1900

/** The contents of a file. */
export interface Contents {
  readonly state: LogState
  /** Where records lie in the file. */
  readonly places: RecordPlaces
  /** Given for a file of an older format, which must be converted before it is used. */
  readonly outdated: Outdated | undefined
}

type Descriptions = ReadonlyMap<string, Buffer>

type Reader = (file: LmdbFile, descriptions: Descriptions) => Contents

/** A reader for every format that was ever released. */
const readers: Readonly<Record<number, Reader>> = {
  1(file, descriptions) {
    const revisions: number[] = []
    const long = { count: 0, bytes: 0 }
    const contents = readLog(file, descriptions, (revision, key, size) => {
      if (keyInFormat2(key) === key) return
      revisions.push(revision)
      if (size < longBytes) return
      long.count++
      long.bytes += size
    })
    return { ...contents, outdated: { revisions, long } }
  },
  2: (file, descriptions) => ({ ...readLog(file, descriptions), outdated: undefined }),
}

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

function chooseReader(file: LmdbFile, descriptions: Descriptions): Reader {
  const description = descriptions.get('format')
  if (!file.has(logName) || !description) throw new FileProblem('ForeignFormat', 'it is an LMDB file of another application')
  const { name, version } = decodeMeta<Format>(description)
  if (name !== currentFormat.name) throw new FileProblem('ForeignFormat', `it says that it is ${name}`)
  const reader = readers[version]
  if (!reader) throw new NewerFormat(version)
  return reader
}

/** Reads the records of any format: they differ only in their keys. */
function readLog(
  file: LmdbFile,
  descriptions: Descriptions,
  onRecord?: (revision: number, key: string, size: number) => void,
): Omit<Contents, 'outdated'> {
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
    const head = decodeHead(bytes)
    state.recover(head)
    onRecord?.(revision, head.key, bytes.length)
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
