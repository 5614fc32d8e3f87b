import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** What is wrong with a file: it was damaged, or it is not what we write. */
export class FileProblem extends Error {
  readonly why: 'Corrupt' | 'ForeignFormat'
  constructor(why: FileProblem['why'], message: string) {
    super(message)
    this.why = why
  }
}

// The layout of LMDB's data version 2 on a little-endian machine with 8-byte page numbers.
const headerSize = 24
const metaMagic = 0xbeefc0de
const dataVersion = 2
const metaSize = 152
const noPage = 2 ** 64 // an empty tree's root is all ones
const pageFlags = { branch: 1, leaf: 2, overflow: 4, meta: 8 }
const nodeFlags = { bigData: 1, subDatabase: 2 }
const maxDepth = 32

/** What a tree says of itself, and what walking it must find. */
interface Counts {
  branchPages: number
  leafPages: number
  overflowPages: number
  entries: number
}

interface Tree {
  readonly root: number
  readonly depth: number
  readonly counts: Readonly<Counts>
}

interface Meta {
  readonly pageSize: number
  readonly flags: number
  readonly mapSize: number
  readonly lastPage: number
  readonly transaction: number
  readonly free: Tree
  readonly main: Tree
}

/** An entry of a tree. The buffers are only lent. */
export interface Entry {
  readonly key: Buffer
  readonly value: Buffer
  /** Where the value begins in the file if it has pages of its own, which LMDB never moves; otherwise undefined. */
  readonly position: number | undefined
  readonly isDatabase: boolean
}

type Visit = (entry: Entry) => void

// One read of this size costs little more than one of a page, and values that were written in order lie in order.
const windowSize = 1 << 18

/**
 * Reads an LMDB file without LMDB, which maps the file and follows its page numbers: on a damaged or truncated file that
 * ends the process. Every page that can be reached is checked on the way. Reading, not mapping, also keeps the values
 * out of the process's resident memory. Nobody may write to the file meanwhile.
 */
export class LmdbFile {
  #file: number
  #size: number
  #meta: Meta
  #seen: Uint8Array
  #databases = new Map<string, Tree>()
  /** Pages that LMDB will write to next. */
  #free: { first: number; count: number }[] = []
  #window = Buffer.allocUnsafeSlow(windowSize)
  #windowStart = 0
  #windowEnd = 0

