import type { Clock } from '../base/clock.ts'
import { isStorableKey } from './byte-order.ts'
import { GroupCommit } from './group-commit.ts'
import type { Batch } from './group-commit.ts'
import { stateAt } from './key-index.ts'
import type { Version } from './key-index.ts'
import type { LogState } from './log-state.ts'
import { LogBroken } from './record-log.ts'
import type { Compacted, LogRecord, RecordLog } from './record-log.ts'
import { CommitFailedError, CompactedError, FutureRevisionError, StoreClosedError } from './store.ts'
import type { RangeOptions, RangeResult, Store, StoreEvent, Versioned, Watch, Write, WriteResult } from './store.ts'
import { WatchHub } from './watch-hub.ts'

// Each batch of reads or compactions takes about 2 ms, so that the event loop stays responsive.
const valuesAtATime = 500
const endingsAtATime = 500

/** Implements Store over a log of records. Drivers differ in where records are stored and how they become durable. */
export class LogStore implements Store {
  #log: RecordLog
  #state: LogState
  #hub: WatchHub
  #group: GroupCommit
  /** The newest assigned revision. Ahead of the durable one while writes are pending. */
  #assigned: number
  /** Records that compaction has yet to delete. */
  #leftovers: number[] = []
  /** The last compaction; compactions run sequentially. */
  #compaction: Promise<void> = Promise.resolve()
  #closing: Promise<void> | undefined

  /** `state` must match the contents of the log. */
  constructor(log: RecordLog, state: LogState, clock: Clock) {
    this.#log = log
    this.#state = state
    this.#assigned = state.revision
    this.#hub = new WatchHub(this, (after, upTo, prefix) => this.#eventsBetween(after, upTo, prefix), log.yield)
    this.#group = new GroupCommit(
      log,
      { committed: (batch) => this.#committed(batch), rolledBack: (batches, why) => this.#rolledBack(batches, why) },
      // If the clock is set back, commit times do not decrease.
      () => Math.max(clock.now(), state.timeline.lastTimeMs),
    )
    if (state.forgettable.isDue(state.compactedRevision)) this.#resumeCompaction()
  }

  get revision(): number {
    return this.#state.revision
  }

  get compactedRevision(): number {
    return this.#state.compactedRevision
  }

  get keepsValues(): boolean {
    return this.#log.keepsValues ?? false
  }

