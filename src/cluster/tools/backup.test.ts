import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Logger } from '../../base/logger.ts'
import { type Store, openLmdbStore, openMemoryStore, snapshotOf } from '../../store/index.ts'
import { answerSnapshot, restoreBackup, restoreInto, takeBackup, writeBackup } from './backup.ts'
import { loadClusterKeys } from '../keys/cluster-keys.ts'
import { openLocalDoor } from '../serving/local-door.ts'

const now = Date.UTC(2026, 0, 1)
let dir: string
let file: string

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'backup-'))
  file = path.join(dir, 'backup')
})
afterEach(() => rmSync(dir, { recursive: true }))

async function filled(): Promise<Store> {
  const store = openMemoryStore()
  for (let i = 0; i < 500; i++) await store.write({ key: `/registry/pods/ns/${i}`, expected: 0, value: Buffer.from([i & 0xff, 0, 0xff]), mark: i + 1 })
  await store.write({ key: '/registry/pods/ns/0', expected: 1, value: undefined })
  return store
}

const contents = async (store: Store) => (await store.range('')).items.map(({ key, value, mark }) => [key, value.toString('hex'), mark])

describe('a backup', () => {
  it('is restored into another driver as it was, with the keys of the cluster', async () => {
    const store = await filled()
    const keys = await loadClusterKeys(store, path.join(dir, 'a'), now)
    expect(await writeBackup(await snapshotOf(store), path.join(dir, 'a'), file, now)).toEqual({ items: 499, revision: 501 })
    const other = await openLmdbStore({ dir: path.join(dir, 'b', 'db') })
    expect((await restoreBackup(other, path.join(dir, 'b'), file)).items).toBe(499)
    expect(await contents(other)).toEqual(await contents(store))
    expect(await loadClusterKeys(other, path.join(dir, 'b'), now)).toEqual(keys)
    await other.close()
  })

  it('has one line for each object, also where its name has a line separator', async () => {
    const store = await filled()
    const key = '/registry/clusterroles/a\u2028b\u2029c\u0085d'
    await store.write({ key, expected: 0, value: Buffer.from('x') })
    await writeBackup(await snapshotOf(store), dir, file, now)
    const text = readFileSync(file, 'utf8')
    expect(text).not.toMatch(/[\u2028\u2029]/)
    expect(text).toContain('/a\\u2028b\\u2029c')
    const restored = openMemoryStore()
    await restoreBackup(restored, path.join(dir, 'b'), file)
    expect(await contents(restored)).toEqual(await contents(store))
  })

  it('is read as an earlier release wrote it, with such characters as they are', async () => {
    const lines = ['{"coxswainBackup":1,"revision":1,"takenAt":"2026-01-01T00:00:00.000Z"}', '{"key":"/registry/clusterroles/a\u2028b","value":"eA=="}', '']
    const sha256 = createHash('sha256').update(lines.join('\n')).digest('hex')
    writeFileSync(file, `${lines.join('\n')}${JSON.stringify({ items: 1, sha256 })}\n`)
    const restored = openMemoryStore()
    await restoreBackup(restored, path.join(dir, 'b'), file)
    expect(await contents(restored)).toEqual([['/registry/clusterroles/a\u2028b', '78', undefined]])
  })

  it('is private, and replaces no file', async () => {
    await writeBackup(await snapshotOf(await filled()), dir, file, now)
    await expect(writeBackup(await snapshotOf(await filled()), dir, file, now)).rejects.toThrow('exists already')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(existsSync(`${file}.new`)).toBe(false)
  })

  it.each<[string, (text: string) => string]>([
    ['a byte is another', (text) => text.replace('"mark":100', '"mark":101')],
    ['a line is missing', (text) => text.split('\n').toSpliced(10, 1).join('\n')],
    ['it was cut off', (text) => text.slice(0, text.length / 2)],
    ['it is empty', () => ''],
    ['it is something else', () => 'hello\nworld\n'],
    ['a line is another', (text) => text.replace(/\n\{"key".*\n/, '\nnull\n')],
  ])('is refused if %s, and nothing is written', async (_, spoil) => {
    await writeBackup(await snapshotOf(await filled()), dir, file, now)
    writeFileSync(file, spoil(readFileSync(file, 'utf8')))
    const other = openMemoryStore()
    await expect(restoreBackup(other, path.join(dir, 'b'), file)).rejects.toThrow(/is not a backup, or is damaged/)
    expect(other.revision).toBe(0)
  })

  it('is restored into an empty store only', async () => {
    await writeBackup(await snapshotOf(await filled()), dir, file, now)
    await expect(restoreBackup(await filled(), path.join(dir, 'b'), file)).rejects.toThrow('the store is not empty')
  })

  it('is refused if a newer release wrote it', async () => {
    await writeBackup(await snapshotOf(await filled()), dir, file, now)
    writeFileSync(file, readFileSync(file, 'utf8').replace('"coxswainBackup":1', '"coxswainBackup":2'))
    await expect(restoreBackup(openMemoryStore(), path.join(dir, 'b'), file)).rejects.toThrow('was written by a newer release (backup format 2; this one reads 1)')
  })
})

describe('takeBackup()', () => {
  const logger = new Logger(() => {})
  const optionsOf = (dataDir: string) => ({ store: 'lmdb' as const, dataDir, logger })

  async function filledDirectory(dataDir: string): Promise<void> {
    const store = await openLmdbStore({ dir: path.join(dataDir, 'db') })
    for (let i = 0; i < 300; i++) await store.write({ key: `/registry/pods/ns/${i}`, expected: 0, value: Buffer.alloc(i % 7 === 0 ? 5000 : 40, `${i} `), mark: i + 1 })
    for (let i = 0; i < 300; i += 3) await store.write({ key: `/registry/pods/ns/${i}`, expected: i + 1, value: i % 2 ? undefined : Buffer.from(`second ${i}`) })
    await store.compact(100)
    await store.close()
  }

  it('reads a directory that no process uses, without a change to its file', async () => {
    const from = path.join(dir, 'a')
    await filledDirectory(from)
    const before = readFileSync(path.join(from, 'db/data.mdb'))
    expect(await takeBackup(optionsOf(from), file, now)).toEqual({ items: 250, revision: 400 })
    expect(readFileSync(path.join(from, 'db/data.mdb')).equals(before)).toBe(true)
    expect(await restoreInto(optionsOf(path.join(dir, 'b')), file)).toMatchObject({ items: 250 })
    const [one, other] = [await openLmdbStore({ dir: path.join(from, 'db') }), await openLmdbStore({ dir: path.join(dir, 'b/db') })]
    expect(await contents(other)).toEqual(await contents(one))
    await one.close()
    await other.close()
  })

  it('reads a directory of an older format under the keys of the current one, and does not convert it', async () => {
    const from = path.join(dir, 'a')
    mkdirSync(path.join(from, 'db'), { recursive: true })
    const dataFile = path.join(from, 'db/data.mdb')
    writeFileSync(dataFile, gunzipSync(readFileSync(new URL('../../store/drivers/fixtures/format-1.mdb.gz', import.meta.url))))
    const before = readFileSync(dataFile)
    expect(await takeBackup(optionsOf(from), file, now)).toEqual({ items: 4, revision: 8 })
    expect(readFileSync(dataFile).equals(before)).toBe(true)
    await restoreInto(optionsOf(path.join(dir, 'b')), file)
    const [converted, restored] = [await openLmdbStore({ dir: path.join(from, 'db') }), await openLmdbStore({ dir: path.join(dir, 'b/db') })]
    expect(await contents(restored)).toEqual(await contents(converted))
    await converted.close()
    await restored.close()
  })

  it('makes no store where there is none', async () => {
    await expect(takeBackup(optionsOf(path.join(dir, 'none')), file, now)).rejects.toThrow('there is no store in')
    expect(existsSync(path.join(dir, 'none'))).toBe(false)
    expect(existsSync(file)).toBe(false)
  })

  it('asks the process that uses the directory, which goes on writing', async () => {
    const from = path.join(dir, 'a')
    const store = await filled()
    const close = await openLocalDoor(from, { snapshot: answerSnapshot(store) })
    const taking = takeBackup({ ...optionsOf(from), store: 'memory' }, file, now)
    const later: Promise<unknown>[] = []
    for (let i = 0; i < 200; i++) later.push(store.write({ key: `/registry/pods/later/${i}`, expected: 0, value: Buffer.from('x') }))
    const { revision } = await taking
    await Promise.all(later)
    const at = (await store.range('', { revision })).items.map(({ key, value, mark }) => [key, value.toString('hex'), mark])
    const restored = openMemoryStore()
    await restoreBackup(restored, path.join(dir, 'b'), file)
    expect(await contents(restored)).toEqual(at)
    await close()
  })

  it('begins anew when history is forgotten while it is read', async () => {
    const from = path.join(dir, 'a')
    const store = await filled()
    let asked = 0
    const close = await openLocalDoor(from, {
      snapshot: async function* () {
        asked++
        for await (const lines of answerSnapshot(store)()) {
          yield lines
          if (asked > 1) continue
          await store.write({ key: `/registry/pods/ns/more-${store.revision}`, expected: 0, value: Buffer.from('x') })
          await store.compact(store.revision)
        }
      },
    })
    expect((await takeBackup(optionsOf(from), file, now)).revision).toBe(store.revision)
    expect(asked).toBe(2)
    await close()
  })

  it('tells what the process says that cannot answer, and leaves no file', async () => {
    const from = path.join(dir, 'a')
    const failing = async function* (): AsyncIterable<string> {
      yield '{"revision":1}'
      throw new Error('the disk is gone')
    }
    const close = await openLocalDoor(from, { snapshot: failing })
    await expect(takeBackup(optionsOf(from), file, now)).rejects.toThrow('the disk is gone')
    expect([file, `${file}.new`].some(existsSync)).toBe(false)
    await close()
    const other = await openLocalDoor(from, {})
    await expect(takeBackup(optionsOf(from), file, now)).rejects.toThrow('unknown request "snapshot"')
    await other()
  })

  it('leaves no store where a restore was interrupted', async () => {
    const from = path.join(dir, 'a')
    await filledDirectory(from)
    await takeBackup(optionsOf(from), file, now)
    const to = path.join(dir, 'b')
    // As a process that was killed leaves it.
    const half = await openLmdbStore({ dir: path.join(to, 'db.restoring') })
    await half.write({ key: '/registry/pods/ns/1', expected: 0, value: Buffer.from('half') })
    await half.close()
    expect(existsSync(path.join(to, 'db'))).toBe(false)
    expect(await restoreInto(optionsOf(to), file)).toMatchObject({ items: 250 })
    expect(existsSync(path.join(to, 'db.restoring'))).toBe(false)
    await expect(restoreInto(optionsOf(to), file)).rejects.toThrow('the store is not empty')
  })

  it('leaves no Secrets where a restore failed', async () => {
    const from = path.join(dir, 'a')
    await filledDirectory(from)
    await takeBackup(optionsOf(from), file, now)
    writeFileSync(file, readFileSync(file, 'utf8').replace('"mark":2', '"mark":3'))
    const to = path.join(dir, 'b')
    await expect(restoreInto(optionsOf(to), file)).rejects.toThrow('its checksum does not match')
    expect(readdirSync(to)).toEqual([])
  })
})
