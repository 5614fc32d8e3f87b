import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { SnapshotSection } from '../observation.ts'
import type { SnapshotStorage } from './snapshot-file.ts'

export interface SnapshotsOptions {
  storage: SnapshotStorage
  sections: readonly SnapshotSection[]
  clock: Clock
  logger: Logger
  /** How it went, each time. */
  written(outcome: 'done' | 'failed'): void
}

const version = 1
/** What happens meanwhile is written together. */
const intervalMs = 5000

/** Keeps all sections in one place, at most every few seconds, and not while nothing changes. */
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

  /** Why readiness should fail: what is kept grows old. */
  get problem(): string | undefined {
    return this.#problem
  }

  /** Gives each section what was kept of it. What cannot be read is put aside, so that nothing writes over it. */
  async restore(): Promise<void> {
    const { storage, sections, logger } = this.#options
    const text = await storage.read()
    if (text === undefined) return
    try {
      const saved = JSON.parse(text) as { version?: number; sections?: Record<string, unknown> }
      if (saved.version !== version || !saved.sections) throw new Error(`it has version ${String(saved.version)}, and ${version} is expected`)
      for (const section of sections) if (saved.sections[section.name] !== undefined) section.restore(saved.sections[section.name])
    } catch (e) {
      logger.error('the snapshot cannot be read: the monitor begins anew', { error: (e as Error).message, keptAs: await storage.setAside() })
    }
  }

  /** Something has changed that is to be kept. */
  changed(): void {
    this.#isDirty = true
    if (this.#isStopped) return
    this.#cancelTimer ??= this.#options.clock.after(intervalMs, () => {
      this.#cancelTimer = undefined
      void this.#write()
    })
  }

  /** Writes what is not written yet. */
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
      await storage.write(JSON.stringify({ version, sections: Object.fromEntries(sections.map((section) => [section.name, section.save()])) }))
      this.#problem = undefined
      written('done')
    } catch (e) {
      this.#problem = `the snapshot cannot be written: ${(e as Error).message}`
      written('failed')
      logger.error('the snapshot cannot be written', { error: e })
      this.changed()
    }
  }
}
