import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'

// A file is on disk after a sync of the file, and its name after a sync of its directory. Without the first, a power
// failure leaves an empty file under the new name; without the second, no file or the old one.

/** Replaces a file: readers get the old or the new content, also after a power failure. It is on disk on return. */
export function replaceFile(file: string, content: string | Buffer, { mode = 0o600 }: { mode?: number } = {}): void {
  const unfinished = `${file}.new`
  writeFileSync(unfinished, content, { mode, flush: true })
  renameDurably(unfinished, file)
}

/** Renames a file or directory. Its content must be synced. The new name is on disk on return. */
export function renameDurably(from: string, to: string): void {
  renameSync(from, to)
  syncDirectory(path.dirname(to))
  if (path.dirname(from) !== path.dirname(to)) syncDirectory(path.dirname(from))
}

/** Creates a directory and those above it. Their names are on disk on return. */
export function makeDirectory(directory: string, { mode = 0o700 }: { mode?: number } = {}): void {
  const first = mkdirSync(directory, { recursive: true, mode })
  if (first === undefined) return
  for (let made = path.resolve(directory); made.length >= first.length; made = path.dirname(made))
    syncDirectory(path.dirname(made))
}

function syncDirectory(directory: string): void {
  const opened = openSync(directory, 'r')
  try {
    fsyncSync(opened)
  } finally {
    closeSync(opened)
  }
}
