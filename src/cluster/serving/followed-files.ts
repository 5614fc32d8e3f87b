import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import { readFlagFile } from './flag-files.ts'

/** A file named by a flag and reread when it changes. */
export interface FollowedFile {
  readonly flag: string
  readonly file: string
  /** Rereads the file. Returns true if it changed. Throws if it is invalid; the previous content stays. */
  reread(): boolean
}

/**
 * Reads a file and adds it to the list of followed files. Returns a function that returns the latest parsed content.
 */
export function followed<T>(list: FollowedFile[], flag: string, file: string, read: (text: string) => T): () => T {
  const make = (content: string): T => {
    try {
      return read(content)
    } catch (e) {
      const { message } = e as Error
      throw new Error(message.startsWith(flag) ? message : `${flag}: ${file}: ${message}`, { cause: e })
    }
  }
  let text = readFlagFile(flag, file)
  let made = make(text)
  const reread = () => {
    const now = readFlagFile(flag, file)
    if (now === text) return false
    made = make(now)
    text = now
    return true
  }
  list.push({ flag, file, reread })
  return () => made
}

/** Interval between checks of the files. */
const everyMs = 10_000

/**
 * Polls the files, and calls `changed` after any of them changed. An invalid file is logged once per change, and its
 * previous content stays. The returned function stops polling.
 */
export function followFiles(
  files: readonly FollowedFile[],
  changed: () => void,
  clock: Clock,
  logger: Logger,
): () => void {
  if (files.length === 0) return () => {}
  const told = new Map<string, string>()
  const check = () => {
    const isChanged = files.map((followedFile) => rereadOne(followedFile, told, logger)).includes(true)
    if (isChanged) changed()
    cancel = clock.after(everyMs, check)
  }
  let cancel = clock.after(everyMs, check)
  return () => cancel()
}

function rereadOne({ flag, file, reread }: FollowedFile, told: Map<string, string>, logger: Logger): boolean {
  try {
    const isChanged = reread()
    if (isChanged) logger.info('reloaded a changed file', { flag, file })
    told.delete(flag)
    return isChanged
  } catch (error) {
    const { message } = error as Error
    if (told.get(flag) !== message)
      logger.warn('failed to reload a file; keeping its previous content', { flag, file, error })
    told.set(flag, message)
    return false
  }
}
