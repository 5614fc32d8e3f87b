import { open, stat } from 'node:fs/promises'

const smallestStep = 1 << 16
const largestStep = 1 << 24
const writeSize = 1 << 20

/**
 * Allocates disk space for a file before LMDB needs it. When LMDB itself meets a full disk, it writes past the end of
 * the buffer for its error message. When this class does, the write is refused and may be retried. Commits also get
 * faster: syncing a file that has not grown does not touch the file system's journal.
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

  /** The length of the file. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Grows the file to at least that length, with allocated blocks. No other code may write beyond its end during the
   * call.
   */
  async grow(bytes: number): Promise<void> {
    const step = Math.min(Math.max(this.#bytes / 8, smallestStep), largestStep)
    const target = Math.ceil(Math.max(bytes, this.#bytes + step) / smallestStep) * smallestStep
    // The pages are never written to, so they take no memory.
    if (this.#zeros.length === 0) this.#zeros = Buffer.alloc(writeSize)
    const file = await open(this.#path, 'r+')
    try {
      this.#bytes = (await file.stat()).size
      while (this.#bytes < target) {
        const { bytesWritten } = await file.write(
          this.#zeros,
          0,
          Math.min(writeSize, target - this.#bytes),
          this.#bytes,
        )
        this.#bytes += bytesWritten
      }
    } catch (error) {
      // The reserve asks for more than is needed; the disk may have room for the needed part.
      if (this.#bytes < bytes) throw error
    } finally {
      await file.close()
    }
  }
}
