import { type Hash, createHash } from 'node:crypto'
import { closeSync, createReadStream, fsyncSync, openSync, writeSync } from 'node:fs'
import { linesOf } from '../../base/lines.ts'
import type { SnapshotItem } from '../../store/index.ts'
import type { ClusterKeys } from '../keys/cluster-keys.ts'

/** Version of this format. Later versions are rejected. */
const format = 1

/** The first line of a backup. */
export interface BackupHead {
  coxswainBackup: number
  revision: number
  takenAt: string
  /** Undefined if the data directory has no keys yet. */
  keys?: ClusterKeys
}

interface LineItem {
  key: string
  value: string
  mark?: number
}

/** The last line; `sha256` covers all bytes before it. */
interface Tail {
  items: number
  sha256: string
}

/** JSON allows these characters in a text, but some programs end a line at them. */
const separators = /[\u2028\u2029]/g
const escaped = (separator: string): string => (separator === '\u2028' ? '\\u2028' : '\\u2029')

/** Encodes an item as a line of JSON. Base64 needs no escapes. */
export const itemLine = ({ key, value, mark }: SnapshotItem): string =>
  `{"key":${JSON.stringify(key).replaceAll(separators, escaped)},"value":"${value.toString('base64')}"${mark === undefined ? '' : `,"mark":${mark}`}}`

export const itemOf = ({ key, value, mark }: LineItem): SnapshotItem => ({
  key,
  value: Buffer.from(value, 'base64'),
  mark,
})

export interface BackupSummary {
  items: number
  revision: number
}

/** Writes and syncs a file. Resolves to the checksum of its content. */
export async function writeBackupFile(
  file: string,
  head: Omit<BackupHead, 'coxswainBackup'>,
  pages: AsyncIterable<readonly SnapshotItem[]>,
): Promise<Tail> {
  const out = openSync(file, 'w', 0o600)
  const hash = createHash('sha256')
  let items = 0
  try {
    const whole: BackupHead = { coxswainBackup: format, ...head }
    append(out, `${JSON.stringify(whole)}\n`, hash)
    for await (const page of pages) {
      items += page.length
      append(out, page.map((item) => `${itemLine(item)}\n`).join(''), hash)
    }
    const tail: Tail = { items, sha256: hash.digest('hex') }
    writeAll(out, `${JSON.stringify(tail)}\n`)
    fsyncSync(out)
    return tail
  } finally {
    closeSync(out)
  }
}

function append(out: number, text: string, hash: Hash): void {
  hash.update(text)
  writeAll(out, text)
}

/** Writes all of the text: a nearly full disk may accept only a part at a time. */
function writeAll(out: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length;) at += writeSync(out, bytes, at)
}

type OnItem = (item: SnapshotItem) => void | Promise<void>

/**
 * Reads and checks a backup: rejects if it is not a backup or was changed. `onItem` is called before the checksum is
 * verified.
 */
export async function readBackupFile(
  file: string,
  onItem: OnItem = () => {},
): Promise<{ head: BackupHead; tail: Tail }> {
  const damaged = (why: string) => new Error(`${file} is not a backup, or is damaged: ${why}`)
  const hash = createHash('sha256')
  let head: BackupHead | undefined
  let items = 0
  const take = async (line: string): Promise<void> => {
    hash.update(`${line}\n`)
    if (!head) {
      head = parsed<BackupHead>(line)
      if (typeof head?.coxswainBackup !== 'number') throw damaged('its first line is wrong')
      if (head.coxswainBackup > format)
        throw new Error(
          `${file} was written by a newer release (backup format ${head.coxswainBackup}; this one reads ${format})`,
        )
      return
    }
    const item = parsed<LineItem>(line)
    if (typeof item?.key !== 'string' || typeof item.value !== 'string')
      throw damaged(`line ${items + 2} is not an object`)
    items++
    await onItem(itemOf(item))
  }
  /** Parsed once another line follows: the last line is not an item. */
  let last: string | undefined
  for await (const line of linesOf(createReadStream(file))) {
    if (last !== undefined) await take(last)
    last = line
  }
  if (!head || last === undefined) throw damaged('it ends too early')
  const tail = parsed<Tail>(last)
  if (tail?.sha256 === undefined) throw damaged('its last line is missing')
  if (tail.sha256 !== hash.digest('hex') || tail.items !== items) throw damaged('its checksum does not match')
  return { head, tail }
}

function parsed<T>(line: string): T | undefined {
  try {
    return JSON.parse(line) as T
  } catch {
    return undefined
  }
}
