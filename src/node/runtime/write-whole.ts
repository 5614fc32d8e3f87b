import { renameSync, writeFileSync } from 'node:fs'

/** Writes a file atomically: a reader gets the old or the new content. */
export function writeWhole(file: string, content: string): void {
  const beside = `${file}.new`
  writeFileSync(beside, content, { mode: 0o600 })
  renameSync(beside, file)
}
