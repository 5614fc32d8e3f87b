import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/logger.ts'
import { readFlagFile } from './flag-files.ts'

/** A file that a flag names, and that counts as it is now. */
export interface FollowedFile {
  readonly flag: string
  readonly file: string
  /** Reads it again. True if it has changed; throws what is wrong with it, and then the old content stays. */
  reread(): boolean
}

/** Reads a file now, and adds it to the list of those that are read again. Answers what was made of it last. */
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

/** How often files are looked at. */
const everyMs = 10_000

/**
 * Looks at the files again and again, and calls `changed` after some of them have changed. One that cannot be used is
 * told once for each of its failures, and the old content stays. The answered function ends it.
 */
export function followFiles(
  files: readonly FollowedFile[],
  changed: () => void,
  clock: Clock,
  logger: Logger,
): () => void {
  if (files.length === 0) return () => {}
  const told = new Map<string, string>()
  const look = () => {
    const isChanged = files.map((followedFile) => rereadOne(followedFile, told, logger)).includes(true)
    if (isChanged) changed()
    cancel = clock.after(everyMs, look)
  }
  let cancel = clock.after(everyMs, look)
  return () => cancel()
}

function rereadOne({ flag, file, reread }: FollowedFile, told: Map<string, string>, logger: Logger): boolean {
  try {
    const isChanged = reread()
    if (isChanged) logger.info('a file has changed, and counts from now on', { flag, file })
    told.delete(flag)
    return isChanged
  } catch (error) {
    const { message } = error as Error
    if (told.get(flag) !== message) logger.warn('a file cannot be used: its old content counts', { flag, file, error })
    told.set(flag, message)
    return false
  }
}
