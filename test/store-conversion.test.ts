import { spawn } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { open as openLmdb } from 'lmdb'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { encodeMeta, keyInFormat2, readContents } from '../src/store/drivers/lmdb-format.ts'
import { type Store, type StoreEvent, openLmdbStore } from '../src/store/index.ts'
import { bundleChild } from './bundle-child.ts'

/** `STORE_CONVERSION_KILLS=50 npx vitest run --project e2e test/store-conversion.test.ts` */
const kills = Number(process.env.STORE_CONVERSION_KILLS ?? 10)
const renamed = ['services/a/', 'endpoints/a/', 'nodes/', 'ingresses/a/', 'replicationcontrollers/a/', 'clonesets/a/']
const prefixes = [...renamed, 'pods/a/']
const sizes = [40, 700, 1990, 3000, 9000]
const objects = 7000

let home: string
let script: string
/** The file of format 1 that is converted again and again, and what it holds. */
let original: string
let expected: string[]
let dir: string
let file: string

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'store-conversion-'))
  script = await bundleChild(fileURLToPath(new URL('store-conversion-child.ts', import.meta.url)), home)
  const store = await openLmdbStore({ dir: join(home, 'original') })
  await fill(store)
  expected = (await everything(store, keyInFormat2)).sort()
  await store.close()
  original = join(home, 'original/data.mdb')
  await makeFormat1(original)
}, 60_000)

afterAll(() => rmSync(home, { recursive: true }))

beforeEach(() => {
  dir = mkdtempSync(join(home, 'kill-'))
  file = join(dir, 'data.mdb')
  copyFileSync(original, file)
})

afterEach(() => rmSync(dir, { recursive: true }))

/** Objects of kinds whose keys change, and of one whose keys do not; some with history, some deleted. */
async function fill(store: Store): Promise<void> {
  const keyOf = (i: number) => `/registry/${prefixes[i % prefixes.length]}item-${i}`
  const valueOf = (i: number, text: string) => Buffer.alloc(sizes[i % sizes.length]!, `${text} ${i} `)
  const all = Array.from({ length: objects }, (_, i) => i)
  const create = (i: number) => store.write({ key: keyOf(i), expected: 0, value: valueOf(i, 'first'), mark: 1 + i })
  const created = await Promise.all(all.map(create))
  await store.compact(objects / 2)
  const change = (i: number) => {
    const { revision: expected } = created[i] as { revision: number }
    return store.write({ key: keyOf(i), expected, value: i % 22 === 0 ? undefined : valueOf(i, 'second'), mark: 2 + i })
  }
  await Promise.all(all.filter((i) => i % 11 === 0).map(change))
}

/** The readable content of a store: the current objects and the history. */
async function everything(store: Store, rename: (key: string) => string = (key) => key): Promise<string[]> {
  const events: StoreEvent[] = []
  const watch = await store.watch('', store.compactedRevision, (some) => events.push(...some))
  watch.close()
  const { items, revision } = await store.range('')
  const text = (value: Buffer) => `${value.length} ${value.toString('latin1', 0, 16)}`
  return [
    `revision ${revision}, history after ${store.compactedRevision}`,
    ...items.map((o) => `${rename(o.key)} ${o.revision} since ${o.createRevision} by ${o.mark}: ${text(o.value)}`),
    ...events.map((e) => `${e.type} ${rename(e.key)} at ${e.revision}: ${e.type === 'put' ? text(e.value) : ''}`),
  ]
}

async function makeFormat1(path: string): Promise<void> {
  const root = openLmdb({ path, noSubdir: true, overlappingSync: false })
  const meta = root.openDB('meta', { encoding: 'binary', keyEncoding: 'binary' })
  await meta.put(Buffer.from('format'), encodeMeta({ name: 'coxswain-store', version: 1 }))
  await root.close()
}

/** Opens the directory in a process of its own, which is killed that long after it began. Answers what it said. */
async function openInChild(killAfterMs?: number, command = [process.execPath]) {
  const [program = '', ...args] = command
  const child = spawn(program, [...args, script, dir], { stdio: ['ignore', 'pipe', 'ignore'] })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const said: string[] = []
  let beganMs = 0
  let timer: NodeJS.Timeout | undefined
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line)
    if (line !== 'opening') continue
    beganMs = performance.now()
    if (killAfterMs !== undefined) timer = setTimeout(() => child.kill('SIGKILL'), killAfterMs)
  }
  const tookMs = performance.now() - beganMs
  await ended
  clearTimeout(timer)
  return { said, tookMs }
}

const formatOnDisk = (): number => (readContents(file).outdated ? 1 : 2)

/** Checks that nothing is lost, whether the directory was converted before or is now. */
async function checkAll(): Promise<void> {
  const store = await openLmdbStore({ dir })
  const found = (await everything(store)).sort()
  await store.close()
  expect(found.length).toBe(expected.length)
  expect(found.find((line, i) => line !== expected[i])).toBeUndefined()
  expect(formatOnDisk()).toBe(2)
}

describe('a conversion whose process is killed', () => {
  it(`loses nothing, at ${kills} moments`, async () => {
    const { said, tookMs } = await openInChild()
    expect(said).toEqual(['opening', 'converted', 'open'])
    await checkAll()
    const formats: number[] = []
    for (let kill = 0; kill < kills; kill++) {
      copyFileSync(original, file)
      // At random, but spread over the whole time.
      await openInChild(((kill + Math.random()) / kills) * tookMs)
      formats.push(formatOnDisk())
      await checkAll()
    }
    // The first were before its end.
    expect(formats[0]).toBe(1)
  }, 30_000 + kills * 2000)
})

describe('a conversion without room on the disk', () => {
  it('changes nothing, says so, and is made when there is room', async () => {
    // A limit on the size of a file looks like a full disk; 512-byte or 1-KB blocks, as the shell likes.
    const blocks = Math.floor(statSync(file).size / 1024)
    const limited = ['sh', '-c', `ulimit -f ${blocks}; exec "$@"`, 'sh', process.execPath]
    const { said } = await openInChild(undefined, limited)
    expect(said).toEqual(['opening', expect.stringMatching(/^refused NotConverted the data in .* It was not changed/)])
    expect(said[1]).toContain('could not be converted to format 2: ')
    expect(formatOnDisk()).toBe(1)
    await checkAll()
  }, 20_000)
})
