import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { open as openLmdb } from 'lmdb'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { SetClock } from '../conformance/scene.ts'
import { CompactedError, StoreOpenError } from '../store.ts'
import type { Store, StoreEvent, Versioned } from '../store.ts'
import { encodeMeta, keyInFormat2 } from './lmdb-format.ts'
import { openLmdbStore } from './lmdb.ts'

let dir: string
let file: string

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'store-'))
  file = join(dir, 'data.mdb')
})

afterEach(() => rmSync(dir, { recursive: true }))

async function fill(store: Store, keys: number, rounds = 2): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < keys; i++) {
      const key = `/k/${i}`
      const expected = (await store.get(key))?.revision ?? 0
      await store.write({ key, expected, value: Buffer.alloc(i % 3 === 0 ? 3000 : 60, `${key} ${round} `) })
    }
  }
}

async function contents(store: Store): Promise<string> {
  const { items, revision } = await store.range('')
  return JSON.stringify({ revision, items })
}

/** Opening must fail, and change nothing. */
async function refusal(): Promise<StoreOpenError> {
  const before = readFileSync(file)
  const refused = await openLmdbStore({ dir }).then(() => undefined, (error: unknown) => error)
  expect(readFileSync(file).equals(before)).toBe(true)
  expect(readdirSync(dir)).toEqual(['data.mdb'])
  expect(refused).toBeInstanceOf(StoreOpenError)
  return refused as StoreOpenError
}

describe('openLmdbStore()', () => {
  it('finds the marks of versions again', async () => {
    const store = await openLmdbStore({ dir })
    await store.write({ key: '/a', expected: 0, value: Buffer.from('x'), mark: 0xabcdef })
    await store.write({ key: '/a', expected: 1, value: Buffer.from('y') })
    await store.close()
    const again = await openLmdbStore({ dir })
    const markAt = async (revision: number) => (await again.range('/', { revision })).items[0]!.mark
    expect([await markAt(1), await markAt(2)]).toEqual([0xabcdef, undefined])
    await again.close()
  })

  it('finds everything again', async () => {
    const store = await openLmdbStore({ dir })
    await fill(store, 40)
    await store.compact(20)
    const before = await contents(store)
    await store.close()
    const again = await openLmdbStore({ dir })
    expect(await contents(again)).toBe(before)
    expect(again.compactedRevision).toBe(20)
    await again.close()
    expect(readdirSync(dir)).toEqual(['data.mdb'])
  })

  it('keeps the revision, and its time, when the newest records are forgotten', async () => {
    const clock = new SetClock()
    const store = await openLmdbStore({ dir, clock })
    await store.write({ key: '/live', expected: 0, value: Buffer.from('x') })
    await store.write({ key: '/gone', expected: 0, value: Buffer.from('x') })
    clock.timeMs += 1000
    await store.write({ key: '/gone', expected: 2, value: undefined })
    await store.compact(3)
    await store.close()
    const again = await openLmdbStore({ dir, clock })
    expect(again.revision).toBe(3)
    expect([clock.timeMs - 1, clock.timeMs].map((timeMs) => again.revisionAt(timeMs))).toEqual([undefined, 3])
    expect(await again.write({ key: '/b', expected: 0, value: Buffer.from('x') })).toEqual({ ok: true, revision: 4 })
    await again.close()
  })

  it('does not take what lies in the place of a forgotten record for it', async () => {
    const first = await openLmdbStore({ dir })
    await fill(first, 30, 1)
    await first.close()
    const store = await openLmdbStore({ dir })
    const events: StoreEvent[] = []
    await store.watch('/', store.revision, (some) => events.push(...some))
    await fill(store, 30, 2)
    await store.compact(store.revision)
    await fill(store, 30, 2)
    for (const event of events.slice(0, 30)) expect(() => event.previous).toThrow(CompactedError)
    await store.close()
  })

  it('makes the directory, even one with a very long name, and takes over what was left half made', async () => {
    const deep = join(dir, 'long-'.repeat(20), 'long-'.repeat(20))
    mkdirSync(deep, { recursive: true })
    writeFileSync(join(deep, 'data.mdb.new'), 'unfinished')
    const store = await openLmdbStore({ dir: deep })
    await expect(openLmdbStore({ dir: deep })).rejects.toMatchObject({ why: 'InUse' })
    await fill(store, 3)
    await store.close()
    const again = await openLmdbStore({ dir: deep })
    expect(again.revision).toBe(6)
    await again.close()
  })

  it('refuses a directory that is in use, naming it and its owner', async () => {
    const store = await openLmdbStore({ dir })
    const refused = await openLmdbStore({ dir }).catch((error: unknown) => error)
    expect(refused).toMatchObject({ why: 'InUse' })
    expect((refused as Error).message).toContain(dir)
    expect((refused as Error).message).toContain(`process ${process.pid}`)
    await fill(store, 2)
    await store.close()
    await (await openLmdbStore({ dir })).close()
  })

  it('finishes a compaction that was interrupted', async () => {
    const store = await openLmdbStore({ dir })
    await fill(store, 30, 3)
    await store.write({ key: '/gone', expected: 0, value: Buffer.from('x') })
    await store.write({ key: '/gone', expected: 91, value: undefined })
    await store.close()
    const root = openLmdb({ path: file, noSubdir: true, overlappingSync: false })
    const meta = root.openDB('meta', { encoding: 'binary', keyEncoding: 'binary' })
    await meta.put(Buffer.from('compacted'), encodeMeta({ revision: 92, timeMs: 5 }))
    await root.close()

    const again = await openLmdbStore({ dir })
    expect([again.compactedRevision, again.revision, (await again.range('/')).items.length]).toEqual([92, 92, 30])
    await again.close()
    expect(recordCount()).toBe(30)
  })

  function recordCount(): number {
    const root = openLmdb({ path: file, noSubdir: true, overlappingSync: false })
    const count = root.openDB('log', { encoding: 'binary', keyEncoding: 'binary' }).getKeysCount()
    void root.close()
    return count
  }
})

