import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../base/clock.ts'
import type { Clock } from '../../base/clock.ts'
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

export interface LmdbStoreOptions {
  /** Made if it does not exist. Holds one store. */
  dir: string
  clock?: Clock
  /** Called when data of an older format has been converted. */
  onConverted?: (() => void) | undefined
}

/** Opens the store in a directory, or makes one. Rejects with StoreOpenError, having changed nothing. */
export async function openLmdbStore({ dir, clock = systemClock, onConverted }: LmdbStoreOptions): Promise<Store> {
  const path = join(dir, 'data.mdb')
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
    throw explain(error, dir, path)
  }
}

/** Reads the file, and converts it first if an older release wrote it. */
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

function explain(error: unknown, dir: string, path: string): unknown {
  if (error instanceof NewerFormat) {
    const formats = `format ${error.version}; this one reads ${currentFormat.version}`
    const help = 'It was not changed; use that release, or a backup from before it'
    return new StoreOpenError('NewerFormat', `the data in ${dir} was written by a newer release (${formats}). ${help}`)
  }
  if (error instanceof NotConverted) {
    const what = `the data in ${dir} could not be converted to format ${currentFormat.version}: ${error.message}`
    return new StoreOpenError('NotConverted', `${what}. It was not changed, and the release before can still open it`)
  }
  if (!(error instanceof FileProblem)) return error
  return error.why === 'Corrupt'
    ? new StoreOpenError('Corrupt', `the data file ${path} is corrupt: ${error.message}. It was not changed; restore a backup`)
    : new StoreOpenError('ForeignFormat', `the file ${path} is not a data file of Coxswain: ${error.message}`)
}

/** Made beside its place and moved there when it is whole, so that a file in that place is never half made. */
async function createFile(path: string): Promise<void> {
  const unfinished = `${path}.new`
  rmSync(unfinished, { force: true })
  const { root, meta } = await openDatabases(unfinished)
  root.transactionSync(() => void meta.put(Buffer.from('format'), encodeMeta(currentFormat)))
  await root.close()
  rmSync(`${unfinished}-lock`, { force: true })
  renameSync(unfinished, path)
  const directory = openSync(join(path, '..'), 'r')
  fsyncSync(directory)
  closeSync(directory)
}

async function openDatabases(path: string): Promise<Databases> {
  // Only we use the file. What a killed owner left in LMDB's own lock file could hold back pages for ever.
  rmSync(`${path}-lock`, { force: true })
  const { open } = await import('lmdb') // not before it is needed: who keeps everything in memory does not load it
  const root = open({
    path,
    noSubdir: true,
    maxDbs: 2,
    // Without it a commit resolves before it is on disk.
    overlappingSync: false,
    // We gather writes ourselves; LMDB must not add to a commit that runs.
    eventTurnBatching: false,
    // Address space, not memory. LMDB grows the map when it is full; this spares it the first thirteen times.
    mapSize: 2 ** 30,
  })
  const options = { encoding: 'binary', keyEncoding: 'binary', cache: false } as const
  return { root, log: root.openDB(logName, options), meta: root.openDB(metaName, options) }
}
