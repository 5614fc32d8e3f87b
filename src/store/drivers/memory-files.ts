import { lstatSync, mkdtempSync, readlinkSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The memory file system of Linux. */
const parent = '/dev/shm/coxswain-'

/** Creates a private directory in memory; undefined if there is no memory file system. */
export function makeMemoryDirectory(): string | undefined {
  try {
    return mkdtempSync(parent)
  } catch {
    return undefined
  }
}

/**
 * Removes a lock file of LMDB, and puts a symbolic link to a memory file system in its place. Every read transaction
 * writes to the lock file through a memory map. On disk, that write would block the event loop while the disk hangs,
 * and kill the process (SIGBUS) when the disk is full. Reader slots of a killed owner in an old lock file would also
 * keep pages from being reused.
 */
export function renewLockFile(path: string): void {
  removeLockFile(path)
  const directory = makeMemoryDirectory()
  if (directory === undefined) return
  try {
    symlinkSync(join(directory, 'lock'), path)
  } catch (e) {
    rmSync(directory, { recursive: true })
    throw e
  }
}

/** Removes a lock file. A process that has opened it keeps its copy. */
export function removeLockFile(path: string): void {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
  const directory = isLink ? dirname(readlinkSync(path)) : ''
  if (directory.startsWith(parent)) rmSync(directory, { recursive: true, force: true })
  rmSync(path, { force: true })
}
