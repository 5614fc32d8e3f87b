import { createHash } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import path from 'node:path'
import { renameDurably } from '../../base/durable-files.ts'
import {
  CompactedError,
  type Snapshot,
  type SnapshotItem,
  type Store,
  openLmdbSnapshot,
  openLmdbStore,
  snapshotOf,
} from '../../store/index.ts'
import { type BackupSummary, itemLine, itemOf, readBackupFile, writeBackupFile } from './backup-file.ts'
import { keysForBackup, readKeyFiles, shareKeys, writeKeys } from '../keys/cluster-keys.ts'
import { type Answer, type LocalServer, findLocalServer } from '../serving/local-door.ts'
import { type StoreOptions, withStore } from '../serving/open-store.ts'

/** Maximum number of restarts of a backup whose revision was compacted. */
const mostAttempts = 3

/**
 * Writes the whole store at one revision to a file and verifies it. A server that uses the data directory is asked for
 * the data and keeps serving; otherwise the directory is read without changes. The file is written atomically.
 */
export async function takeBackup(options: StoreOptions, file: string, now: number): Promise<BackupSummary> {
  const { dataDir, store } = options
  const write = (snapshot: Snapshot) => writeBackup(snapshot, dataDir, file, now)
  if (store === 'etcd') {
    const attempt = () =>
      withStore(options, async (opened) => {
        const keys = await keysForBackup(opened, dataDir, now)
        return writeBackup(await snapshotOf(opened), dataDir, file, now, keys)
      })
    return repeated(attempt)
  }
  const running = await findLocalServer(dataDir)
  if (running) {
    const attempt = async (server: LocalServer | undefined) => {
      if (!server) throw new Error(`the server that used ${dataDir} has ended: try again`)
      return write(await remoteSnapshot(server))
    }
    let next: LocalServer | undefined = running
    return repeated(async () => {
      const server = next ?? (await findLocalServer(dataDir))
      next = undefined
      return attempt(server)
    })
  }
  if (store === 'memory')
    throw new Error('--store memory: the memory store ends with its process, and no server runs in this data directory')
  const snapshot = await openLmdbSnapshot(path.join(dataDir, 'db'))
  try {
    return await write(snapshot)
  } finally {
    await snapshot.close()
  }
}

async function repeated<T>(attempt: () => Promise<T>): Promise<T> {
  for (let made = 1; ; made++) {
    try {
      return await attempt()
    } catch (e) {
      if (!(e instanceof CompactedError) || made === mostAttempts) throw e
    }
  }
}

/** First line of a server's response to `snapshot`. */
interface RemoteHead {
  revision: number
}

type RemoteLine = RemoteHead | { compacted: number } | { key: string; value: string; mark?: number }

/** Answers the local question `snapshot`. */
export const answerSnapshot = (store: Store): Answer =>
  async function* () {
    const { revision, pages } = await snapshotOf(store)
    const head: RemoteHead = { revision }
    yield JSON.stringify(head)
    try {
      for await (const page of pages) yield page.map(itemLine).join('\n')
    } catch (e) {
      if (!(e instanceof CompactedError)) throw e
      yield JSON.stringify({ compacted: e.compactedRevision })
    }
  }

const itemsAtATime = 200

async function remoteSnapshot(server: LocalServer): Promise<Snapshot> {
  const lines = server.ask<RemoteLine>('snapshot')[Symbol.asyncIterator]()
  const first = await lines.next()
  if (first.done || !('revision' in first.value))
    throw new Error(`process ${server.pid} did not answer with a snapshot`)
  const { revision } = first.value
  async function* pages(): AsyncIterable<readonly SnapshotItem[]> {
    let page: SnapshotItem[] = []
    for (let next = await lines.next(); !next.done; next = await lines.next()) {
      if ('compacted' in next.value) throw new CompactedError(next.value.compacted)
      if (!('key' in next.value)) throw new Error(`process ${server.pid} did not answer with a snapshot`)
      page.push(itemOf(next.value))
      if (page.length < itemsAtATime) continue
      yield page
      page = []
    }
    if (page.length > 0) yield page
  }
  return { revision, pages: pages() }
}

