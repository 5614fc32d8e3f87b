import { mkdir, open, readFile, rename } from 'node:fs/promises'
import path from 'node:path'

/** Where a snapshot is kept. */
export interface SnapshotStorage {
  /** Undefined if there is none. */
  read(): Promise<string | undefined>
  /** Takes the place of what there was, as a whole: whoever reads finds the one or the other. */
  write(text: string): Promise<void>
  /** Puts what cannot be used out of the way, and says where. */
  setAside(): Promise<string>
}

/** A snapshot in a file. What was written is on disk. */
export class SnapshotFile implements SnapshotStorage {
  readonly #file: string

  constructor(file: string) {
    this.#file = path.resolve(file)
  }

  async read(): Promise<string | undefined> {
    try {
      return await readFile(this.#file, 'utf8')
    } catch (e) {
      if ((e as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw e
    }
  }

  async write(text: string): Promise<void> {
    await mkdir(path.dirname(this.#file), { recursive: true })
    const next = `${this.#file}.new`
    const handle = await open(next, 'w', 0o600)
    try {
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(next, this.#file)
  }

  async setAside(): Promise<string> {
    const aside = `${this.#file}.unreadable`
    await rename(this.#file, aside)
    return aside
  }
}