  /** Throws FileProblem if the frame of the file is not sound. */
  constructor(path: string) {
    this.#file = openSync(path, 'r')
    try {
      this.#size = fstatSync(this.#file).size
      this.#meta = this.#readMeta()
      this.#seen = new Uint8Array(this.#meta.lastPage + 1)
      this.#walk(this.#meta.free, ({ value }) => this.#free.push(...freePages(value)))
      this.#walk(this.#meta.main, ({ key, value, isDatabase }) => {
        if (isDatabase) this.#databases.set(databaseName(key), readTree(value, 0))
      })
    } catch (error) {
      closeSync(this.#file)
      throw error
    }
  }

  get size(): number {
    return this.#size
  }

  /** Whether there is a database of that name. */
  has(database: string): boolean {
    return this.#databases.has(database)
  }

  /** Visits the entries of a database in order; throws FileProblem as soon as something is wrong. Only once each. */
  visit(database: string, visit: Visit): void {
    const tree = this.#databases.get(database)
    if (tree) this.#walk(tree, visit)
  }

  /** Throws FileProblem if LMDB would write over something. Every database must have been visited. */
  checkFreePages(): void {
    for (const { first, count } of this.#free) this.#claim(first, count)
  }

  close(): void {
    closeSync(this.#file)
  }

  #readMeta(): Meta {
    const page = this.#read(0, Math.min(this.#size, 0x10000), Buffer.allocUnsafeSlow(0x10000))
    if (page.length < headerSize + metaSize || page.readUInt32LE(headerSize) !== metaMagic) throw notLmdb(page)
    const version = page.readUInt16LE(headerSize + 4)
    if (version !== dataVersion) throw new FileProblem('ForeignFormat', `it is an LMDB file of data version ${version}`)
    const pageSize = page.readUInt32LE(headerSize + 24)
    const isPowerOfTwo = (pageSize & (pageSize - 1)) === 0
    if (!isPowerOfTwo || pageSize < 512 || pageSize > 0x8000) throw corrupt(`the page size is ${pageSize}`)
    if (page.length < 2 * pageSize) throw corrupt('it is shorter than its header')
    const metas = [0, 1].map((index) => readMetaPage(page.subarray(index * pageSize, (index + 1) * pageSize), index))
    const [first, second] = metas as [Meta, Meta]
    if (first.pageSize !== second.pageSize || first.flags !== second.flags) throw corrupt('its two headers disagree')
    // A transaction writes the header of its own parity, so the two are always neighbours; a new file has 0 and 0.
    if (Math.abs(first.transaction - second.transaction) > 1) throw corrupt('its two headers are not neighbours')
    const meta = first.transaction >= second.transaction ? first : second
    if (meta.lastPage < 1 || meta.mapSize > 2 ** 46) throw corrupt('its header gives impossible sizes')
    // The last pages may be missing if they are free, but not so many; the rest is found out by walking.
    if (meta.lastPage > 1024 + (this.#size / pageSize) * 64) throw corrupt('it is truncated')
    return meta
  }

  #walk(tree: Tree, visit: Visit): void {
    const counted: Counts = { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 }
    if (tree.root !== noPage) {
      if (tree.depth < 1 || tree.depth > maxDepth) throw corrupt(`a tree is ${tree.depth} levels deep`)
      this.#walkPage(tree.root, tree.depth, counted, visit)
    }
    for (const name of Object.keys(counted) as (keyof Counts)[]) {
      if (counted[name] !== tree.counts[name]) throw corrupt(`a tree has ${counted[name]} ${name} instead of ${tree.counts[name]}`)
    }
  }

  #walkPage(number: number, depth: number, counted: Counts, visit: Visit): void {
    this.#claim(number, 1)
    const { pageSize } = this.#meta
    const page = this.#read(number * pageSize, pageSize, Buffer.allocUnsafeSlow(pageSize))
    const isLeaf = depth === 1
    const nodes = this.#checkPage(page, number, isLeaf ? pageFlags.leaf : pageFlags.branch)
    counted[isLeaf ? 'leafPages' : 'branchPages']++
    for (let index = 0; index < nodes; index++) {
      const node = headerSize + page.readUInt16LE(headerSize + 2 * index)
      if (node + 8 > pageSize) throw corrupt(`page ${number} points behind its end`)
      const keyEnd = node + 8 + page.readUInt16LE(node + 6)
      if (keyEnd > pageSize) throw corrupt(`a key on page ${number} is too long`)
      if (!isLeaf) {
        this.#walkPage(page.readUIntLE(node, 6), depth - 1, counted, visit)
        continue
      }
      counted.entries++
      const key = page.subarray(node + 8, keyEnd)
      const size = page.readUInt32LE(node)
      const flags = page.readUInt16LE(node + 4)
      if (flags === nodeFlags.bigData) {
        if (keyEnd + 24 > pageSize) throw corrupt(`page ${number} points behind its end`)
        const first = readNumber(page, keyEnd)
        const pages = Math.ceil((headerSize + size) / pageSize)
        if (pages !== readNumber(page, keyEnd + 16)) throw corrupt(`a value on page ${number} has a wrong size`)
        counted.overflowPages += pages
        const value = this.#readOverflow(first, pages, size)
        visit({ key, value, position: first * pageSize + headerSize, isDatabase: false })
        continue
      }
      const isDatabase = flags === nodeFlags.subDatabase
      if (flags !== 0 && !isDatabase) throw corrupt(`page ${number} has a node of kind ${flags}`)
      if (keyEnd + size > pageSize || (isDatabase && size !== 48)) throw corrupt(`a value on page ${number} has a wrong size`)
      visit({ key, value: page.subarray(keyEnd, keyEnd + size), position: undefined, isDatabase })
    }
  }

  /** Returns the number of nodes. */
  #checkPage(page: Buffer, number: number, flags: number): number {
    if (readNumber(page, 0) !== number || readNumber(page, 8) > this.#meta.transaction || page.readUInt16LE(18) !== flags) {
      throw corrupt(`page ${number} is not what it should be`)
    }
    if (flags === pageFlags.overflow) return 0
    const lower = page.readUInt16LE(20)
    const upper = page.readUInt16LE(22)
    if (lower > upper || upper > page.length - headerSize || lower < 2) throw corrupt(`page ${number} has impossible bounds`)
    return lower >>> 1
  }

  #readOverflow(number: number, pages: number, size: number): Buffer {
    this.#claim(number, pages)
    const bytes = this.#readAhead(number * this.#meta.pageSize, headerSize + size)
    this.#checkPage(bytes, number, pageFlags.overflow)
    return bytes.subarray(headerSize)
  }

  #readAhead(position: number, size: number): Buffer {
    if (position + size > this.#size) throw corrupt('it is truncated')
    const isWithin = position >= this.#windowStart && position + size <= this.#windowEnd
    if (!isWithin) {
      if (size > windowSize) return this.#read(position, size, Buffer.allocUnsafeSlow(size))
      // Reading far ahead in a file whose values are scattered would read most of it many times.
      const isNear = position >= this.#windowEnd && position - this.#windowEnd < windowSize
      const wanted = isNear ? Math.min(windowSize, this.#size - position) : size
      this.#read(position, wanted, this.#window)
      this.#windowStart = position
      this.#windowEnd = position + wanted
    }
    const start = position - this.#windowStart
    return this.#window.subarray(start, start + size)
  }

  /** A page belongs to one place only: anything else is damage, or a circle. */
  #claim(number: number, pages: number): void {
    const end = number + pages
    if (!(number >= 2) || end > this.#meta.lastPage + 1) throw corrupt(`there is no page ${number}`)
    for (let page = number; page < end; page++) {
      if (this.#seen[page]) throw corrupt(`page ${page} is used twice`)
      this.#seen[page] = 1
    }
  }

  #read(position: number, size: number, target: Buffer): Buffer {
    let read = 0
    while (read < size) {
      const got = readSync(this.#file, target, read, size - read, position + read)
      if (got === 0) throw corrupt('it is truncated')
      read += got
    }
    return target.subarray(0, size)
  }
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

function readTree(bytes: Buffer, at: number): Tree {
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

/** A list of free pages: how many numbers follow, and these. A negative one is how many pages the next one stands for. */
function freePages(list: Buffer): { first: number; count: number }[] {
  const length = readNumber(list, 0)
  if (list.length < 8 || (length + 1) * 8 > list.length) throw corrupt('a list of free pages is too short')
  const pages: { first: number; count: number }[] = []
  let count = 1
  for (let at = 8; at <= length * 8; at += 8) {
    const number = list.readUInt32LE(at) + list.readInt32LE(at + 4) * 2 ** 32
    if (number < 0) count = -number
    else if (number > 0) {
      pages.push({ first: number, count })
      count = 1
    }
  }
  return pages
}

/** Loses precision only where any such number is too large anyway. */
function readNumber(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 2 ** 32
}

/** lmdb ends names with a zero byte. */
function databaseName(key: Buffer): string {
  return key.toString('utf8').replace(/\0$/, '')
}

function corrupt(what: string): FileProblem {
  return new FileProblem('Corrupt', what)
}

// What people might have put in the place of our file by mistake; anything else without our mark is taken for damage.
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
