import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../base/clock.ts'
import type { Clock } from '../../base/clock.ts'
import { renameDurably } from '../../base/durable-files.ts'
import { LogStore } from '../log-store.ts'
import { StoreOpenError } from '../store.ts'
import type { Store } from '../store.ts'
import { ownDataDirectory } from './directory-lock.ts'
import { FileReserve } from './file-reserve.ts'
import { NotConverted, convertFile } from './lmdb-conversion.ts'
import { NewerFormat, currentFormat, encodeMeta, logName, metaName, readContents } from './lmdb-format.ts'
import type { Contents } from './lmdb-format.ts'
import { FileProblem } from './lmdb-header.ts'
import { LmdbLog } from './lmdb-log.ts'
import type { Databases } from './lmdb-log.ts'
import { makeMemoryDirectory, removeLockFile, renewLockFile } from './memory-files.ts'

export interface LmdbStoreOptions {
  /** The directory of one store. Created if it does not exist. */
  dir: string
  clock?: Clock
  /** Called after data of an older format was converted. */
  onConverted?: (() => void) | undefined
}

/** The path of the data file in a store's directory. */
export const dataFile = (dir: string): string => join(dir, 'data.mdb')

/** Opens or creates the store in a directory. Rejects with StoreOpenError, and then nothing was changed. */
export async function openLmdbStore({ dir, clock = systemClock, onConverted }: LmdbStoreOptions): Promise<Store> {
  const path = dataFile(dir)
  let unlock: (() => Promise<void>) | undefined
  try {
    unlock = await ownDataDirectory(dir)
    if (!existsSync(path)) await createFile(path)
    const { state, places } = await readConverted(path, onConverted)
    const databases = await openDatabases(path)
    const log = new LmdbLog(path, databases, places, await FileReserve.of(path), unlock)
    return new LogStore(log, state, clock)
  } catch (error) {
    await unlock?.()
    throw explainOpenError(error, dir)
  }
}

/** Reads the file. A file of an older release is converted first. */
async function readConverted(path: string, onConverted: LmdbStoreOptions['onConverted']): Promise<Contents> {
  const contents = readContents(path)
  const { outdated } = contents
  if (!outdated) return contents
  const databases = await openDatabases(path)
  try {
    await convertFile(path, databases, { ...contents, outdated })
  } finally {
    await databases.root.close()
  }
  onConverted?.()
  return readContents(path)
}

/** Converts an error to a StoreOpenError that names the directory, the reason and a remedy, if the reason is known. */
export function explainOpenError(error: unknown, dir: string): unknown {
  const path = dataFile(dir)
  if (error instanceof NewerFormat) {
    const formats = `format ${error.version}; this one reads ${currentFormat.version}`
    const help = 'It was not changed; use that release, or a backup from before it'
    return new StoreOpenError('NewerFormat', `the data in ${dir} was written by a newer release (${formats}). ${help}`)
  }
  if (error instanceof NotConverted) {
    const what = `the data in ${dir} could not be converted to format ${currentFormat.version}: ${error.message}`
    return new StoreOpenError('NotConverted', `${what}. It was not changed, and the release before can still open it`)
  }
  if (!(error instanceof FileProblem)) return explainSystemError(error, dir)
  const copied = 'copies of a file in use are inconsistent: use `coxswain backup`'
  return error.why === 'Corrupt'
    ? new StoreOpenError(
        'Corrupt',
        `the data file ${path} is corrupt: ${error.message}. It was not changed; restore a backup (${copied})`,
      )
    : new StoreOpenError('ForeignFormat', `the file ${path} is not a data file of Coxswain: ${error.message}`)
}

/** Errors of the operating system that a user can fix. */
const systemErrors: Readonly<Record<string, string>> = {
  EROFS: 'is on a read-only file system: mount it writable. `coxswain backup` can read it as it is',
  EACCES: 'cannot be used by this user: start it as the user that owns the directory',
  EPERM: 'cannot be used by this user: start it as the user that owns the directory',
  ENOSPC: 'is on a full disk: free some space, or move the directory to another disk',
  EDQUOT: 'belongs to a user whose disk quota is exhausted: raise it, or free some space',
  EIO: 'is on a disk that does not read or write (EIO): check the kernel log, and restore a backup on another disk',
}

function explainSystemError(error: unknown, dir: string): unknown {
  const { code = '', message } = error as NodeJS.ErrnoException
  const what = systemErrors[code]
  return what ? new StoreOpenError('Unusable', `the data directory ${dir} ${what} (${message})`) : error
}

/**
 * Creates the file under a temporary name and renames it when it is complete. LMDB creates it in a memory file system:
 * when LMDB meets a full disk, it writes past the end of the buffer for its error message.
 */
async function createFile(path: string): Promise<void> {
  const unfinished = `${path}.new`
  rmSync(unfinished, { force: true })
  const memory = makeMemoryDirectory()
  const made = memory === undefined ? unfinished : join(memory, 'data.mdb')
  try {
    const { root, meta } = await openDatabases(made)
    root.transactionSync(() => void meta.put(Buffer.from('format'), encodeMeta(currentFormat)))
    await root.close()
    if (made !== unfinished) writeFileSync(unfinished, readFileSync(made), { flush: true })
    renameDurably(unfinished, path)
  } catch (e) {
    rmSync(unfinished, { force: true })
    throw e
  } finally {
    if (memory !== undefined) rmSync(memory, { recursive: true, force: true })
  }
}

async function openDatabases(path: string): Promise<Databases> {
  const lockFile = `${path}-lock`
  renewLockFile(lockFile)
  const { open } = await import('lmdb') // loaded lazily: a server with the memory store does not need it
  const root = open({
    path,
    noSubdir: true,
    maxDbs: 2,
    // With overlapping syncs a commit would resolve before it is durable.
    overlappingSync: false,
    // Writes are already batched; LMDB must not add to a running commit.
    eventTurnBatching: false,
    // Address space, not memory. LMDB enlarges a full map; this size avoids the first thirteen enlargements.
    mapSize: 2 ** 30,
  })
  // This process is the only user of the store, and LMDB has opened the lock file by now.
  removeLockFile(lockFile)
  const options = { encoding: 'binary', keyEncoding: 'binary', cache: false } as const
  return { root, log: root.openDB(logName, options), meta: root.openDB(metaName, options) }
}
