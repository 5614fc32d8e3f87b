import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openLmdbSnapshot, openLmdbStore } from '../src/store/index.ts'
import { bundleChild } from './bundle-child.ts'
import { hear, readStore, runChild } from './crash-child.ts'
import { LoopDisk } from './loop-disk.ts'
import { AckLedger } from './store-crash-ledger.ts'

const problem = LoopDisk.problem()
if (problem) console.warn(`the tests with a disk of their own are left out: ${problem}`)

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const writers = 24

let scripts: string
let script: string
let unsynced: string
let disk: LoopDisk

beforeAll(async () => {
  scripts = mkdtempSync(join(tmpdir(), 'store-faults-child-'))
  script = await bundleChild(here('store-crash-child.ts'), scripts)
  unsynced = await bundleChild(here('store-crash-child.ts'), scripts, { lmdb: here('unsynced-lmdb.ts') })
})

afterAll(() => rmSync(scripts, { recursive: true }))

describe.skipIf(problem)('a store whose disk loses its power', () => {
  beforeEach(() => {
    disk = LoopDisk.make(64)
  })
  afterEach(() => disk.remove())

  /** Cuts the power under load, again and again. Returns what contradicts the ledger, in words. */
  async function powerCuts(child: string, cuts: number): Promise<{ wrong: string[]; acknowledged: number }> {
    const ledger = new AckLedger()
    const wrong: string[] = []
    for (let cut = 0; cut < cuts && wrong.length === 0; cut++) {
      const before = ledger.count
      const after = 20 + ((cut * 137) % 400)
      let isCut = false
      await runChild([process.execPath, child, disk.path, String(writers)], (words, running) => {
        hear(ledger, words)
        if (isCut || ledger.count - before < after) return
        isCut = true
        disk.cutPower()
        running.kill('SIGKILL')
      })
      expect(isCut).toBe(true)
      disk.restart()
      try {
        const { found, revision } = await readStore(disk.path)
        wrong.push(...ledger.account(found, revision))
      } catch (e) {
        wrong.push((e as Error).message)
      }
    }
    return { wrong, acknowledged: ledger.count }
  }

  it('loses nothing that it acknowledged, 12 times over', async () => {
    const { wrong, acknowledged } = await powerCuts(script, 12)
    expect(wrong).toEqual([])
    expect(acknowledged).toBeGreaterThan(12 * 20)
  })

  it('would lose acknowledged writes without syncs, which shows that this test notices', async () => {
    const { wrong } = await powerCuts(unsynced, 12)
    expect(wrong.length).toBeGreaterThan(0)
  })
})

