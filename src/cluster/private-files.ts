import { chmodSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import type { Logger } from '../base/logger.ts'

/** What a group or everybody may do. */
const others = 0o077

/**
 * Makes what others must not read the owner's alone: keys, kubeconfig and the store's files in a data directory.
 * What others could get at is told of, since they may have read it.
 */
export function keepPrivate(dataDir: string, logger: Logger): void {
  const isOpen = openMode(dataDir) !== undefined
  for (const dir of [path.join(dataDir, 'pki'), path.join(dataDir, 'db')]) {
    const files = filesOf(dir)
    // A file in a directory that others cannot enter was private all the same.
    const wasReachable = isOpen && openMode(dir) !== undefined
    for (const file of [dir, ...files]) close(file, wasReachable, logger)
  }
  // What persistent volumes hold belongs to its pods, and is reached by mounts only.
  for (const name of ['kubeconfig', 'volumes']) close(path.join(dataDir, name), isOpen, logger)
  warnIfOpen('--data-dir', dataDir, logger)
}

function close(file: string, wasReachable: boolean, logger: Logger): void {
  const mode = openMode(file)
  if (mode === undefined) return
  chmodSync(file, mode & ~others)
  if (wasReachable) logger.warn('a private file could be read by others; now it cannot', { file, mode: octal(mode) })
}

/** Tells of a file of the user's own that others may read. */
export function warnIfOpen(flag: string, file: string, logger: Logger): void {
  const mode = openMode(file)
  if (mode === undefined) return
  const wanted = statSync(file).isDirectory() ? '0700' : '0600'
  logger.warn('others on this machine may read what must be private', { flag, file, mode: octal(mode), wanted })
}

const octal = (mode: number): string => `0${(mode & 0o777).toString(8)}`

/** The mode of a file that others may use; undefined where they may not, and where there is no such file. */
function openMode(file: string): number | undefined {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode
  return mode === undefined || (mode & others) === 0 ? undefined : mode & 0o7777
}

function filesOf(dir: string): string[] {
  if (!statSync(dir, { throwIfNoEntry: false })?.isDirectory()) return []
  return readdirSync(dir).map((name) => path.join(dir, name))
}
