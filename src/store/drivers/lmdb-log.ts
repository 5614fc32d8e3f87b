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

/** The statistics of lmdb that this driver reads. */
export interface LmdbStats {
  pageSize: number
  lastPageNumber: number
  treeDepth: number
  treeLeafPageCount: number
  treeBranchPageCount: number
}

const initialArena = 1 << 18
const largestKeptArena = 1 << 22

/**
 * A log in an LMDB file. Values stay in the file: the server that reads them already keeps every current one in memory.
 */
export class LmdbLog implements RecordLog {
  #path: string
  #databases: Databases
  #places: RecordPlaces
  #reserve: FileReserve
  #unlock: () => Promise<void>
  #key = Buffer.allocUnsafeSlow(8)
  /** Buffer that records are encoded into during a commit. */
  #arena = Buffer.allocUnsafeSlow(initialArena)
  /** Upper bound of the used part of the file. Grows by the maximum size of each commit until it is read again. */
  #usedBytes = Infinity
  #broken: LogBroken | undefined
  #closed = false

  constructor(
    path: string,
    databases: Databases,
    places: RecordPlaces,
    reserve: FileReserve,
    unlock: () => Promise<void>,
  ) {
    this.#path = path
    this.#databases = databases
    this.#places = places
    this.#reserve = reserve
    this.#unlock = unlock
    places.open(path)
  }

  async commit(commit: Commit): Promise<void> {
    // After a fatal error LMDB cannot begin a transaction, and lmdb never settles the write.
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

  /** Queues the writes of a commit. lmdb makes one transaction of them, so nothing is awaited here. */
  #put({ records, removed, compacted }: Commit, reserved: number | undefined): void {
    const { log, meta } = this.#databases
    const arena = this.#makeRoom(records)
    let start = 0
    for (const record of records) {
      const end = encodeRecord(record, arena, start)
      void log.put(encodeRevision(record.revision, this.#key), arena.subarray(start, end))
      start = end
    }
    if (removed.length > 0) this.#places.changed()
    for (const revision of removed) void log.remove(encodeRevision(revision, this.#key))
    if (compacted) void meta.put(Buffer.from('compacted'), encodeMeta(compacted))
    if (reserved !== undefined) void meta.put(Buffer.from('reserved'), encodeMeta({ bytes: reserved }))
  }

  #makeRoom(records: readonly LogRecord[]): Buffer {
    let size = 0
    for (const record of records) size += encodedSize(record)
    // A buffer that a huge commit needed is not kept.
    if (size > this.#arena.length) this.#arena = Buffer.allocUnsafeSlow(size)
    else if (this.#arena.length > largestKeptArena && size <= initialArena)
      this.#arena = Buffer.allocUnsafeSlow(initialArena)
    return this.#arena
  }

  /** Allocates space for a commit; rejects if the disk is full. Returns the new length of the file if it grew. */
  async #reserveFor(commit: Commit): Promise<number | undefined> {
    this.#usedBytes += mostBytes(commit, 4096, Infinity)
    if (this.#usedBytes <= this.#reserve.bytes) return undefined
    const stats = this.#databases.log.getStats() as LmdbStats
    const { pageSize, lastPageNumber, treeLeafPageCount, treeBranchPageCount } = stats
    this.#usedBytes =
      (lastPageNumber + 1) * pageSize + mostBytes(commit, pageSize, treeLeafPageCount + treeBranchPageCount)
    if (this.#usedBytes <= this.#reserve.bytes) return undefined
    await this.#reserve.grow(this.#usedBytes).catch((error: unknown) => {
      throw explainNoRoom(error as NodeJS.ErrnoException, this.#path)
    })
    return this.#reserve.bytes
  }
}

function explainNoRoom(error: NodeJS.ErrnoException, path: string): Error {
  const { code, message } = error
  if (code === 'ENOSPC') return new Error(`the disk of ${path} is full: free some space (${message})`, { cause: error })
  if (code === 'EDQUOT')
    return new Error(`the disk quota of the owner of ${path} is used up: raise it, or free some space (${message})`, {
      cause: error,
    })
  return error
}

/** Returns the maximum number of bytes that LMDB may append for a commit, if it finds no free pages. */
function mostBytes({ records, removed }: Commit, pageSize: number, treePages: number): number {
  // The paths to the changed records are copied, as are the paths of the meta database and the list of free pages.
  let pages = 32 + Math.min(2 * removed.length, treePages) + removed.length / 256
  // A record takes its own pages or a part of one, and sometimes splits one.
  for (const record of records) pages += encodedSize(record) / pageSize + 2
  return Math.ceil(pages) * pageSize
}

/** Returns the cause of a failed commit, which lmdb puts into a second promise. */
async function commitError(error: unknown): Promise<Error> {
  try {
    await (error as { commitError?: Promise<never> }).commitError
  } catch (why) {
    return why as Error
  }
  return error as Error
}
