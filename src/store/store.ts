import type { Clock } from '../base/clock.ts'

/**
 * A log of revisions. Each write gets the next revision. The state of a key at any revision that is not compacted can
 * be read, and all events after such a revision can be watched. Values are opaque bytes. Clients may compare revisions
 * but must not count them: a shared store has gaps, and a new one need not start at 0.
 */
export interface Store {
  /**
   * The newest durable revision whose events have been delivered to watches. If no other process writes to the store,
   * this is the newest revision.
   */
  readonly revision: number
  /**
   * History up to this revision may be gone, except the newest version of each key at that revision. A shared store may
   * have been compacted further than this process knows.
   */
  readonly compactedRevision: number

  /** True if the store keeps the values of current versions in memory, so that caches should share its buffers. */
  readonly keepsValues?: boolean

  /**
   * Requests the newest revision, including writes of other processes. Undefined if no other process writes to the
   * store; then `revision` is the newest.
   */
  readonly currentRevision?: (() => Promise<number>) | undefined

  /**
   * Resolves once every event up to `revision` has been delivered to watches. The revision must exist: a store may ask
   * for it repeatedly until its time limit, and then rejects with StoreUnavailableError. Undefined if no other process
   * writes to the store, where this always holds.
   */
  readonly waitUntilSeen?: ((revision: number) => Promise<void>) | undefined

  get(key: string): Promise<Versioned | undefined>

  /**
   * Reads the keys that start with `prefix`, in byte order, at `revision` (default: the newest). Rejects with
   * CompactedError or FutureRevisionError.
   */
  range(prefix: string, options?: RangeOptions): Promise<RangeResult>

  /**
   * Reads the same keys at one revision (default: the newest) in pages, of which there is at least one. The next page
   * is requested before a page is returned. Undefined if `range` is as good.
   */
  readonly pages?: ((prefix: string, revision?: number) => AsyncIterable<Page>) | undefined

  /**
   * Writes if the current version of the key is the expected one. Resolves once the outcome is durable, in revision
   * order if no other process writes to the store. A refused write resolves only after the write that it conflicts with
   * is durable, so a client that reads again sees that write.
   */
  write(op: Write): Promise<WriteResult>

  /**
   * Calls `onEvents` with every event under `prefix` after `fromRevision`, in order and without gaps. Events are
   * durable when they are delivered, and events of one commit come together. The event of a write is delivered before
   * the write resolves. `onEnd` is called once if the watch cannot continue. `onProgress` reports a revision up to
   * which there are no further events: when a watch has caught up, and later in a shared store. Rejects with
   * CompactedError if `fromRevision` is compacted.
   */
  watch(
    prefix: string,
    fromRevision: number,
    onEvents: (events: readonly StoreEvent[]) => void,
    onEnd?: (why: Error) => void,
    onProgress?: (revision: number) => void,
  ): Promise<Watch>

  /** Removes superseded versions and tombstones up to `revision`. Current versions stay. */
  compact(revision: number): Promise<void>

  /**
   * Compacts periodically, coordinated with other processes, until the returned function is called. Undefined if no
   * other process writes to the store.
   */
  readonly keepCompacted?: ((options: CompactorOptions) => () => void) | undefined

  /**
   * Returns the newest revision that was committed at or before `timeMs`; undefined if all known revisions are newer.
   */
  revisionAt(timeMs: number): number | undefined

  /** Bytes used, for metrics. In a shared store this is the last reported size. */
  size(): number

  /**
   * How long the store has not answered, from the first failed call after the last answer; 0 while it answers. Undefined
   * if the store is in this process.
   */
  readonly silenceMs?: (() => number) | undefined

  close(): Promise<void>

  /**
   * Returns true if the value of a key must be rewritten although it has not changed, because it was encrypted with
   * another key.
   */
  readonly isStale?: ((key: string) => Promise<boolean>) | undefined
}

/** A part of the keys under a prefix, in byte order, at `revision`. */
export interface Page {
  items: readonly Versioned[]
  revision: number
}

/** Reads all keys that start with `prefix` at the newest revision, page by page if the store can. */
export async function* pagesOf(store: Store, prefix: string): AsyncIterable<Page> {
  if (store.pages) yield* store.pages(prefix)
  else yield await store.range(prefix)
}