describe('openLmdbStore() on the file of an older release', () => {
  it('opens format 1', async () => {
    writeFileSync(file, gunzipSync(readFileSync(new URL('fixtures/format-1.mdb.gz', import.meta.url))))
    const store = await openLmdbStore({ dir })
    const show = ({ key, value, revision, createRevision }: Versioned): string =>
      `${key} ${revision} since ${createRevision}: ${value.toString().slice(0, 12)} (${value.length})`
    expect([store.revision, store.compactedRevision, store.revisionAt(1_700_000_003_500)]).toEqual([8, 3, 3])
    expect((await store.range('')).items.map(show)).toEqual([
      '/registry/configmaps/default/ü 7 since 7:  (0)',
      '/registry/pods/default/web-0 6 since 1: third (5)',
      '/registry/pods/default/web-1 2 since 2: large large  (6000)',
      '/registry/pods/default/web-2 8 since 8: last (4)',
    ])
    expect((await store.range('/registry/pods/default/web-0', { revision: 5 })).items.map(({ revision }) => revision)).toEqual([3])
    expect((await store.range('')).items.map(({ mark }) => mark)).toEqual([undefined, undefined, undefined, undefined])
    await fill(store, 10)
    await store.compact(store.revision)
    await store.close()
  })

  const keys: [inFormat1: string, inFormat2: string][] = [
    ['/registry/services/default/web', '/registry/services/specs/default/web'],
    ['/registry/services/specs/web', '/registry/services/specs/specs/web'],
    ['/registry/services/endpoints/web', '/registry/services/specs/endpoints/web'],
    ['/registry/endpoints/default/web', '/registry/services/endpoints/default/web'],
    ['/registry/endpointslices/default/web', '/registry/endpointslices/default/web'],
    ['/registry/nodes/n-1', '/registry/minions/n-1'],
    ['/registry/replicationcontrollers/default/web', '/registry/controllers/default/web'],
    ['/registry/ingresses/default/web', '/registry/ingress/default/web'],
    ['/registry/ingressclasses/web', '/registry/ingressclasses/web'],
    ['/registry/clonesets/default/web', '/registry/apps.kruise.io/clonesets/default/web'],
    ['/registry/pods/default/nodes', '/registry/pods/default/nodes'],
    ['/registry/events/default/web', '/registry/events/default/web'],
    ['/else/registry/nodes/n-1', '/else/registry/nodes/n-1'],
  ]

  it.each(keys)('has for %s the key %s', (inFormat1, inFormat2) => expect(keyInFormat2(inFormat1)).toBe(inFormat2))

  /** Makes the file what the release before would have written with these writes. */
  async function asFormat1(): Promise<void> {
    const root = openLmdb({ path: file, noSubdir: true, overlappingSync: false })
    const meta = root.openDB('meta', { encoding: 'binary', keyEncoding: 'binary' })
    await meta.put(Buffer.from('format'), encodeMeta({ name: 'coxswain-store', version: 1 }))
    await root.close()
  }

  async function everything(store: Store) {
    const events: StoreEvent[] = []
    // The copies hold what each event replaced.
    const take = (some: readonly StoreEvent[]): void => void events.push(...some.map((event) => ({ ...event })))
    const watch = await store.watch('', store.compactedRevision, take)
    const { items } = await store.range('')
    watch.close()
    return { items, events, revisions: [store.revision, store.compactedRevision, store.revisionAt(2000)] }
  }

  it('converts keys once, and keeps revisions, history, times, marks and values', async () => {
    const clock = new SetClock()
    clock.timeMs = 1000
    const store = await openLmdbStore({ dir, clock })
    const sizes = [0, 10, 1900, 2000, 2020, 2040, 5000]
    for (const [i, [key]] of keys.entries()) {
      clock.timeMs += 100
      const value = Buffer.alloc(sizes[i % sizes.length]!, `${key} `)
      const created = await store.write({ key, expected: 0, value, mark: i })
      const expected = created.ok ? created.revision : 0
      const next = i % 4 === 3 ? undefined : Buffer.concat([value, value])
      await store.write({ key, expected, value: next, mark: 100 + i })
    }
    await store.compact(7)
    const before = await everything(store)
    await store.close()
    await asFormat1()

    let conversions = 0
    const open = () => openLmdbStore({ dir, clock, onConverted: () => conversions++ })
    const converted = await open()
    const after = await everything(converted)
    await fill(converted, 30)
    await converted.close()
    const again = await open()
    expect([again.revision, conversions]).toEqual([2 * keys.length + 60, 1])
    await again.close()

    const rename = <T extends { key: string }>(what: T): T => ({ ...what, key: keyInFormat2(what.key) })
    const byKey = (a: Versioned, b: Versioned): number => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key))
    expect(after.items).toEqual(before.items.map(rename).sort(byKey))
    expect(after.events).toEqual(
      before.events.map((event) => ({ ...rename(event), previous: event.previous && rename(event.previous) })),
    )
    expect(after.revisions).toEqual(before.revisions)
    expect(after.items.length).toBe(10)
    expect(after.events.length).toBe(2 * keys.length - 7)
  })

  it.each([10, 100, 1500, 3000])('makes the file as long as it will need, with records of %s bytes', async (size) => {
    const store = await openLmdbStore({ dir })
    const value = Buffer.alloc(size, 'x')
    const keys = Array.from({ length: 5000 }, (_, i) => `/registry/clonesets/a/${i}`)
    await Promise.all(keys.map((key) => store.write({ key, expected: 0, value })))
    await store.close()
    await asFormat1()
    const before = statSync(file).size
    await (await openLmdbStore({ dir })).close()
    const root = openLmdb({ path: file, noSubdir: true, overlappingSync: false })
    const meta = root.openDB('meta', { encoding: 'binary', keyEncoding: 'binary' })
    const reserved = meta.getBinary(Buffer.from('reserved'))!
    await root.close()
    // LMDB would have made it longer.
    expect(JSON.parse(reserved.toString('utf8', 4))).toEqual({ bytes: statSync(file).size })
    expect(statSync(file).size).toBeLessThan(4 * before)
  })
})