/** Writes a snapshot to a temporary file, verifies it, and renames it. */
export async function writeBackup(
  { revision, pages }: Snapshot,
  dataDir: string,
  file: string,
  now: number,
  keys = readKeyFiles(dataDir, now),
): Promise<BackupSummary> {
  if (existsSync(file)) throw new Error(`${file} exists already`)
  const unfinished = `${file}.new`
  try {
    const head = { revision, takenAt: new Date(now).toISOString(), ...(keys ? { keys } : {}) }
    const written = await writeBackupFile(unfinished, head, pages)
    const { tail } = await readBackupFile(unfinished)
    if (tail.sha256 !== written.sha256) throw new Error(`${file}: the file differs from what was written`)
    renameDurably(unfinished, file)
    return { items: written.items, revision }
  } catch (e) {
    rmSync(unfinished, { force: true })
    throw e
  }
}

/**
 * Creates a store from a verified backup. The store is moved into the data directory when it is complete, so that an
 * interrupted restore leaves none.
 */
export async function restoreInto(options: StoreOptions, file: string): Promise<BackupSummary> {
  const { dataDir, store } = options
  if (store !== 'lmdb') return withStore(options, (opened) => restoreBackup(opened, dataDir, file))
  const dir = path.join(dataDir, 'db')
  if (existsSync(path.join(dir, 'data.mdb')))
    throw new Error(`the store is not empty: ${dir} has one, and a backup can only be restored into a new store`)
  const unfinished = `${dir}.restoring`
  rmSync(unfinished, { recursive: true, force: true })
  const opened = await openLmdbStore({ dir: unfinished })
  let summary: BackupSummary
  try {
    summary = await restoreBackup(opened, dataDir, file)
  } catch (e) {
    await opened.close()
    // It may hold Secrets.
    rmSync(unfinished, { recursive: true, force: true })
    throw e
  }
  await opened.close()
  rmSync(dir, { recursive: true, force: true })
  renameDurably(unfinished, dir)
  return summary
}

const writesAtATime = 200

/** Fills an empty store, and verifies the result by reading it. */
export async function restoreBackup(store: Store, dataDir: string, file: string): Promise<BackupSummary> {
  const { head } = await readBackupFile(file)
  const found = await store.range('', { limit: 1 })
  if (found.items.length > 0) throw new Error('the store is not empty: a backup can only be restored into a new store')
  const keyFiles = readKeyFiles(dataDir, Date.now())
  // An interrupted restore may have written the same keys.
  if (head.keys && keyFiles && keyFiles.authority.key !== head.keys.authority.key)
    throw new Error(
      `${path.join(dataDir, 'pki')} already has other keys: a backup can only be restored into a new data directory`,
    )
  const digests = new Map<string, string>()
  let writes: Promise<void>[] = []
  await readBackupFile(file, async (item) => {
    digests.set(item.key, digestOf(item))
    writes.push(writeNew(store, item))
    if (writes.length < writesAtATime) return
    await Promise.all(writes)
    writes = []
  })
  await Promise.all(writes)
  const { size } = digests
  for await (const page of (await snapshotOf(store)).pages) {
    for (const item of page) {
      if (!digests.has(item.key))
        throw new Error(`${item.key} is not in the backup: another process writes to the store`)
      if (digests.get(item.key) === digestOf(item)) digests.delete(item.key)
    }
  }
  for (const [key] of digests) throw new Error(`${key} differs from the backup`)
  if (head.keys) {
    if (store.currentRevision) await shareKeys(store, head.keys)
    writeKeys(head.keys, dataDir)
  }
  return { items: size, revision: store.revision }
}

async function writeNew(store: Store, { key, value, mark }: SnapshotItem): Promise<void> {
  const result = await store.write({ key, expected: 0, value, mark })
  if (!result.ok) throw new Error(`${key} already exists: another process writes to the store`)
}

const digestOf = ({ value, mark }: SnapshotItem): string =>
  `${createHash('sha256').update(value).digest('base64')} ${mark ?? ''}`
