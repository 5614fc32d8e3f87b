import { closeSync, existsSync, fstatSync, ftruncateSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs'
import path from 'node:path'
import type { Clock } from '../../../../base/clock.ts'

/** Kubelet's limit. A longer line is split into parts that are marked as such. */
const longestLine = 16 * 1024

/** Kubelet's defaults for the size and the number of log files. */
const mostBytes = 10 << 20
const mostFiles = 5

const newline = 0x0a

type StreamName = 'stdout' | 'stderr'

/**
 * Writes the output of a container in the format of the Container Runtime Interface: `TIME STREAM F line`. Lines that
 * cannot be written, as on a full disk, are dropped: the container continues.
 */
export class LogFile {
  readonly #file: string
  readonly #clock: Clock
  readonly #mostBytes: number
  /** Undefined if the file could not be opened after a rotation. The next lines try again. */
  #fd: number | undefined
  #size = 0
  readonly #rest: Record<StreamName, Buffer> = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) }

  constructor(file: string, clock: Clock, sizeLimit = mostBytes) {
    mkdirSync(path.dirname(file), { recursive: true })
    this.#file = file
    this.#clock = clock
    this.#mostBytes = sizeLimit
    this.#open()
  }

  /** All complete lines are in the file when it returns, so that none is lost if the shim is killed. */
  write(stream: StreamName, piece: Buffer): void {
    let rest = this.#rest[stream].length === 0 ? piece : Buffer.concat([this.#rest[stream], piece])
    const parts: Buffer[] = []
    for (;;) {
      const at = rest.indexOf(newline)
      const isLong = at === -1 ? rest.length >= longestLine : at > longestLine
      if (at === -1 && !isLong) break
      const end = isLong ? longestLine : at
      parts.push(this.#head(stream, isLong), rest.subarray(0, end), lineEnd)
      rest = rest.subarray(isLong ? end : end + 1)
    }
    // A copy, because the chunk is a view of a much larger buffer.
    this.#rest[stream] = Buffer.from(rest)
    if (parts.length > 0) this.#append(Buffer.concat(parts))
  }

  /** Writes incomplete lines as complete ones. */
  close(): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      if (this.#rest[stream].length > 0)
        this.#append(Buffer.concat([this.#head(stream, false), this.#rest[stream], lineEnd]))
    }
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
  }

  #head(stream: StreamName, isPart: boolean): Buffer {
    return Buffer.from(
      `${new Date(this.#clock.now()).toISOString().slice(0, -1)}000000Z ${stream} ${isPart ? 'P' : 'F'} `,
    )
  }

  #append(bytes: Buffer): void {
    let written = 0
    try {
      if (this.#size > 0 && this.#size + bytes.length > this.#mostBytes) this.#rotate()
      if (this.#fd === undefined) this.#open()
      while (written < bytes.length) written += writeSync(this.#fd!, bytes, written)
      this.#size += bytes.length
    } catch {
      if (written > 0) this.#cutOff()
    }
  }

  #open(): void {
    this.#fd = openSync(this.#file, 'a', 0o640)
    this.#size = fstatSync(this.#fd).size
  }

  /** Removes the first part of lines that did not fit, so that the next line starts as a line. */
  #cutOff(): void {
    try {
      ftruncateSync(this.#fd!, this.#size)
    } catch {
      // The part stays, and readers skip it with the line behind it.
    }
  }

  /** Renames the file to FILE.1, and FILE.1 to FILE.2. */
  #rotate(): void {
    const older = (n: number) => (n === 0 ? this.#file : `${this.#file}.${n}`)
    for (let n = mostFiles - 2; n >= 0; n--) if (existsSync(older(n))) renameSync(older(n), older(n + 1))
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
    this.#size = 0
  }
}

const lineEnd = Buffer.from('\n')
