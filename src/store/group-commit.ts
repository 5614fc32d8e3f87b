import type { Version } from './key-index.ts'
import type { Commit, Compacted, LogRecord, RecordLog } from './record-log.ts'

// The records of a commit are copied while it runs; this bounds the copy.
const mostValueBytes = 1 << 23
// All writers and watchers of a commit are notified in one turn of the event loop; this bounds the turn.
const mostRecords = 256

type Draft = { -readonly [Field in keyof LogRecord]: LogRecord[Field] }

/** Writes of one commit: all that arrived while the previous commit ran. */
export class Batch {
  /** Complete once the batch is sealed, which sets their time and marks the last one. */
  readonly records: Draft[] = []
  /** versions[i] is the version of records[i] in the index. */
  readonly versions: Version[] = []
  readonly removed: number[] = []
  compacted: Compacted | undefined
  /**
   * Callbacks to run in order once the batch is durable: writers in revision order, and waiters for their revisions.
   */
  readonly done: (() => void)[] = []
  readonly failed: ((why: Error) => void)[] = []
  #valueBytes = 0

  get isFull(): boolean {
    return this.#valueBytes >= mostValueBytes || this.records.length >= mostRecords
  }

  add(record: Draft, version: Version): void {
    this.records.push(record)
    this.versions.push(version)
    this.#valueBytes += record.value?.length ?? 0
  }

  /** Calls `done` or `failed` once the commit has ended. */
  whenSettled(done: () => void, failed: (why: Error) => void): void {
    this.done.push(done)
    this.failed.push(failed)
  }
}

export interface GroupCommitHooks {
  /** The batch is durable; its waiters have not been notified yet. */
  committed(batch: Batch): void
  /** The batches failed and will not be retried. */
  rolledBack(batches: readonly Batch[], why: Error): void
}

/** Runs one commit at a time. Writes that arrive during a commit join the next batch. */
export class GroupCommit {
  #log: Pick<RecordLog, 'commit' | 'yield'>
  #hooks: GroupCommitHooks
  #now: () => number
  #running: Batch | undefined
  /** Batches in commit order; the last one is open for writes. */
  #queue: Batch[] = []
  #isLooping = false
  #idle: (() => void)[] = []

  /** `now` returns the time of a commit; it must not decrease. */
  constructor(log: Pick<RecordLog, 'commit' | 'yield'>, hooks: GroupCommitHooks, now: () => number) {
    this.#log = log
    this.#hooks = hooks
    this.#now = now
  }

  /** The open batch. */
  get gathering(): Batch {
    const last = this.#queue.at(-1)
    if (last && !last.isFull) return last
    // Start in a microtask, so that writes of one turn share a commit, as do all writers that the previous commit
    // answered.
    if (!this.#isLooping && !last) queueMicrotask(() => void this.#run())
    const batch = new Batch()
    this.#queue.push(batch)
    return batch
  }

  /** Returns the batch of a revision that is not durable yet. */
  batchOf(revision: number): Batch {
    const holds = (batch: Batch): boolean => (batch.records.at(-1)?.revision ?? 0) >= revision
    return this.#running && holds(this.#running) ? this.#running : (this.#queue.find(holds) ?? this.gathering)
  }

  /** Resolves once no commit is pending. */
  async drained(): Promise<void> {
    if (this.#running || this.#queue.length > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  async #run(): Promise<void> {
    this.#isLooping = true
    // No await may stand between the check of the queue and the end of the loop: a write in between would never be
    // committed.
    while (this.#queue.length > 0) {
      // If commits are expensive, requests that have already arrived are read first, so that fewer commits carry more
      // writes.
      if (this.#log.yield) await this.#log.yield()
      const batch = this.#queue.shift()!
      this.#running = batch
      this.#seal(batch)
      let failure: Error | undefined
      try {
        await this.#log.commit(batch satisfies Commit)
      } catch (error) {
        failure = error instanceof Error ? error : new Error(String(error))
      }
      this.#running = undefined
      if (failure) this.#fail(batch, failure)
      else {
        this.#hooks.committed(batch)
        for (const tell of batch.done) tell()
      }
    }
    this.#isLooping = false
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  #seal(batch: Batch): void {
    const last = batch.records.at(-1)
    if (!last) return
    const timeMs = this.#now()
    for (const record of batch.records) record.timeMs = timeMs
    last.endsCommit = true
  }

  /** Fails a batch and all later ones, whose conditions and revisions depend on it. */
  #fail(batch: Batch, why: Error): void {
    const lost = [batch, ...this.#queue.splice(0)]
    this.#hooks.rolledBack(lost, why)
    for (const { failed } of lost) for (const tell of failed) tell(why)
  }
}
