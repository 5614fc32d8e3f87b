import { open, stat } from 'node:fs/promises'

const smallestStep = 1 << 16
const largestStep = 1 << 24
const writeSize = 1 << 20

/**
 * Gives a file its disk space before LMDB needs it. When LMDB itself meets a full disk it writes past the end of the
 * buffer for its error message; when we do, we just say no and may try again. As a bonus commits are quicker: syncing a
 * file that has not grown leaves the file system's journal alone.
 */
export class FileReserve {
  #path: string
  #bytes: number
  #zeros = Buffer.alloc(0)

  private constructor(path: string, bytes: number) {
    this.#path = path
    this.#bytes = bytes
  }

  static async of(path: string): Promise<FileReserve> {
    return new FileReserve(path, (await stat(path)).size)
  }

  /** How long the file is. */
  get bytes(): number {
    return this.#bytes
  }

  /** Makes the file at least that long, with space behind every byte. Nobody else may write behind its end meanwhile. */
  async grow(bytes: number): Promise<void> {
    const step = Math.min(Math.max(this.#bytes / 8, smallestStep), largestStep)
    const target = Math.ceil(Math.max(bytes, this.#bytes + step) / smallestStep) * smallestStep
    // Nobody writes to it, so it takes no memory.
    if (this.#zeros.length === 0) this.#zeros = Buffer.alloc(writeSize)
    const file = await open(this.#path, 'r+')
    try {
      this.#bytes = (await file.stat()).size
      while (this.#bytes < target) {
        const { bytesWritten } = await file.write(this.#zeros, 0, Math.min(writeSize, target - this.#bytes), this.#bytes)
        this.#bytes += bytesWritten
      }
    } catch (error) {
      // More than was needed may be too much to ask.
      if (this.#bytes < bytes) throw error
    } finally {
      await file.close()
    }
  }
}