describe('openLmdbStore() on a file that is not ours', () => {
  it.each<[string, string | Buffer]>([
    ['a text', 'kind: Pod\n'],
    ['an SQLite database', Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(5000, 7)])],
    ['a gzip archive', Buffer.from('1f8b0800000000000003', 'hex')],
  ])('refuses %s', async (_, content) => {
    writeFileSync(file, content)
    expect((await refusal()).why).toBe('ForeignFormat')
  })

  const metaNamed = async (name: string, entry?: Buffer): Promise<void> => {
    const root = openLmdb({ path: file, noSubdir: true, overlappingSync: false })
    const options = { encoding: 'binary', keyEncoding: 'binary' } as const
    await root.openDB('log', options).put(Buffer.from('k'), Buffer.from('v'))
    await root.openDB(name, options).put(Buffer.from('format'), entry ?? Buffer.from('?'))
    await root.close()
    rmSync(`${file}-lock`)
  }

  it('refuses the database of another application', async () => {
    await metaNamed('settings')
    expect((await refusal()).why).toBe('ForeignFormat')
  })

  it('refuses a database that says it is something else', async () => {
    await metaNamed('meta', encodeMeta({ name: 'other' as 'coxswain-store', version: 1 }))
    expect((await refusal()).why).toBe('ForeignFormat')
  })

  it('refuses what a newer release wrote', async () => {
    await metaNamed('meta', encodeMeta({ name: 'coxswain-store', version: 3 }))
    const refused = await refusal()
    expect(refused.why).toBe('NewerFormat')
    expect(refused.message).toContain(`the data in ${dir} was written by a newer release (format 3; this one reads 2)`)
  })
})

