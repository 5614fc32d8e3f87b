import { existsSync } from 'node:fs'
import { decodeHead, decodeValue } from '../record-codec.ts'
import type { Snapshot, SnapshotItem } from '../snapshot.ts'
import { StoreOpenError } from '../store.ts'
import { ownDataDirectory } from './directory-lock.ts'
import { dataFile, explainOpenError } from './lmdb.ts'
import { type Contents, currentFormat, keyInFormat2, readContents } from './lmdb-format.ts'

/** Summary of the contents of a data file. */
interface LmdbSummary {
  format: number
  revision: number
  items: number
  /** Commit time of the newest revision; 0 if there is none. */
  newestMs: number
}

export interface LmdbSnapshot extends Snapshot {
  readonly summary: LmdbSummary
  close(): Promise<void>
}

const itemsAtATime = 200

/**
 * Reads a data directory that no process uses, without changing it. A file of an older format is not converted, but its
 * items have the keys of the current format. Works on a read-only file system. Rejects with StoreOpenError.
 */
export async function openLmdbSnapshot(dir: string): Promise<LmdbSnapshot> {
  const path = dataFile(dir)
  if (!existsSync(path)) throw new StoreOpenError('Missing', `there is no store in ${dir}`)
  const unlock = await ownReadOnly(dir)
  try {
    const contents = readContents(path, { allPlaces: true })
    contents.places.open(path)
    const { state, places, outdated } = contents
    const heads = state.index.scan('', state.revision, undefined, Infinity).found
    return {
      revision: state.revision,
      pages: pagesOf(contents),
      summary: {
        format: outdated ? 1 : currentFormat.version,
        revision: state.revision,
        items: heads.length,
        newestMs: state.timeline.lastTimeMs,
      },
      async close() {
        places.close()
        await unlock()
      },
    }
  } catch (error) {
    await unlock()
    throw explainOpenError(error, dir)
  }
}

/** A directory on a read-only file system needs no lock, because no process can write to it. */
async function ownReadOnly(dir: string): Promise<() => Promise<void>> {
  try {
    return await ownDataDirectory(dir)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EROFS') return async () => {}
    throw error
  }
}

async function* pagesOf({ state, places, outdated }: Contents): AsyncIterable<readonly SnapshotItem[]> {
  const { found } = state.index.scan('', state.revision, undefined, Infinity)
  for (let from = 0; from < found.length; from += itemsAtATime) {
    yield found.slice(from, from + itemsAtATime).map(({ key, revision }) => {
      const bytes = places.read(revision)
      if (!bytes) throw new Error(`revision ${revision} could not be read again`)
      const { mark } = decodeHead(bytes)
      return { key: outdated ? keyInFormat2(key) : key, value: decodeValue(bytes)!, mark }
    })
  }
}
