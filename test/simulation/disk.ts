import type { RangeOptions, RangeResult, Store, StoreEvent, Versioned, Watch, Write, WriteResult } from '../../src/store/index.ts'
import type { Process } from './process.ts'
import type { Timeline } from './timeline.ts'

export interface DiskOptions {
  timeline: Timeline
  /** The duration of the next write. */
  delayMs(): number
  /** True if a write in progress took effect when its process died. */
  survives(): boolean
}

const never = <T>(): Promise<T> => new Promise<T>(() => {})

/**
 * A store as seen by a process that may die at any time: its content remains, and pending calls of the process never
 * return.
 */
export class Mount implements Store {
  readonly #store: Store
  readonly #process: Process
  readonly #options: DiskOptions
  readonly #watches = new Set<Watch>()

  constructor(store: Store, process: Process, options: DiskOptions) {
    this.#store = store
    this.#process = process
    this.#options = options
    process.onDeath(() => {
      for (const watch of this.#watches) watch.close()
    })
  }

  get revision(): number {
    return this.#store.revision
  }

  get compactedRevision(): number {
    return this.#store.compactedRevision
  }

  get currentRevision(): Store['currentRevision'] {
    return this.#store.currentRevision
  }

  get waitUntilSeen(): Store['waitUntilSeen'] {
    return this.#store.waitUntilSeen
  }

  get(key: string): Promise<Versioned | undefined> {
    return this.#store.get(key)
  }

  range(prefix: string, options?: RangeOptions): Promise<RangeResult> {
    return this.#store.range(prefix, options)
  }

  write(op: Write): Promise<WriteResult> {
    if (this.#process.isDead) return never()
    const delayMs = this.#options.delayMs()
    if (delayMs === 0) return this.#store.write(op)
    return new Promise((resolve, reject) => {
      const write = () => void this.#store.write(op).then((result) => this.#process.receive(0, () => resolve(result)), reject)
      this.#options.timeline.after(delayMs, () => {
        if (this.#process.isRunning || (this.#process.isDead && this.#options.survives())) write()
        else this.#process.receive(0, write)
      })
    })
  }

  async watch(prefix: string, fromRevision: number, onEvents: (events: readonly StoreEvent[]) => void, onEnd?: (why: Error) => void, onProgress?: (revision: number) => void): Promise<Watch> {
    const watch = await this.#store.watch(prefix, fromRevision, onEvents, onEnd, onProgress)
    this.#watches.add(watch)
    return {
      close: () => {
        this.#watches.delete(watch)
        watch.close()
      },
    }
  }

  compact(revision: number): Promise<void> {
    return this.#store.compact(revision)
  }

  revisionAt(timeMs: number): number | undefined {
    return this.#store.revisionAt(timeMs)
  }

  size(): number {
    return this.#store.size()
  }

  async close(): Promise<void> {}
}
