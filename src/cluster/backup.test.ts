import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Store, openLmdbStore, openMemoryStore } from '../store/index.ts'
import { restoreBackup, writeBackup } from './backup.ts'
import { loadClusterKeys } from './cluster-keys.ts'

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
    expect(await writeBackup(store, path.join(dir, 'a'), file, now)).toEqual({ items: 499, revision: 501 })
    const other = await openLmdbStore({ dir: path.join(dir, 'b', 'db') })
    expect((await restoreBackup(other, path.join(dir, 'b'), file)).items).toBe(499)
    expect(await contents(other)).toEqual(await contents(store))
    expect(await loadClusterKeys(other, path.join(dir, 'b'), now)).toEqual(keys)
    await other.close()
  })

  it('is private, and replaces no file', async () => {
    await writeBackup(await filled(), dir, file, now)
    await expect(writeBackup(await filled(), dir, file, now)).rejects.toThrow('exists already')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(existsSync(`${file}.new`)).toBe(false)
  })

  it.each<[string, (text: string) => string]>([
    ['a byte is another', (text) => text.replace('"mark":100', '"mark":101')],
    ['a line is missing', (text) => text.split('\n').toSpliced(10, 1).join('\n')],
    ['it was cut off', (text) => text.slice(0, text.length / 2)],
    ['it is empty', () => ''],
    ['it is something else', () => 'hello\nworld\n'],
  ])('is refused if %s, and nothing is written', async (_, spoil) => {
    await writeBackup(await filled(), dir, file, now)
    writeFileSync(file, spoil(readFileSync(file, 'utf8')))
    const other = openMemoryStore()
    await expect(restoreBackup(other, path.join(dir, 'b'), file)).rejects.toThrow(/is no backup, or is damaged/)
    expect(other.revision).toBe(0)
  })

  it('is restored into an empty store only', async () => {
    await writeBackup(await filled(), dir, file, now)
    await expect(restoreBackup(await filled(), path.join(dir, 'b'), file)).rejects.toThrow('the store is not empty')
  })
})