describe.skipIf(problem)('a store whose disk is full', () => {
  beforeEach(() => {
    disk = LoopDisk.make(16)
  })
  afterEach(() => disk.remove())

  it('says so, loses nothing, and goes on once there is room', async () => {
    const store = await openLmdbStore({ dir: join(disk.path, 'db') })
    const known = new Map<string, string>()
    const write = async (i: number): Promise<unknown> => {
      const value = `${i} `.repeat(1000)
      try {
        const result = await store.write({ key: `/full/${i}`, expected: 0, value: Buffer.from(value) })
        if (result.ok) known.set(`/full/${i}`, value)
        return result.ok
      } catch (e) {
        return (e as Error).message
      }
    }
    const contents = async (from = store) => new Map((await from.range('/full/')).items.map(({ key, value }) => [key, value.toString()]))
    expect(await write(0)).toBe(true)
    const ballast = join(disk.path, 'ballast')
    fill(ballast)
    let refused: unknown = true
    for (let i = 1; i < 1000 && refused === true; i++) refused = await write(i)
    expect(refused).toMatch(/^the write could not be made durable: the disk of \S+ is full: free some space \(ENOSPC/)
    expect(await contents()).toEqual(known)
    rmSync(ballast)
    expect(await write(1001)).toBe(true)
    await store.close()
    const again = await openLmdbStore({ dir: join(disk.path, 'db') })
    expect(await contents(again)).toEqual(known)
    await again.close()
  })

  it('is opened where all the space is taken, and refused where there is none for a new one', async () => {
    const dir = join(disk.path, 'db')
    const store = await openLmdbStore({ dir })
    await store.write({ key: '/a', expected: 0, value: Buffer.from('x') })
    await store.close()
    fill(join(disk.path, 'ballast'))
    const again = await openLmdbStore({ dir })
    expect((await again.range('')).items).toHaveLength(1)
    await again.close()
    await expect(openLmdbStore({ dir: join(disk.path, 'other') })).rejects.toThrow(/the data directory \S+ is on a full disk: free some space/)
    expect(existsSync(join(disk.path, 'other', 'data.mdb'))).toBe(false)
  })

  /** Takes all the space there is. */
  function fill(file: string): void {
    for (const size of [1 << 20, 1 << 12]) {
      try {
        for (let made = 0; made < 100; made++) writeFileSync(`${file}`, Buffer.alloc(size, 'x'), { flag: 'a' })
      } catch (e) {
        expect((e as NodeJS.ErrnoException).code).toBe('ENOSPC')
      }
    }
  }
})

describe.skipIf(problem)('a store on a read-only disk', () => {
  beforeEach(() => {
    disk = LoopDisk.make(16)
  })
  afterEach(() => disk.remove())

  it('is refused in words, not changed, and can be read for a backup', async () => {
    const dir = join(disk.path, 'db')
    const store = await openLmdbStore({ dir })
    await store.write({ key: '/a', expected: 0, value: Buffer.from('x') })
    await store.close()
    const before = readFileSync(join(dir, 'data.mdb'))
    disk.setReadOnly(true)
    await expect(openLmdbStore({ dir })).rejects.toMatchObject({ why: 'Unusable', message: expect.stringContaining('is on a read-only file system: mount it writable') })
    const snapshot = await openLmdbSnapshot(dir)
    expect(snapshot.summary).toMatchObject({ items: 1, revision: 1 })
    for await (const page of snapshot.pages) expect(page).toEqual([{ key: '/a', value: Buffer.from('x'), mark: undefined }])
    await snapshot.close()
    expect(readFileSync(join(dir, 'data.mdb')).equals(before)).toBe(true)
    disk.setReadOnly(false)
    const again = await openLmdbStore({ dir })
    expect(await again.write({ key: '/b', expected: 0, value: Buffer.from('x') })).toMatchObject({ ok: true })
    await again.close()
  })
})

describe.skipIf(problem)('a store whose disk hangs', () => {
  beforeEach(() => {
    disk = LoopDisk.make(32)
  })
  afterEach(() => disk.remove())

  it('answers reads meanwhile, and acknowledges writes only once they are on the disk', async () => {
    const store = await openLmdbStore({ dir: join(disk.path, 'db') })
    const value = Buffer.alloc(3000, 'x')
    await store.write({ key: '/a', expected: 0, value })
    disk.freeze()
    const settled: string[] = []
    const writes = Array.from({ length: 50 }, (_, i) => store.write({ key: `/slow/${i}`, expected: 0, value }).then((result) => {
      settled.push(`/slow/${i}`)
      return result.ok
    }))
    const size = statSync(join(disk.path, 'db', 'data.mdb')).size
    for (let read = 0; read < 200; read++) {
      expect((await store.get('/a'))?.value.equals(value)).toBe(true)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(settled).toEqual([])
    expect(await store.get('/slow/0')).toBeUndefined()
    disk.thaw()
    expect(await Promise.all(writes)).toEqual(writes.map(() => true))
    expect(statSync(join(disk.path, 'db', 'data.mdb')).size).toBeGreaterThanOrEqual(size)
    await store.close()
    const again = await openLmdbStore({ dir: join(disk.path, 'db') })
    expect((await again.range('/slow/')).items).toHaveLength(50)
    await again.close()
  })
})

describe.skipIf(problem)('a store whose disk fails', () => {
  beforeEach(() => {
    disk = LoopDisk.make(32)
  })
  afterEach(() => disk.remove())

  it('refuses writes from then on, says why, and has everything after a restart', async () => {
    const ledger = new AckLedger()
    const failures: string[] = []
    let isFailed = false
    const end = await runChild([process.execPath, script, disk.path, String(writers)], (words) => {
      hear(ledger, words)
      if (words[0] === 'failed') failures.push(words.slice(2).join(' '))
      if (isFailed || ledger.count < 300) return
      isFailed = true
      disk.cutPower()
    })
    // The child ends after 100 refused writes (3), by a read that fails (2), or by a page of the file's map that cannot be read.
    expect([2, 3, 'SIGBUS']).toContain(end)
    for (const failure of failures) expect(failure).toMatch(/could not be made durable/)
    disk.restart()
    const { found, revision } = await readStore(disk.path)
    expect(ledger.account(found, revision)).toEqual([])
  })
})
