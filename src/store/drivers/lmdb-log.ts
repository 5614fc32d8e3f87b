import { statSync } from 'node:fs'
import type { Database, RootDatabase } from 'lmdb'
import { nextTurn } from '../../base/turns.ts'
import { decodeHead, decodeValue, encodeRecord, encodedSize } from '../record-codec.ts'
import { LogBroken } from '../record-log.ts'
import type { Commit, LogRecord, RecordLog } from '../record-log.ts'
import type { FileReserve } from './file-reserve.ts'
import { encodeMeta, encodeRevision } from './lmdb-format.ts'
import type { RecordPlaces } from './record-places.ts'

export interface Databases {
  root: RootDatabase
  log: Database<Buffer, Buffer>
  meta: Database<Buffer, Buffer>
}

/** The statistics of lmdb that we use. */
export interface LmdbStats {
  pageSize: number
  lastPageNumber: number
  treeDepth: number
  treeLeafPageCount: number
  treeBranchPageCount: number
}

const initialArena = 1 << 18
const largestKeptArena = 1 << 22

/** Values stay in the file: whoever serves them has every current one in memory already, and need not have it twice. */
export class LmdbLog implements RecordLog {
  #path: string
  #databases: Databases
  #places: RecordPlaces
  #reserve: FileReserve
  #unlock: () => Promise<void>
  #key = Buffer.allocUnsafeSlow(8)
  /** Records are encoded here for the time of a commit. */
  #arena = Buffer.allocUnsafeSlow(initialArena)
  /** LMDB uses no more of the file than this. Rises with what commits may take at most, until it is looked up. */
  #usedBytes = Infinity
  #broken: LogBroken | undefined
  #closed = false

  constructor(path: string, databases: Databases, places: RecordPlaces, reserve: FileReserve, unlock: () => Promise<void>) {
    this.#path = path
    this.#databases = databases
    this.#places = places
    this.#reserve = reserve
    this.#unlock = unlock
    places.open(path)
  }

  async commit(commit: Commit): Promise<void> {
    // LMDB's transactions cannot begin after a fatal error, and lmdb never answers a write whose transaction did not.
    if (this.#broken) throw this.#broken
    const reserved = await this.#reserveFor(commit)
    try {
      await this.#databases.log.batch(() => this.#put(commit, reserved))
    } catch (error) {
      this.#broken = new LogBroken(await commitError(error))
      throw this.#broken
    }
  }

  record(revision: number): LogRecord | undefined {
    const bytes = this.#read(revision)
    return bytes && { ...decodeHead(bytes), value: decodeValue(bytes) }
  }

  yield(): Promise<void> {
    return nextTurn()
  }

  size(): number {
    return statSync(this.#path).size
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#places.close()
    await this.#databases.root.close()
    await this.#unlock()
  }

  #read(revision: number): Buffer | undefined {
    if (this.#closed) return undefined
    return this.#places.read(revision) ?? this.#databases.log.getBinary(encodeRevision(revision, this.#key))
  }

  /** Nothing here is waited for: lmdb makes one transaction of it. */
  #put({ records, removed, compacted }: Commit, reserved: number | undefined): void {
    const { log, meta } = this.#databases
    const arena = this.#makeRoom(records)
    let start = 0
    for (const record of records) {
      const end = encodeRecord(record, arena, start)
      void log.put(encodeRevision(record.revision, this.#key), arena.subarray(start, end))
      start = end
    }
    for (const revision of removed) void log.remove(encodeRevision(revision, this.#key))
    if (compacted) void meta.put(Buffer.from('compacted'), encodeMeta(compacted))
    if (reserved !== undefined) void meta.put(Buffer.from('reserved'), encodeMeta({ bytes: reserved }))
  }

  #makeRoom(records: readonly LogRecord[]): Buffer {
    let size = 0
    for (const record of records) size += encodedSize(record)
    // What one huge commit needed is not kept.
    if (size > this.#arena.length) this.#arena = Buffer.allocUnsafeSlow(size)
    else if (this.#arena.length > largestKeptArena && size <= initialArena) this.#arena = Buffer.allocUnsafeSlow(initialArena)
    return this.#arena
  }

  /** Rejects if the disk is too full for the commit. Returns the new length of the file if it had to grow. */
  async #reserveFor(commit: Commit): Promise<number | undefined> {
    this.#usedBytes += mostBytes(commit, 4096, Infinity)
    if (this.#usedBytes <= this.#reserve.bytes) return undefined
    const stats = this.#databases.log.getStats() as LmdbStats
    const { pageSize, lastPageNumber, treeLeafPageCount, treeBranchPageCount } = stats
    this.#usedBytes = (lastPageNumber + 1) * pageSize + mostBytes(commit, pageSize, treeLeafPageCount + treeBranchPageCount)
    if (this.#usedBytes <= this.#reserve.bytes) return undefined
    await this.#reserve.grow(this.#usedBytes)
    return this.#reserve.bytes
  }
}

/** What LMDB may append to the file for a commit at most, if it finds no free pages. */
function mostBytes({ records, removed }: Commit, pageSize: number, treePages: number): number {
  // The paths to what is changed are copied, the meta database's too, and so is the list of free pages.
  let pages = 32 + Math.min(2 * removed.length, treePages) + removed.length / 256
  // A record takes pages of its own or a part of one, and now and then splits one.
  for (const record of records) pages += encodedSize(record) / pageSize + 2
  return Math.ceil(pages) * pageSize
}

/** lmdb hides why a commit failed behind a second promise. */
async function commitError(error: unknown): Promise<Error> {
  try {
    await (error as { commitError?: Promise<never> }).commitError
  } catch (why) {
    return why as Error
  }
  return error as Error
}
