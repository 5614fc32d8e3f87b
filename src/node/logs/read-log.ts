import { type FileHandle, open, stat } from 'node:fs/promises'
import type { Clock } from '../../base/clock.ts'
import { LineSplitter } from './log-line.ts'
import type { LogOptions } from './log-options.ts'
import { Shown } from './shown.ts'
import { findTail } from './tail.ts'

export interface LogReader {
  clock: Clock
  /** Whether more may be written. */
  isWritten(): boolean
  signal: AbortSignal
}

/** A writer keeps no more files than this, the current one included. */
const mostFiles = 5

/** How often a log that is followed is looked at for more. */
const lookMs = 100

const pieceBytes = 64 * 1024

/**
 * What a container has said, as people want to see it: over all files that its log was written to. Where there is no
 * file, nothing was said.
 */
export async function* readLog(file: string, options: LogOptions, reader: LogReader): AsyncGenerator<Buffer> {
  const shown = new Shown(options)
  const files = await openAll(file)
  try {
    let position = await startIn(files, options.tailLines)
    let readFile: number | undefined
    for (;;) {
      const handle = files[0]
      if (handle) {
        for await (const lines of linesOf(
          handle,
          position,
          files.length > 1 ? undefined : follower(file, handle, options, reader),
        )) {
          const text = shown.show(lines)
          if (text.length > 0) yield text
          if (shown.isFull || reader.signal.aborted) return
        }
        readFile = (await handle.stat()).ino
        files.shift()
        await handle.close()
        position = 0
      }
      if (files.length > 0) continue
      if (!options.follow || reader.signal.aborted) return
      // Read before the file is looked for: what was written until then is in it.
      const mayCome = reader.isWritten()
      const next = await openIfThere(file)
      if (next && (await next.stat()).ino !== readFile) {
        files.push(next)
        continue
      }
      await next?.close()
      if (!mayCome) return
      await pause(reader)
    }
  } finally {
    for (const handle of files) await handle.close()
  }
}

/** Oldest first. */
async function openAll(file: string): Promise<FileHandle[]> {
  const files: FileHandle[] = []
  for (let n = mostFiles - 1; n >= 0; n--) {
    const handle = await openIfThere(n === 0 ? file : `${file}.${n}`)
    if (handle) files.push(handle)
  }
  return files
}

async function openIfThere(file: string): Promise<FileHandle | undefined> {
  try {
    return await open(file, 'r')
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw e
  }
}

/** Drops the files in which nothing is to be read, and answers where to begin in the first that is left. */
async function startIn(files: FileHandle[], tailLines: number | undefined): Promise<number> {
  if (tailLines === undefined) return 0
  let missing = tailLines
  for (let i = files.length - 1; i >= 0; i--) {
    const { lines, position } = await findTail(files[i]!, missing)
    missing -= lines
    if (missing > 0) continue
    for (const handle of files.splice(0, i)) await handle.close()
    return position
  }
  return 0
}

/** Tells, at the end of a file, whether to look again (`true`) or to leave it. */
type AtEnd = () => Promise<boolean>

function follower(file: string, handle: FileHandle, { follow }: LogOptions, reader: LogReader): AtEnd | undefined {
  if (!follow) return undefined
  let isLast = false
  return async () => {
    if (isLast || reader.signal.aborted) return false
    // Asked first: what was written before the end is then in the file, and is read once more.
    const isOver = !reader.isWritten() || (await isReplaced(file, handle))
    if (isOver) isLast = true
    else await pause(reader)
    return true
  }
}

async function isReplaced(file: string, handle: FileHandle): Promise<boolean> {
  const [current, ours] = await Promise.all([stat(file).catch(() => undefined), handle.stat()])
  return current?.ino !== ours.ino
}

async function* linesOf(handle: FileHandle, from: number, atEnd: AtEnd | undefined): AsyncGenerator<Buffer[]> {
  const splitter = new LineSplitter()
  for (let position = from; ;) {
    const piece = Buffer.alloc(pieceBytes)
    const { bytesRead } = await handle.read(piece, 0, pieceBytes, position)
    position += bytesRead
    if (bytesRead > 0) yield splitter.push(piece.subarray(0, bytesRead))
    else if (!(await atEnd?.())) return
  }
}

/** Waits until it is time to look for more, or nobody listens any longer. */
export function pause({ clock, signal }: LogReader): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      cancel()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const cancel = clock.after(lookMs, done)
    signal.addEventListener('abort', done)
  })
}
