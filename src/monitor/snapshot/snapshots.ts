import { open, readFile, rename } from 'node:fs/promises'
import path from 'node:path'
import { makeDirectory, renameDurably } from '../../base/durable-files.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { SnapshotSection } from '../observation.ts'

/** The storage of a snapshot. */
export interface SnapshotStorage {
  /** Undefined if there is none. */
  read(): Promise<string | undefined>
  /** Replaces the snapshot atomically: readers find either the old or the new one. */
  write(text: string): Promise<void>
  /** Moves an unusable snapshot away, and returns its new location. */
  setAside(): Promise<string>
}

/** A snapshot in a file. Written data is on disk. */
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
    makeDirectory(path.dirname(this.#file), { mode: 0o777 })
    const next = `${this.#file}.new`
    const handle = await open(next, 'w', 0o600)
    try {
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    renameDurably(next, this.#file)
  }

  async setAside(): Promise<string> {
    const aside = `${this.#file}.unreadable`
    await rename(this.#file, aside)
    return aside
  }
}

export interface SnapshotsOptions {
  storage: SnapshotStorage
  sections: readonly SnapshotSection[]
  clock: Clock
  logger: Logger
  /** The result of each write. */
  written(outcome: 'done' | 'failed'): void
}

const version = 1
/** Changes in the meantime are written together. */
const intervalMs = 5000

/** Writes all sections to one place, at most every few seconds, and only after changes. */
export class Snapshots {
  readonly #options: SnapshotsOptions
  #isDirty = false
  #isStopped = false
  #cancelTimer: (() => void) | undefined
  #writing: Promise<void> = Promise.resolve()
  #problem: string | undefined

  constructor(options: SnapshotsOptions) {
    this.#options = options
  }

  /** The reason why readiness fails: the snapshot is outdated. */
  get problem(): string | undefined {
    return this.#problem
  }

  /** Restores each section. An unreadable snapshot is moved away, so that it is not overwritten. */
  async restore(): Promise<void> {
    const { storage, sections, logger } = this.#options
    const text = await storage.read()
    if (text === undefined) return
    try {
      const saved = JSON.parse(text) as { version?: number; sections?: Record<string, unknown> }
      if (saved.version !== version || !saved.sections) {
        throw new Error(`it has version ${String(saved.version)}, and ${version} is expected`)
      }
      for (const section of sections)
        if (saved.sections[section.name] !== undefined) {
          section.restore(saved.sections[section.name])
        }
    } catch (e) {
      logger.error('failed to read the snapshot: starting without it', {
        error: (e as Error).message,
        keptAs: await storage.setAside(),
      })
    }
  }

  /** Data to keep has changed. */
  changed(): void {
    this.#isDirty = true
    if (this.#isStopped) return
    this.#cancelTimer ??= this.#options.clock.after(intervalMs, () => {
      this.#cancelTimer = undefined
      void this.#write()
    })
  }

  /** Writes pending changes. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    await this.#write()
  }

  #write(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#writeNow())
    return this.#writing
  }

  async #writeNow(): Promise<void> {
    if (!this.#isDirty) return
    const { storage, sections, logger, written } = this.#options
    this.#isDirty = false
    try {
      await storage.write(
        JSON.stringify({
          version,
          sections: Object.fromEntries(sections.map((section) => [section.name, section.save()])),
        }),
      )
      this.#problem = undefined
      written('done')
    } catch (e) {
      this.#problem = `failed to write the snapshot: ${(e as Error).message}`
      written('failed')
      logger.error('failed to write the snapshot', { error: e })
      this.changed()
    }
  }
}
