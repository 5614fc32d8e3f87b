import { type FileHandle, open, stat } from 'node:fs/promises'
import type { Clock } from '../../base/clock.ts'
import { LineSplitter } from './log-line.ts'
import type { LogOptions } from './log-options.ts'
import { Shown } from './shown.ts'
import { findTail } from './tail.ts'

export interface LogReader {
  clock: Clock
  /** True if the container may write more lines. */
  isWritten(): boolean
  signal: AbortSignal
}

/** The maximum number of files of a log, including the current one. */
const mostFiles = 5

/** The interval at which a followed log is read again. */
const lookMs = 100

const pieceBytes = 64 * 1024

/** Reads the selected lines of a container's log from all of its files. A missing file is an empty log. */
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
      // Evaluated before the file is opened, so that the file contains everything that was written until then.
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

/** Opens all files of a log, the oldest first. */
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

/** Closes the files without selected lines, and returns the offset to start at in the first remaining one. */
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

/** Called at the end of a file. Resolves with true to read the file again, or with false to leave it. */
type AtEnd = () => Promise<boolean>

function follower(file: string, handle: FileHandle, { follow }: LogOptions, reader: LogReader): AtEnd | undefined {
  if (!follow) return undefined
  let isLast = false
  return async () => {
    if (isLast || reader.signal.aborted) return false
    // Evaluated first: everything written before the end is then in the file, which is read once more.
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

/** Waits for the next read, or until the reader is aborted. */
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
