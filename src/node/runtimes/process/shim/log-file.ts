import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs'
import path from 'node:path'
import type { Clock } from '../../../../base/clock.ts'

/** As kubelet has it: what is longer comes in pieces, which are marked as such. */
const longestLine = 16 * 1024

const newline = 0x0a

type StreamName = 'stdout' | 'stderr'

/** Writes what a container says in the form of the container runtime interface: `TIME STREAM F line`. */
export class LogFile {
  readonly #fd: number
  readonly #clock: Clock
  readonly #rest: Record<StreamName, Buffer> = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) }

  constructor(file: string, clock: Clock) {
    mkdirSync(path.dirname(file), { recursive: true })
    this.#fd = openSync(file, 'a', 0o640)
    this.#clock = clock
  }

  /** All whole lines are in the file when it returns: a shim that is killed has not lost them. */
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
    // A copy: what arrived is a view on a buffer that is far bigger.
    this.#rest[stream] = Buffer.from(rest)
    if (parts.length > 0) this.#append(Buffer.concat(parts))
  }

  /** Ends lines that have no end yet. */
  close(): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      if (this.#rest[stream].length > 0) this.#append(Buffer.concat([this.#head(stream, false), this.#rest[stream], lineEnd]))
    }
    closeSync(this.#fd)
  }

  #head(stream: StreamName, isPart: boolean): Buffer {
    return Buffer.from(`${new Date(this.#clock.now()).toISOString().slice(0, -1)}000000Z ${stream} ${isPart ? 'P' : 'F'} `)
  }

  #append(bytes: Buffer): void {
    for (let written = 0; written < bytes.length; ) written += writeSync(this.#fd, bytes, written)
  }
}

const lineEnd = Buffer.from('\n')
