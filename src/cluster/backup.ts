import { type Hash, createHash } from 'node:crypto'
import { closeSync, createReadStream, existsSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { Store } from '../store/index.ts'
import { type ClusterKeys, keysInStore, readKeyFiles, writeKeys } from './cluster-keys.ts'

/** The first line of a backup. */
interface Head {
  coxswainBackup: 1
  revision: number
  takenAt: string
  /** Absent where the data directory has none yet. */
  keys?: ClusterKeys
}

interface Item {
  key: string
  value: string
  mark?: number
}

/** The last line: `sha256` is that of all bytes before it. */
interface Tail {
  items: number
  sha256: string
}

export interface BackupSummary {
  items: number
  revision: number
}

/** Written by hand once so many characters have come together. */
const chunkLength = 1 << 20

/** Writes everything that is stored, as of one revision, and reads it back. The file is there whole, or not at all. */
export async function writeBackup(store: Store, dataDir: string, file: string, now: number): Promise<BackupSummary> {
  if (existsSync(file)) throw new Error(`${file} exists already`)
  const { items, revision } = await store.range('')
  const keys = readKeyFiles(dataDir, now) ?? (await keysInStore(store))
  const unfinished = `${file}.new`
  const out = openSync(unfinished, 'w', 0o600)
  try {
    const hash = createHash('sha256')
    const head: Head = { coxswainBackup: 1, revision, takenAt: new Date(now).toISOString(), ...(keys ? { keys } : {}) }
    let text = `${JSON.stringify(head)}\n`
    for (const { key, value, mark } of items) {
      const item: Item = { key, value: value.toString('base64'), ...(mark === undefined ? {} : { mark }) }
      text += `${JSON.stringify(item)}\n`
      if (text.length < chunkLength) continue
      append(out, text, hash)
      text = ''
    }
    append(out, text, hash)
    const tail: Tail = { items: items.length, sha256: hash.digest('hex') }
    writeSync(out, `${JSON.stringify(tail)}\n`)
    fsyncSync(out)
  } finally {
    closeSync(out)
  }
  const read = await readBackup(unfinished)
  const isSame = read.items.length === items.length && items.every(({ key, value }, i) => read.items[i]!.key === key && read.items[i]!.value === value.toString('base64'))
  if (!isSame) {
    rmSync(unfinished)
    throw new Error(`${file}: what was written is not what was read back`)
  }
  renameSync(unfinished, file)
  return { items: items.length, revision }
}

function append(out: number, text: string, hash: Hash): void {
  hash.update(text)
  writeSync(out, text)
}

/** Fills an empty store, and checks by reading that all of it is there. */
export async function restoreBackup(store: Store, dataDir: string, file: string): Promise<BackupSummary> {
  const { head, items } = await readBackup(file)
  const found = await store.range('', { limit: 1 })
  if (found.items.length > 0) throw new Error('the store is not empty: a backup is restored into a new one only')
  if (head.keys && existsSync(path.join(dataDir, 'pki', 'ca.key'))) throw new Error(`${path.join(dataDir, 'pki')} has keys already: a backup is restored into a new data directory only`)
  for (let from = 0; from < items.length; from += 200) {
    await Promise.all(items.slice(from, from + 200).map(async ({ key, value, mark }) => {
      const result = await store.write({ key, expected: 0, value: Buffer.from(value, 'base64'), mark })
      if (!result.ok) throw new Error(`${key} is there already: another process writes to the store`)
    }))
  }
  if (head.keys) writeKeys(head.keys, dataDir)
  const written = new Map((await store.range('')).items.map((item) => [item.key, item.value]))
  for (const { key, value } of items) {
    if (written.get(key)?.toString('base64') !== value) throw new Error(`${key} was not restored as it was`)
  }
  return { items: items.length, revision: store.revision }
}

/** Rejects for a file that is no backup, or not as it was written. */
async function readBackup(file: string): Promise<{ head: Head; items: Item[] }> {
  const hash = createHash('sha256')
  const lines: string[] = []
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    const last = lines.at(-1)
    if (last !== undefined) hash.update(`${last}\n`)
    lines.push(line)
  }
  const damaged = (why: string) => new Error(`${file} is no backup, or is damaged: ${why}`)
  const [first, ...rest] = lines
  const end = rest.pop()
  if (first === undefined || end === undefined) throw damaged('it ends too early')
  const head = parsed<Head>(first)
  if (head?.coxswainBackup !== 1) throw damaged('its first line is another')
  const tail = parsed<Tail>(end)
  if (tail?.sha256 === undefined) throw damaged('its last line is missing')
  if (tail.sha256 !== hash.digest('hex') || tail.items !== rest.length) throw damaged('its checksum is another')
  return { head, items: rest.map((line) => parsed<Item>(line)!) }
}

function parsed<T>(line: string): T | undefined {
  try {
    return JSON.parse(line) as T
  } catch {
    return undefined
  }
}
