import type { Version } from './key-index.ts'
import type { Commit, Compacted, LogRecord, RecordLog } from './record-log.ts'

// A commit's records are copied once while it runs; a flood of writes must not be copied all at once.
const mostValueBytes = 1 << 23
// All who wait for a commit are answered, and all who watch are told, in one turn of the event loop.
const mostRecords = 256

type Draft = { -readonly [Field in keyof LogRecord]: LogRecord[Field] }

/** What is made durable together: everything that arrived while the commit before it ran. */
export class Batch {
  /** Drafts until the batch is sealed, which sets their time and marks the last. */
  readonly records: Draft[] = []
  /** versions[i] is what records[i] put into the index. */
  readonly versions: Version[] = []
  readonly removed: number[] = []
  compacted: Compacted | undefined
  /** Called in order once the batch is durable: writers, in the order of revisions, and who waits for one of them. */
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

  /** Calls one of the two once the fate of the batch is known. */
  whenSettled(done: () => void, failed: (why: Error) => void): void {
    this.done.push(done)
    this.failed.push(failed)
  }
}

export interface GroupCommitHooks {
  /** The batch is durable; nobody who waits for it has been told yet. */
  committed(batch: Batch): void
  /** None of these batches is durable, nor will be. */
  rolledBack(batches: readonly Batch[], why: Error): void
}

/** Runs one commit at a time; what arrives meanwhile is gathered into the next. */
export class GroupCommit {
  #log: Pick<RecordLog, 'commit' | 'yield'>
  #hooks: GroupCommitHooks
  #now: () => number
  #running: Batch | undefined
  /** In the order in which they will run; the last one gathers. */
  #queue: Batch[] = []
  #isLooping = false
  #idle: (() => void)[] = []

  /** `now` is the time of a commit; it never goes back. */
  constructor(log: Pick<RecordLog, 'commit' | 'yield'>, hooks: GroupCommitHooks, now: () => number) {
    this.#log = log
    this.#hooks = hooks
    this.#now = now
  }

  /** The batch that will be written next. */
  get gathering(): Batch {
    const last = this.#queue.at(-1)
    if (last && !last.isFull) return last
    // A microtask later, so that writes made in one go share a commit, and those of everybody whom a commit answered.
    if (!this.#isLooping && !last) queueMicrotask(() => void this.#run())
    const batch = new Batch()
    this.#queue.push(batch)
    return batch
  }

  /** The batch that holds a revision which is not durable yet. */
  batchOf(revision: number): Batch {
    const holds = (batch: Batch): boolean => (batch.records.at(-1)?.revision ?? 0) >= revision
    return this.#running && holds(this.#running) ? this.#running : (this.#queue.find(holds) ?? this.gathering)
  }

  /** Resolves once nothing is under way. */
  async drained(): Promise<void> {
    if (this.#running || this.#queue.length > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  async #run(): Promise<void> {
    this.#isLooping = true
    // Nothing may come between seeing that the queue is empty and saying that the loop is over: a write in between would wait for ever.
    while (this.#queue.length > 0) {
      // Where a commit costs something, whoever has sent a write by now is heard first, so that fewer commits carry more.
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

  /** What was gathered meanwhile goes too: it was checked against, and numbered after, writes that never happened. */
  #fail(batch: Batch, why: Error): void {
    const lost = [batch, ...this.#queue.splice(0)]
    this.#hooks.rolledBack(lost, why)
    for (const { failed } of lost) for (const tell of failed) tell(why)
  }
}