describe('openLmdbStore() on a damaged file', () => {
  let sound: string
  let expected: string

  beforeAll(async () => {
    sound = mkdtempSync(join(tmpdir(), 'store-sound-'))
    const store = await openLmdbStore({ dir: sound })
    await fill(store, 150)
    await store.compact(150)
    expected = await contents(store)
    await store.close()
  })

  afterAll(() => rmSync(sound, { recursive: true }))

  beforeEach(() => copyFileSync(join(sound, 'data.mdb'), file))

  const overwrite = (start: number, length: number): void => {
    const content = readFileSync(file)
    for (let i = start; i < start + length; i++) content[i] = content[i]! ^ (1 + ((i * 37) % 255))
    writeFileSync(file, content)
  }

  it.each<[string, () => void]>([
    ['is empty', () => truncateSync(file, 0)],
    ['is shorter than a header', () => truncateSync(file, 100)],
    ['is shorter than its two headers', () => truncateSync(file, 5000)],
    ['has lost its second half', () => truncateSync(file, statSync(file).size / 2)],
    ['is random from the first byte', () => overwrite(0, statSync(file).size)],
    ['has a damaged first page', () => overwrite(0, 4096)],
    ['has a damaged second page', () => overwrite(4096, 4096)],
    ['is damaged behind its headers', () => overwrite(8192, statSync(file).size - 8192)],
  ])('refuses one that %s', async (_, damage) => {
    damage()
    const refused = await refusal()
    expect(refused.why).toBe('Corrupt')
    expect(refused.message).toContain(file)
  })

  it('refuses one that would write over its own pages', async () => {
    const content = readFileSync(file)
    // The header of the newer transaction names the root of the free list; its first page number becomes a used one's.
    const meta = 24 + (content.readUInt32LE(24 + 128) > content.readUInt32LE(4096 + 24 + 128) ? 0 : 4096)
    const freeRoot = content.readUInt32LE(meta + 24 + 40) * 4096
    const mainRoot = content.readUInt32LE(meta + 72 + 40)
    const node = freeRoot + 24 + content.readUInt16LE(freeRoot + 24)
    content.writeUInt32LE(mainRoot, node + 8 + 8 + 8)
    writeFileSync(file, content)
    expect(await refusal()).toMatchObject({ why: 'Corrupt', message: expect.stringContaining('used twice') })
  })

  it('refuses one of which any few bytes were changed, unless they did not matter', async () => {
    const original = readFileSync(file)
    let refusals = 0
    const property = fc.asyncProperty(fc.nat(original.length - 1), fc.integer({ min: 1, max: 64 }), async (start, length) => {
      writeFileSync(file, original)
      overwrite(start, Math.min(length, original.length - start))
      const damaged = readFileSync(file)
      try {
        const store = await openLmdbStore({ dir })
        expect(await contents(store)).toBe(expected)
        await fill(store, 30, 1) // LMDB now uses the pages that it believes to be free
        const after = await contents(store)
        await store.close()
        const again = await openLmdbStore({ dir })
        expect(await contents(again)).toBe(after)
        await again.close()
      } catch (error) {
        expect(error).toMatchObject({ why: 'Corrupt' })
        expect(readFileSync(file).equals(damaged)).toBe(true)
        refusals++
      }
    })
    await fc.assert(property, { numRuns: 80 })
    expect(refusals).toBeGreaterThan(10)
  }, 30_000)
})
