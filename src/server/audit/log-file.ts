import { close, fstatSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, statSync, write } from 'node:fs'
import path from 'node:path'
import type { Clock } from '../../base/clock.ts'
import type { AuditBackend } from './sink.ts'

interface LogFileOptions {
  file: string
  /** The file is rotated before it grows beyond this size. */
  maxBytes: number
  /** Number of rotated files to keep; 0 keeps all. */
  maxBackups: number
  /** Maximum age of rotated files; 0 is unlimited. */
  maxAgeMs: number
  clock: Clock
  /** Called for a rotated file that could not be removed. */
  onProblem(error: Error): void
}

/** The destination of log lines. */
interface Target {
  /** Rejects if the bytes were not written completely. */
  append(bytes: Buffer): Promise<void>
  close(): Promise<void>
}

interface Waiting {
  lines: string[]
  done: (() => void)[]
  failed: ((error: Error) => void)[]
}

const nothing = (): Waiting => ({ lines: [], done: [], failed: [] })

/** Writes events as lines of JSON. Lines that arrive during a write are written together by the next one. */
class LineWriter implements AuditBackend {
  readonly name = 'log'
  readonly #target: Target
  #waiting = nothing()
  #running: Promise<void> | undefined

  constructor(target: Target) {
    this.#target = target
  }

  write(texts: readonly string[]): Promise<void> {
    for (const text of texts) this.#waiting.lines.push(text)
    return new Promise((resolve, reject) => {
      this.#waiting.done.push(resolve)
      this.#waiting.failed.push(reject)
      this.#running ??= this.#run()
    })
  }

  async close(): Promise<void> {
    while (this.#running) await this.#running
    await this.#target.close()
  }

  async #run(): Promise<void> {
    // Yields one turn of the event loop, so that all requests of this turn share a write.
    await new Promise((resolve) => setImmediate(resolve))
    while (this.#waiting.lines.length > 0) {
      const { lines, done, failed } = this.#waiting
      this.#waiting = nothing()
      try {
        await this.#target.append(Buffer.from(`${lines.join('\n')}\n`))
        for (const tell of done) tell()
      } catch (e) {
        for (const tell of failed) tell(e as Error)
      }
    }
    // Runs synchronously after the loop saw an empty queue: a line queued in between would never be written.
    this.#running = undefined
  }
}

/** Appends to a file and rotates it when it is full. Throws if the file cannot be opened. */
export const openLogFile = (options: LogFileOptions): AuditBackend => new LineWriter(new RotatingFile(options))

/** Writes lines to a stream that stays open, such as standard output. */
export const streamLog = (stream: NodeJS.WritableStream): AuditBackend =>
  new LineWriter({
    append: (bytes) => new Promise((resolve, reject) => stream.write(bytes, (e) => (e ? reject(e) : resolve()))),
    close: async () => {},
  })

class RotatingFile implements Target {
  readonly #o: LogFileOptions
  #fd: number
  #size: number

  constructor(options: LogFileOptions) {
    this.#o = options
    mkdirSync(path.dirname(options.file), { recursive: true, mode: 0o700 })
    this.#fd = openSync(options.file, 'a', 0o600)
    this.#size = fstatSync(this.#fd).size
    this.#removeOld()
  }

  async append(bytes: Buffer): Promise<void> {
    if (this.#size > 0 && this.#size + bytes.length > this.#o.maxBytes) await this.#rotate()
    await writeAll(this.#fd, bytes)
    this.#size += bytes.length
  }

  close(): Promise<void> {
    return closed(this.#fd)
  }

  /** Renames the full file before it opens the next one, so that no line is lost if opening fails. */
  async #rotate(): Promise<void> {
    renameSync(this.#o.file, this.#backupName())
    const full = this.#fd
    this.#fd = openSync(this.#o.file, 'a', 0o600)
    this.#size = 0
    await closed(full)
    this.#removeOld()
  }

  /** `audit.log` → `audit-2026-11-18T08-12-40.123.log` */
  #backupName(): string {
    const { dir, name, ext } = path.parse(this.#o.file)
    for (let later = 0; ; later++) {
      const time = new Date(this.#o.clock.now() + later).toISOString().slice(0, -1).replaceAll(':', '-')
      const file = path.join(dir, `${name}-${time}${ext}`)
      if (!isThere(file)) return file
    }
  }

  #removeOld(): void {
    const { maxBackups, maxAgeMs, clock, onProblem } = this.#o
    const { dir, name, ext } = path.parse(this.#o.file)
    try {
      const backups = readdirSync(dir || '.')
        .map((file) => ({ file, timeMs: backupTime(file, name, ext) }))
        .filter(({ timeMs }) => !Number.isNaN(timeMs))
        .sort((a, b) => b.timeMs - a.timeMs)
      const oldestMs = maxAgeMs > 0 ? clock.now() - maxAgeMs : -Infinity
      for (const [i, { file, timeMs }] of backups.entries()) {
        if ((maxBackups > 0 && i >= maxBackups) || timeMs < oldestMs) rmSync(path.join(dir, file))
      }
    } catch (e) {
      onProblem(e as Error)
    }
  }
}

/** The time of rotation in a file name; NaN for other files. */
function backupTime(file: string, name: string, ext: string): number {
  if (!file.startsWith(`${name}-`) || !file.endsWith(ext)) return Number.NaN
  const time = /^(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\d\.\d{3})$/.exec(
    file.slice(name.length + 1, file.length - ext.length),
  )
  return time ? Date.parse(`${time[1]}${time[2]}:${time[3]}:${time[4]}Z`) : Number.NaN
}

const isThere = (file: string): boolean => statSync(file, { throwIfNoEntry: false }) !== undefined

const closed = (fd: number): Promise<void> =>
  new Promise((resolve, reject) => close(fd, (e) => (e ? reject(e) : resolve())))

async function writeAll(fd: number, bytes: Buffer): Promise<void> {
  let at = 0
  while (at < bytes.length) {
    at += await new Promise<number>((resolve, reject) => write(fd, bytes, at, (e, n) => (e ? reject(e) : resolve(n))))
  }
}
