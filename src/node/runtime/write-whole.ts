import { renameSync, writeFileSync } from 'node:fs'

/** Writes a file so that who reads it finds the old content or the new one, never a part. */
export function writeWhole(file: string, content: string): void {
  const beside = `${file}.new`
  writeFileSync(beside, content, { mode: 0o600 })
  renameSync(beside, file)
}
