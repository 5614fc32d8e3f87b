import { renameSync, writeFileSync } from 'node:fs'

/**
 * Writes a file atomically: a reader gets the old or the new content. It is not synced, so that a power failure may leave
 * it empty: for state that ends with the processes of the machine. Other files need `replaceFile`.
 */
export function writeWhole(file: string, content: string): void {
  const beside = `${file}.new`
  writeFileSync(beside, content, { mode: 0o600 })
  renameSync(beside, file)
}
