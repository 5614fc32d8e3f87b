/** Thrown for a file that is damaged or not a data file of ours. */
export class FileProblem extends Error {
  readonly why: 'Corrupt' | 'ForeignFormat'
  constructor(why: FileProblem['why'], message: string) {
    super(message)
    this.why = why
  }
}

// The layout of LMDB's data version 2 on a little-endian machine with 8-byte page numbers.
export const headerSize = 24
export const pageFlags = { branch: 1, leaf: 2, overflow: 4, meta: 8 }
const metaMagic = 0xbeefc0de
const metaSize = 152
const dataVersion = 2

/** The counts in the header of a tree, which the traversal must confirm. */
export interface Counts {
  branchPages: number
  leafPages: number
  overflowPages: number
  entries: number
}

export interface Tree {
  readonly root: number
  readonly depth: number
  readonly counts: Readonly<Counts>
}

/** The root page number of an empty tree: all bits set. */
export const noPage = 2 ** 64

/** One of the two headers: the state of the file after a transaction. */
export interface Meta {
  readonly pageSize: number
  readonly flags: number
  readonly mapSize: number
  readonly lastPage: number
  readonly transaction: number
  readonly free: Tree
  readonly main: Tree
}

/** Number of bytes at the start of the file that `readHeader` reads, if the file is that long. */
export const startSize = 0x10000

/** Returns the valid header with the newest transaction. Throws FileProblem. */
export function readHeader(start: Buffer, fileSize: number): Meta {
  if (start.length < headerSize + metaSize || start.readUInt32LE(headerSize) !== metaMagic) throw notLmdb(start)
  const version = start.readUInt16LE(headerSize + 4)
  if (version !== dataVersion) throw new FileProblem('ForeignFormat', `it is an LMDB file of data version ${version}`)
  const pageSize = start.readUInt32LE(headerSize + 24)
  const isPowerOfTwo = (pageSize & (pageSize - 1)) === 0
  if (!isPowerOfTwo || pageSize < 512 || pageSize > 0x8000) throw corrupt(`the page size is ${pageSize}`)
  if (start.length < 2 * pageSize) throw corrupt('it is shorter than its header')
  const first = readMetaPage(start.subarray(0, pageSize), 0)
  const second = readMetaPage(start.subarray(pageSize, 2 * pageSize), 1)
  if (first.pageSize !== second.pageSize || first.flags !== second.flags) throw corrupt('its two headers disagree')
  // Each transaction writes one of the two headers by its parity, so their numbers differ by 1; both are 0 in a new
  // file.
  if (Math.abs(first.transaction - second.transaction) > 1) throw corrupt('its two headers are not neighbours')
  const meta = first.transaction >= second.transaction ? first : second
  if (meta.lastPage < 1 || meta.mapSize > 2 ** 46) throw corrupt('its header gives impossible sizes')
  // The last pages may be missing if they are free, but only a limited number; the traversal finds the rest.
  if (meta.lastPage > 1024 + (fileSize / pageSize) * 64) throw corrupt('it is truncated')
  return meta
}

function readMetaPage(page: Buffer, index: number): Meta {
  const meta = page.subarray(headerSize)
  const isMeta = readNumber(page, 0) === index && page.readUInt16LE(18) === pageFlags.meta
  if (!isMeta || meta.readUInt32LE(0) !== metaMagic || meta.readUInt16LE(4) !== dataVersion) {
    throw corrupt('one of its headers is damaged')
  }
  const transaction = readNumber(meta, 128)
  if (transaction > 0 && transaction % 2 !== index) throw corrupt('one of its headers is damaged')
  return {
    mapSize: readNumber(meta, 16),
    pageSize: meta.readUInt32LE(24),
    flags: meta.readUInt16LE(28),
    free: readTree(meta, 24),
    main: readTree(meta, 72),
    lastPage: readNumber(meta, 120),
    transaction,
  }
}

/** Reads the description of a tree from a header or an entry. */
export function readTree(bytes: Buffer, at: number): Tree {
  return {
    root: readNumber(bytes, at + 40),
    depth: bytes.readUInt16LE(at + 6),
    counts: {
      branchPages: readNumber(bytes, at + 8),
      leafPages: readNumber(bytes, at + 16),
      overflowPages: readNumber(bytes, at + 24),
      entries: readNumber(bytes, at + 32),
    },
  }
}

/** Reads a 64-bit number. Precision is lost only for values that are invalid anyway. */
export function readNumber(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 2 ** 32
}

/** Returns the error for a damaged file. */
export function corrupt(what: string): FileProblem {
  return new FileProblem('Corrupt', what)
}

// File formats that a user might have put here by mistake. Any other file without our mark counts as damaged.
const otherFormats: [name: string, isIt: (start: Buffer) => boolean][] = [
  ['an SQLite database', (start) => start.toString('latin1', 0, 15) === 'SQLite format 3'],
  ['a bbolt (etcd) database', (start) => start.length >= 20 && start.readUInt32LE(16) === 0xed0cdaed],
  ['an LMDB file of data version 1', (start) => start.length >= 24 && start.readUInt32LE(16) === metaMagic],
  ['an LMDB file of another byte order', (start) => start.length >= 28 && start.readUInt32BE(24) === metaMagic],
  ['a gzip archive', (start) => start.length >= 2 && start.readUInt16BE(0) === 0x1f8b],
  ['a zip archive', (start) => start.toString('latin1', 0, 4) === 'PK\x03\x04'],
  ['a text file', (start) => start.length > 0 && /^[\t\n\r\x20-\x7e]+$/.test(start.toString('latin1', 0, 512))],
]

function notLmdb(start: Buffer): FileProblem {
  const format = otherFormats.find(([, isIt]) => isIt(start))
  if (format) return new FileProblem('ForeignFormat', `it is ${format[0]}`)
  return corrupt(start.length < headerSize + metaSize ? 'it is shorter than its header' : 'its header is damaged')
}
