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

// Both keep the event loop free: about 2 ms of reading or of forgetting at a time.
const valuesAtATime = 500
const endingsAtATime = 500

/** A Store over a log of records. Drivers differ only in where records live and how they are made durable. */
export class LogStore implements Store {
  #log: RecordLog
  #state: LogState
  #hub: WatchHub
  #group: GroupCommit
  /** The newest revision given out. Ahead of the durable one while writes are under way. */
  #assigned: number
  /** Records that may go but could not be removed yet. */
  #leftovers: number[] = []
  /** Compactions run one after another. */
  #compaction: Promise<void> = Promise.resolve()
  #closing: Promise<void> | undefined

  /** `state` is what the log holds. */
  constructor(log: RecordLog, state: LogState, clock: Clock) {
    this.#log = log
    this.#state = state
    this.#assigned = state.revision
    this.#hub = new WatchHub(this, (after, upTo, prefix) => this.#eventsBetween(after, upTo, prefix), log.yield)
    this.#group = new GroupCommit(
      log,
      { committed: (batch) => this.#committed(batch), rolledBack: (batches, why) => this.#rolledBack(batches, why) },
      // A clock that was set back must not make an older revision look newer.
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
      // Forgotten while it was read. An explicit revision is refused by now; otherwise there is a newer one to read.
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
    // One string per key, however often it is written.
    const version: Version = { key: head ? head.key : key, revision, createRevision, older: head }
    this.#state.index.put(version)
    batch.add(
      { revision, key: version.key, createRevision, previousRevision, timeMs: 0, endsCommit: false, value, mark },
      version,
    )
    return new Promise((resolve, reject) => {
      batch.whenSettled(() => resolve({ ok: true, revision }), (why) => reject(new CommitFailedError(why)))
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
    this.#compaction = done.catch(() => undefined) // who asked is told
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
      batch.whenSettled(() => resolve(this.#refusal(head)), (why) => reject(new CommitFailedError(why)))
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
    // Reads go on, but nothing will be written any more: whoever follows the store must know.
    if (why instanceof LogBroken) this.#hub.endAll(new CommitFailedError(why))
  }

  /** Durable first: whatever is removed after that, a crash leaves a store that knows its history is gone. */
  async #compactTo(revision: number): Promise<void> {
    if (revision > this.#state.compactedRevision) {
      const compacted: Compacted = { revision, timeMs: this.#state.timeline.timeOf(revision) ?? this.#state.timeline.lastTimeMs }
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

  /** A compaction that a crash interrupted is finished in the background. */
  #resumeCompaction(): void {
    this.#compaction = this.#compactTo(this.#state.compactedRevision).catch(() => undefined) // the next compaction tries again
  }

  #commitAlong(add: (batch: Batch) => void): Promise<void> {
    const batch = this.#group.gathering
    add(batch)
    return new Promise((resolve, reject) => batch.whenSettled(resolve, (why) => reject(new CommitFailedError(why))))
  }

  /** The events under `prefix` of `after` < … ≤ `upTo`, and further to the end of that commit. */
  #eventsBetween(after: number, upTo: number, prefix: string): { events: StoreEvent[]; upTo: number } {
    const events: StoreEvent[] = []
    for (let next = after + 1; ; next++) {
      const record = this.#log.record(next)
      if (!record) throw new Error(`revision ${next} is missing in the log`)
      if (record.key.startsWith(prefix)) events.push(this.#event(record))
      if (next >= upTo && record.endsCommit) return { events, upTo: next }
    }
  }

  /** `previous` is read when first looked at: most who watch know already what was there. */
  #event({ key, revision, createRevision, previousRevision, value, mark }: LogRecord): StoreEvent {
    const previous = once(() => this.#replaced(key, previousRevision))
    if (value) return { type: 'put', key, revision, value, createRevision, mark, get previous() { return previous() } }
    return { type: 'delete', key, revision, get previous() { return previous()! } }
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

  /** undefined if one of them was forgotten meanwhile. */
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