/** Passes the pages on. The next page waits for the returned promise. Resolves to the revision. */
export async function loadAll(
  store: Store,
  prefix: string,
  onPage: (items: readonly Versioned[], revision: number) => Promise<void> | void,
): Promise<number> {
  let read = 0
  for await (const { items, revision } of pagesOf(store, prefix)) {
    await onPage(items, revision)
    read = revision
  }
  return read
}

export interface Versioned {
  key: string
  value: Buffer
  /** The revision of the write that made this version. */
  revision: number
  /** The revision at which the key was created. */
  createRevision: number
  /** See Write. */
  mark?: number | undefined
}

export interface CompactorOptions {
  clock: Clock
  /** Maximum age of the history. */
  maxAgeMs: number
  /** Maximum number of revisions in the history, whatever their age. */
  maxRevisions: number
  /** Interval between checks. */
  intervalMs: number
  /** Called when a compaction fails. The compaction is retried at the next interval. */
  onError?: (why: Error) => void
}

export interface RangeOptions {
  revision?: number
  /** Return only keys after this one (a whole key, including the prefix). */
  after?: string
  /** 0 means no limit. */
  limit?: number
}

export interface RangeResult {
  items: Versioned[]
  /** The revision that was read. */
  revision: number
  /** Number of keys under the prefix after the last item. */
  remaining: number
}

/**
 * `expected` is the revision of the key that the writer has read; 0 means that the key must not exist. A delete has no
 * value, and a delete of a missing key is refused. The store owns the value afterwards: the caller must not change it.
 */
export interface Write {
  key: string
  expected: number
  value: Buffer | undefined
  /**
   * A number from 1 to 16,777,215 that is stored with the version. The store does not interpret it. A store that shares
   * values with other programs may lose it if storing it would do harm.
   */
  mark?: number | undefined
}

export type WriteResult = { ok: true; revision: number } | { ok: false; current: Versioned | undefined }

/**
 * `previous` is the version that the event replaced. A driver may read it lazily, so read it while handling the event:
 * later access may throw CompactedError.
 */
export type StoreEvent =
  | (Versioned & { type: 'put'; previous: Versioned | undefined })
  | { type: 'delete'; key: string; revision: number; previous: Versioned }

export interface Watch {
  close(): void
}

/** Thrown when the requested revision is compacted. */
export class CompactedError extends Error {
  readonly compactedRevision: number
  constructor(compactedRevision: number) {
    super(`required revision has been compacted (history starts after ${compactedRevision})`)
    this.name = 'CompactedError'
    this.compactedRevision = compactedRevision
  }
}

/** Thrown when the requested revision does not exist yet. */
export class FutureRevisionError extends Error {
  readonly current: number
  constructor(asked: number, current: number) {
    super(`required revision ${asked} is a future revision (current is ${current})`)
    this.name = 'FutureRevisionError'
    this.current = current
  }
}

/**
 * Thrown when the store cannot be opened: in use, missing, corrupt, not a store of ours, of another format, on a disk
 * that rejects writes (`Unusable`), or unreachable. Nothing was changed.
 */
export class StoreOpenError extends Error {
  readonly why:
    | 'InUse'
    | 'Missing'
    | 'Corrupt'
    | 'ForeignFormat'
    | 'NewerFormat'
    | 'NotConverted'
    | 'Unusable'
    | 'Unreachable'
  constructor(why: StoreOpenError['why'], message: string) {
    super(message)
    this.name = 'StoreOpenError'
    this.why = why
  }
}

/** Thrown after the store was closed. */
export class StoreClosedError extends Error {
  constructor() {
    super('the store is closed')
    this.name = 'StoreClosedError'
  }
}

/**
 * Thrown when a write could not be made durable. It did not take effect and no reader has seen it. `cause` has the
 * reason.
 */
export class CommitFailedError extends Error {
  constructor(cause: Error) {
    super(`the write could not be made durable: ${cause.message}`, { cause })
    this.name = 'CommitFailedError'
  }
}

/** Thrown when the store is unreachable or has no quorum. The write did not take effect and may be retried later. */
export class StoreUnavailableError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'StoreUnavailableError'
  }
}

/**
 * Thrown when the response to a write was lost and its outcome could not be determined: it may have taken effect, or
 * may still do so.
 */
export class WriteUncertainError extends Error {
  constructor(cause: Error) {
    super(`the outcome of the write is not known: ${cause.message}`, { cause })
    this.name = 'WriteUncertainError'
  }
}

/** Thrown when a value exceeds the size limit of the store. */
export class ValueTooLargeError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ValueTooLargeError'
  }
}
