import { chmodSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import type { Logger } from '../../base/logger.ts'

/** Mode bits of group and others. */
const others = 0o077

/**
 * Makes secrets accessible to their owner only: keys, kubeconfigs and the store's files in a data directory. Logs files
 * that others could access, because they may have been read.
 */
export function keepPrivate(dataDir: string, logger: Logger): void {
  const isOpen = openMode(dataDir) !== undefined
  for (const dir of [path.join(dataDir, 'pki'), path.join(dataDir, 'db')]) {
    const files = filesOf(dir)
    // A file in a directory without access for others was private anyway.
    const wasReachable = isOpen && openMode(dir) !== undefined
    for (const file of [dir, ...files]) close(file, wasReachable, logger)
  }
  // Contents of persistent volumes belong to pods, which reach them only through mounts.
  for (const name of ['kubeconfig', 'volumes']) close(path.join(dataDir, name), isOpen, logger)
  warnIfOpen('--data-dir', dataDir, logger)
}

function close(file: string, wasReachable: boolean, logger: Logger): void {
  const mode = openMode(file)
  if (mode === undefined) return
  chmodSync(file, mode & ~others)
  if (wasReachable)
    logger.warn('a private file was readable by others; its mode was corrected', { file, mode: octal(mode) })
}

/** Logs a warning if others may read a file of the user. */
export function warnIfOpen(flag: string, file: string, logger: Logger): void {
  const mode = openMode(file)
  if (mode === undefined) return
  const wanted = statSync(file).isDirectory() ? '0700' : '0600'
  logger.warn('a private file is readable by others', { flag, file, mode: octal(mode), wanted })
}

const octal = (mode: number): string => `0${(mode & 0o777).toString(8)}`

/** Returns the mode of a file that others may access; undefined if they may not, or there is no such file. */
function openMode(file: string): number | undefined {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode
  return mode === undefined || (mode & others) === 0 ? undefined : mode & 0o7777
}

function filesOf(dir: string): string[] {
  if (!statSync(dir, { throwIfNoEntry: false })?.isDirectory()) return []
  return readdirSync(dir).map((name) => path.join(dir, name))
}
