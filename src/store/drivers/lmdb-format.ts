import { crc32 } from 'node:zlib'
import { LogState } from '../log-state.ts'
import { decodeHead, isIntact } from '../record-codec.ts'
import type { Compacted } from '../record-log.ts'
import { LmdbFile } from './lmdb-file.ts'
import { FileProblem } from './lmdb-header.ts'
import { RecordPlaces } from './record-places.ts'

// The file has two databases. log: revision (8 bytes, big-endian) → record. meta: name → crc32 of the rest, JSON.
export const logName = 'log'
export const metaName = 'meta'

/** The first entry of the meta database. It identifies the file and its format. */
export interface Format {
  name: 'coxswain-store'
  version: number
}

export const currentFormat: Format = { name: 'coxswain-store', version: 2 }

/** Thrown for a format of a later release. */
export class NewerFormat extends Error {
  readonly version: number
  constructor(version: number) {
    super(`format ${version}`)
    this.version = version
  }
}

/** Writes the key of a revision in the log into `key`. */
export function encodeRevision(revision: number, key: Buffer): Buffer {
  key.writeUInt32BE(Math.floor(revision / 2 ** 32), 0)
  key.writeUInt32BE(revision % 2 ** 32, 4)
  return key
}

/** The minimum length of the file. A shorter file has lost data. */
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
 * Key prefixes that differ between formats 1 and 2. Format 1 stored every kind under its plural name; format 2 uses the
 * keys of Kubernetes in etcd. All other kinds have the same keys in both formats. This table never changes.
 */
const renamed: readonly (readonly [inFormat1: string, inFormat2: string])[] = [
  ['/registry/clonesets/', '/registry/apps.kruise.io/clonesets/'],
  ['/registry/endpoints/', '/registry/services/endpoints/'],
  ['/registry/ingresses/', '/registry/ingress/'],
  ['/registry/nodes/', '/registry/minions/'],
  ['/registry/replicationcontrollers/', '/registry/controllers/'],
  ['/registry/services/', '/registry/services/specs/'],
]

/** Converts a key of format 1 to format 2. */
export function keyInFormat2(key: string): string {
  const found = renamed.find(([inFormat1]) => key.startsWith(inFormat1))
  return found ? found[1] + key.slice(found[0].length) : key
}

/** Records whose keys differ in the current format. */
export interface Outdated {
  readonly revisions: readonly number[]
  /** Number and size of the records that LMDB may store in their own pages. */
  readonly long: { readonly count: number; readonly bytes: number }
}

/** LMDB stores a record in its own pages if two of them do not fit into one page; a key may become 15 bytes longer. */
const longBytes = 1900

/** The contents of a file. */
export interface Contents {
  readonly state: LogState
  /** File offsets of all records, or only of those that LMDB never moves. */
  readonly places: RecordPlaces
  /** Set for a file of an older format, which must be converted before use. */
  readonly outdated: Outdated | undefined
}

type Descriptions = ReadonlyMap<string, Buffer>

interface ReadOptions {
  /** Keep the offsets of all records. They are valid until the file is written to. */
  readonly allPlaces?: boolean
}

type Reader = (file: LmdbFile, descriptions: Descriptions, options: ReadOptions) => Contents

/** Readers of all released formats. */
const readers: Readonly<Record<number, Reader>> = {
  1(file, descriptions, options) {
    const revisions: number[] = []
    const long = { count: 0, bytes: 0 }
    const contents = readLog(file, descriptions, options, (revision, key, size) => {
      if (keyInFormat2(key) === key) return
      revisions.push(revision)
      if (size < longBytes) return
      long.count++
      long.bytes += size
    })
    return { ...contents, outdated: { revisions, long } }
  },
  2: (file, descriptions, options) => ({ ...readLog(file, descriptions, options), outdated: undefined }),
}

/** Reads and checks the whole file without LMDB and without changing it. Throws FileProblem or NewerFormat. */
export function readContents(path: string, options: ReadOptions = {}): Contents {
  try {
    return readFile(path, options)
  } catch (e) {
    throw isBeyondBuffer(e) ? new FileProblem('Corrupt', 'a length in it is impossible') : e
  }
}

function readFile(path: string, options: ReadOptions): Contents {
  const file = new LmdbFile(path)
  try {
    const descriptions = new Map<string, Buffer>()
    file.visit(metaName, ({ key, value }) => descriptions.set(key.toString('latin1'), Buffer.from(value)))
    const contents = chooseReader(file, descriptions)(file, descriptions, options)
    file.checkFreePages()
    return contents
  } finally {
    file.close()
  }
}

/** Returns true for Node's error for a read beyond the end of a buffer, which a damaged length or offset causes. */
const isBeyondBuffer = (e: unknown): boolean =>
  e instanceof RangeError &&
  ['ERR_BUFFER_OUT_OF_BOUNDS', 'ERR_OUT_OF_RANGE'].includes((e as NodeJS.ErrnoException).code ?? '')

function chooseReader(file: LmdbFile, descriptions: Descriptions): Reader {
  const description = descriptions.get('format')
  if (!file.has(logName) || !description)
    throw new FileProblem('ForeignFormat', 'it is an LMDB file of another application, or damaged')
  const { name, version } = decodeMeta<Format>(description)
  if (name !== currentFormat.name) throw new FileProblem('ForeignFormat', `it identifies itself as ${name}`)
  const reader = readers[version]
  if (!reader) throw new NewerFormat(version)
  return reader
}

/** Reads the records. Formats differ only in their keys. */
function readLog(
  file: LmdbFile,
  descriptions: Descriptions,
  { allPlaces = false }: ReadOptions,
  onRecord?: (revision: number, key: string, size: number) => void,
): Omit<Contents, 'outdated'> {
  const reserved = descriptions.get('reserved')
  if (reserved && file.size < decodeMeta<Reserved>(reserved).bytes) throw new FileProblem('Corrupt', 'it is truncated')
  const compacted = descriptions.get('compacted')
  const state = new LogState(compacted && decodeMeta<Compacted>(compacted))
  const places = new RecordPlaces()
  let last = 0
  file.visit(logName, ({ key, value: bytes, position, isFixed }) => {
    const revision = key.length === 8 ? key.readUInt32BE(0) * 2 ** 32 + key.readUInt32BE(4) : 0
    // Compaction leaves gaps; after the compacted revision there must be none.
    const isForgotten = revision <= state.compactedRevision
    const isNext = isForgotten ? revision > last : revision === Math.max(last, state.compactedRevision) + 1
    if (!isNext) throw new FileProblem('Corrupt', `revision ${revision} follows revision ${last}`)
    if (!isIntact(bytes, revision)) throw new FileProblem('Corrupt', `revision ${revision} does not match its checksum`)
    const head = decodeHead(bytes)
    state.recover(head)
    onRecord?.(revision, head.key, bytes.length)
    if (isFixed || allPlaces) places.add(revision, position, bytes.length)
    last = revision
  })
  return { state, places }
}

function decodeMeta<T>(bytes: Buffer): T {
  const json = bytes.subarray(4)
  if (bytes.length < 4 || bytes.readUInt32LE(0) !== crc32(json))
    throw new FileProblem('Corrupt', 'its description is damaged')
  return JSON.parse(json.toString()) as T
}
