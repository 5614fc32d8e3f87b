import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { corrupt, headerSize, noPage, pageFlags, readHeader, readNumber, readTree, startSize } from './lmdb-header.ts'
import type { Counts, Meta, Tree } from './lmdb-header.ts'

const nodeFlags = { bigData: 1, subDatabase: 2 }
const maxDepth = 32

/** An entry of a tree. The buffers are valid only during the call. */
interface Entry {
  readonly key: Buffer
  readonly value: Buffer
  /** The offset of the value in the file. */
  readonly position: number
  /** True if the value has its own pages, which LMDB never moves. */
  readonly isFixed: boolean
  readonly isDatabase: boolean
}

type Visit = (entry: Entry) => void

// One read of this size costs little more than a read of one page, and values that were written in order are stored in
// order.
const windowSize = 1 << 18

/**
 * Reads an LMDB file without LMDB. LMDB maps the file and follows its page numbers, so a damaged or truncated file
 * crashes the process. This reader checks every reachable page. Reading instead of mapping also keeps the values out of
 * the resident memory of the process. No process may write to the file during the read.
 */
export class LmdbFile {
  #file: number
  #size: number
  #meta: Meta
  #seen: Uint8Array
  #databases = new Map<string, Tree>()
  /** Free pages, which LMDB reuses. */
  #free: { first: number; count: number }[] = []
  #window = Buffer.allocUnsafeSlow(windowSize)
  #windowStart = 0
  #windowEnd = 0

  /** Throws FileProblem if the headers of the file are invalid. */
  constructor(path: string) {
    this.#file = openSync(path, 'r')
    try {
      this.#size = fstatSync(this.#file).size
      const start = this.#read(0, Math.min(this.#size, startSize), Buffer.allocUnsafeSlow(startSize))
      this.#meta = readHeader(start, this.#size)
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

  /** Returns true if a database of that name exists. */
  has(database: string): boolean {
    return this.#databases.has(database)
  }

  /**
   * Visits the entries of a database in order. Throws FileProblem at the first defect. Each database can be visited
   * once.
   */
  visit(database: string, visit: Visit): void {
    const tree = this.#databases.get(database)
    if (tree) this.#walk(tree, visit)
  }

  /** Throws FileProblem if a free page is in use. Every database must have been visited. */
  checkFreePages(): void {
    for (const { first, count } of this.#free) this.#claim(first, count)
  }

  close(): void {
    closeSync(this.#file)
  }

  #walk(tree: Tree, visit: Visit): void {
    const counted: Counts = { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 }
    if (tree.root !== noPage) {
      if (tree.depth < 1 || tree.depth > maxDepth) throw corrupt(`a tree is ${tree.depth} levels deep`)
      this.#walkPage(tree.root, tree.depth, counted, visit)
    }
    for (const name of Object.keys(counted) as (keyof Counts)[]) {
      if (counted[name] !== tree.counts[name])
        throw corrupt(`a tree has ${counted[name]} ${name} instead of ${tree.counts[name]}`)
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
        visit({ key, value, position: first * pageSize + headerSize, isFixed: true, isDatabase: false })
        continue
      }
      const isDatabase = flags === nodeFlags.subDatabase
      if (flags !== 0 && !isDatabase) throw corrupt(`page ${number} has a node of kind ${flags}`)
      if (keyEnd + size > pageSize || (isDatabase && size !== 48))
        throw corrupt(`a value on page ${number} has a wrong size`)
      const value = page.subarray(keyEnd, keyEnd + size)
      visit({ key, value, position: number * pageSize + keyEnd, isFixed: false, isDatabase })
    }
  }

  /** Returns the number of nodes. */
  #checkPage(page: Buffer, number: number, flags: number): number {
    if (
      readNumber(page, 0) !== number ||
      readNumber(page, 8) > this.#meta.transaction ||
      page.readUInt16LE(18) !== flags
    ) {
      throw corrupt(`page ${number} is not what it should be`)
    }
    if (flags === pageFlags.overflow) return 0
    const lower = page.readUInt16LE(20)
    const upper = page.readUInt16LE(22)
    if (lower > upper || upper > page.length - headerSize || lower < 2)
      throw corrupt(`page ${number} has impossible bounds`)
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
      // Reading ahead in a file with scattered values would read most of the file many times.
      const isNear = position >= this.#windowEnd && position - this.#windowEnd < windowSize
      const wanted = isNear ? Math.min(windowSize, this.#size - position) : size
      this.#read(position, wanted, this.#window)
      this.#windowStart = position
      this.#windowEnd = position + wanted
    }
    const start = position - this.#windowStart
    return this.#window.subarray(start, start + size)
  }

  /** Marks pages as visited. A page that is reached twice means damage or a cycle. */
  #claim(number: number, pages: number): void {
    const end = number + pages
    if (!(number >= 2) || end > this.#meta.lastPage + 1) throw corrupt(`page ${number} does not exist`)
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

/**
 * Reads a list of free pages: a count, and then the page numbers. A negative number is the length of the run that
 * starts at the next number.
 */
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

/** lmdb terminates names with a zero byte. */
function databaseName(key: Buffer): string {
  return key.toString('utf8').replace(/\0$/, '')
}