  async get(key: string): Promise<Versioned | undefined> {
    this.#assertOpen()
    const version = stateAt(this.#state.index.head(key), this.#state.revision)
    return version && this.#versioned(version)
  }

  async range(prefix: string, options: RangeOptions = {}): Promise<RangeResult> {
    for (;;) {
      this.#assertOpen()
      const revision = options.revision ?? this.#state.revision
      if (revision > this.#state.revision) throw new FutureRevisionError(revision, this.#state.revision)
      if (revision < this.#state.compactedRevision) throw new CompactedError(this.#state.compactedRevision)
      const { found, remaining } = this.#state.index.scan(prefix, revision, options.after, options.limit || Infinity)
      const items = await this.#readAll(found)
      if (items) return { items, revision, remaining }
      // The revision was compacted during the read. An explicit revision was rejected above; otherwise a newer one is
      // read.
    }
  }

  write(op: Write): Promise<WriteResult> {
    if (this.#closing) return Promise.reject(new StoreClosedError())
    const { key, value, mark } = op
    if (!isStorableKey(key)) return Promise.reject(new RangeError('the key is not valid Unicode'))
    const head = this.#state.index.head(key)
    const exists = head !== undefined && head.createRevision > 0
    const previousRevision = exists ? head.revision : 0
    if (op.expected !== previousRevision || (!exists && value === undefined)) return this.#refuse(head)

    const batch = this.#group.gathering
    const revision = ++this.#assigned
    const createRevision = value === undefined ? 0 : exists ? head.createRevision : revision
    // All versions of a key share one string.
    const version: Version = { key: head ? head.key : key, revision, createRevision, older: head }
    this.#state.index.put(version)
    batch.add(
      { revision, key: version.key, createRevision, previousRevision, timeMs: 0, endsCommit: false, value, mark },
      version,
    )
    return new Promise((resolve, reject) => {
      batch.whenSettled(
        () => resolve({ ok: true, revision }),
        (why) => reject(new CommitFailedError(why)),
      )
    })
  }

  async watch(
    prefix: string,
    fromRevision: number,
    onEvents: (events: readonly StoreEvent[]) => void,
    onEnd?: (why: Error) => void,
  ): Promise<Watch> {
    this.#assertOpen()
    return this.#hub.add(prefix, fromRevision, onEvents, onEnd)
  }

  compact(revision: number): Promise<void> {
    if (this.#closing) return Promise.reject(new StoreClosedError())
    if (revision > this.#state.revision) return Promise.reject(new FutureRevisionError(revision, this.#state.revision))
    const done = this.#compaction.then(() => this.#compactTo(revision))
    this.#compaction = done.catch(() => undefined) // the caller handles the error
    return done
  }

  revisionAt(timeMs: number): number | undefined {
    return this.#state.timeline.revisionAt(timeMs)
  }

  size(): number {
    return this.#log.size()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#group.drained()
    await this.#compaction
    this.#hub.endAll(new StoreClosedError())
    await this.#log.close()
  }

  #refuse(head: Version | undefined): Promise<WriteResult> {
    if (!head || head.revision <= this.#state.revision) return Promise.resolve(this.#refusal(head))
    return new Promise((resolve, reject) => {
      const batch = this.#group.batchOf(head.revision)
      batch.whenSettled(
        () => resolve(this.#refusal(head)),
        (why) => reject(new CommitFailedError(why)),
      )
    })
  }

  #refusal(head: Version | undefined): WriteResult {
    return { ok: false, current: head && head.createRevision > 0 ? this.#versioned(head) : undefined }
  }

  #committed({ records, versions, compacted }: Batch): void {
    const last = records.at(-1)
    this.#state.commit(versions, last, compacted)
    if (last && this.#hub.hasLive) this.#hub.publish(records.map((record) => this.#event(record)))
  }

  #rolledBack(batches: readonly Batch[], why: Error): void {
    for (const version of batches.flatMap((batch) => batch.versions).reverse()) this.#state.index.revert(version)
    this.#leftovers.push(...batches.flatMap((batch) => batch.removed))
    this.#assigned = this.#state.revision
    // Reads continue, but no write can succeed: end the watches.
    if (why instanceof LogBroken) this.#hub.endAll(new CommitFailedError(why))
  }

  /**
   * Writes the compacted revision before records are removed: after a crash in between, the store knows that the
   * history is gone.
   */
  async #compactTo(revision: number): Promise<void> {
    if (revision > this.#state.compactedRevision) {
      const compacted: Compacted = {
        revision,
        timeMs: this.#state.timeline.timeOf(revision) ?? this.#state.timeline.lastTimeMs,
      }
      await this.#commitAlong((batch) => (batch.compacted = compacted))
    }
    while (!this.#closing) {
      const removed = this.#leftovers.splice(0, endingsAtATime)
      const { forgettable, compactedRevision, index } = this.#state
      if (removed.length === 0) removed.push(...forgettable.take(compactedRevision, endingsAtATime, index))
      if (removed.length === 0) return
      await this.#commitAlong((batch) => batch.removed.push(...removed))
    }
  }

  /** Finishes a compaction that a crash interrupted, in the background. */
  #resumeCompaction(): void {
    // the next compaction retries
    this.#compaction = this.#compactTo(this.#state.compactedRevision).catch(() => undefined)
  }

  #commitAlong(add: (batch: Batch) => void): Promise<void> {
    const batch = this.#group.gathering
    add(batch)
    return new Promise((resolve, reject) => batch.whenSettled(resolve, (why) => reject(new CommitFailedError(why))))
  }

  /** Returns the events under `prefix` with `after` < revision ≤ `upTo`, extended to the end of the last commit. */
  #eventsBetween(after: number, upTo: number, prefix: string): { events: StoreEvent[]; upTo: number } {
    const events: StoreEvent[] = []
    for (let next = after + 1; ; next++) {
      const record = this.#log.record(next)
      if (!record) throw new Error(`revision ${next} is missing in the log`)
      if (record.key.startsWith(prefix)) events.push(this.#event(record))
      if (next >= upTo && record.endsCommit) return { events, upTo: next }
    }
  }

  /** `previous` is read lazily: most watchers already know the previous value. */
  #event({ key, revision, createRevision, previousRevision, value, mark }: LogRecord): StoreEvent {
    const previous = once(() => this.#replaced(key, previousRevision))
    if (value)
      return {
        type: 'put',
        key,
        revision,
        value,
        createRevision,
        mark,
        get previous() {
          return previous()
        },
      }
    return {
      type: 'delete',
      key,
      revision,
      get previous() {
        return previous()!
      },
    }
  }

  #replaced(key: string, revision: number): Versioned | undefined {
    if (revision === 0) return undefined
    const record = this.#log.record(revision)
    if (!record?.value) throw new CompactedError(this.#state.compactedRevision)
    return { key, value: record.value, revision, createRevision: record.createRevision, mark: record.mark }
  }

  #versioned(version: Version): Versioned {
    const found = this.#find(version)
    if (!found) throw new Error(`revision ${version.revision} is missing in the log`)
    return found
  }

  #find({ key, revision, createRevision }: Version): Versioned | undefined {
    const record = this.#log.record(revision)
    return record?.value && { key, value: record.value, revision, createRevision, mark: record.mark }
  }

  /** Returns undefined if one of them was compacted during the read. */
  async #readAll(versions: readonly Version[]): Promise<Versioned[] | undefined> {
    const items: Versioned[] = []
    for (const version of versions) {
      if (items.length % valuesAtATime === valuesAtATime - 1) await this.#log.yield?.()
      const found = this.#find(version)
      if (!found) return undefined
      items.push(found)
    }
    return items
  }

  #assertOpen(): void {
    if (this.#closing) throw new StoreClosedError()
  }
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => (made ??= { value: make() }).value
}
