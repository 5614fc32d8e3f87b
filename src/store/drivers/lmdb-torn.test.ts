import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SeededRandom } from '../../base/seeded-random.ts'
import { type Store, StoreOpenError } from '../store.ts'
import { openLmdbStore } from './lmdb.ts'

const sectorSize = 512
const headerBytes = 8192

let dir: string
let file: string

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'store-torn-'))
  file = join(dir, 'data.mdb')
})
afterEach(() => rmSync(dir, { recursive: true }))

async function contents(store: Store): Promise<string> {
  const { items, revision } = await store.range('')
  return JSON.stringify({ revision, items: items.map(({ key, value, revision }) => [key, revision, value.toString('base64')]) })
}

interface State {
  bytes: Buffer
  contents: string
}

/** The number of the transaction that a file shows. */
const transactionOf = (bytes: Buffer): number => Math.max(bytes.readUInt32LE(24 + 128), bytes.readUInt32LE(4096 + 24 + 128))

/** Pairs of states of a file, the second one transaction after the first. */
async function commits(): Promise<[before: State, after: State][]> {
  const states = await history()
  const pairs = states.slice(1).map((after, i): [State, State] => [states[i]!, after])
  return pairs.filter(([before, after]) => transactionOf(after.bytes) === transactionOf(before.bytes) + 1)
}

/** The file and the contents after each of some commits. */
async function history(): Promise<State[]> {
  const states: State[] = []
  const store = await openLmdbStore({ dir })
  const revisions = new Map<string, number>()
  for (let commit = 0; commit < 24; commit++) {
    await Promise.all(Array.from({ length: 1 + (commit % 5) }, async (_, i) => {
      const key = `/k/${(commit * 3 + i) % 11}`
      const result = await store.write({ key, expected: revisions.get(key) ?? 0, value: Buffer.alloc((commit * 977 + i * 131) % 7000, `${key} ${commit} `) })
      if (result.ok) revisions.set(key, result.revision)
    }))
    if (commit % 6 === 5) await store.compact(store.revision - 2)
    states.push({ bytes: readFileSync(file), contents: await contents(store) })
  }
  await store.close()
  return states
}

/** The sectors of a commit that reached the disk, over the file as it was before. */
function torn(before: Buffer, after: Buffer, arrives: (position: number) => boolean): Buffer {
  const bytes = Buffer.alloc(after.length)
  before.copy(bytes)
  for (let at = 0; at < after.length; at += sectorSize) {
    if (arrives(at)) after.copy(bytes, at, at, Math.min(at + sectorSize, after.length))
  }
  return bytes
}

async function openAs(bytes: Buffer): Promise<string> {
  writeFileSync(file, bytes)
  try {
    const store = await openLmdbStore({ dir })
    const found = await contents(store)
    await store.close()
    return found
  } catch (e) {
    if (!(e instanceof StoreOpenError)) throw e
    // A page that names none of our databases could be another application's.
    expect(e.message).toMatch(/is corrupt: .*It was not changed; restore a backup|of another application, or damaged/)
    // A file that is refused is left as it was.
    expect(readFileSync(file).equals(bytes)).toBe(true)
    return 'refused'
  }
}

describe('openLmdbStore() after a commit that reached the disk in part', () => {
  it('has the commit before it, whichever sectors arrived, as long as its header did not', async () => {
    const pairs = await commits()
    expect(pairs.length).toBeGreaterThan(15)
    const chance = new SeededRandom(25)
    const random = () => chance.next()
    for (let round = 0; round < 150; round++) {
      const [before, after] = pairs[Math.floor(random() * pairs.length)]!
      const share = random()
      const bytes = torn(before.bytes, after.bytes, (position) => position >= headerBytes && random() < share)
      expect(await openAs(bytes)).toBe(before.contents)
    }
  })

  it('has the commit whole or is refused, where a disk wrote the header before the rest', async () => {
    const pairs = await commits()
    const chance = new SeededRandom(26)
    const random = () => chance.next()
    const seen = { whole: 0, refused: 0 }
    for (let round = 0; round < 250; round++) {
      const [before, after] = pairs[Math.floor(random() * pairs.length)]!
      const share = random() ** 0.2
      const bytes = torn(before.bytes, after.bytes, (position) => position < headerBytes || random() < share)
      const found = await openAs(bytes)
      if (found === 'refused') seen.refused++
      else {
        expect(found).toBe(after.contents)
        seen.whole++
      }
    }
    expect(seen.whole).toBeGreaterThan(10)
    expect(seen.refused).toBeGreaterThan(10)
  })

  it('is refused if the end of the file is missing', async () => {
    const states = await history()
    const { bytes } = states.at(-1)!
    expect(await openAs(bytes)).toBe(states.at(-1)!.contents)
    for (const share of [0.9, 0.5, 0.1]) expect(await openAs(bytes.subarray(0, Math.floor(bytes.length * share)))).toBe('refused')
  })
})
