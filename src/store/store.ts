import type { CompactorOptions } from './compactor.ts'

/**
 * A log of revisions. One number rises with every write; a key's state at any revision that has not been compacted
 * can be read, and everything after any such revision can be watched. Values are opaque bytes. Revisions are compared,
 * never counted: a store that is shared has gaps, and a new one need not start at 0.
 */
export interface Store {
  /** The newest durable revision that watches have been told of. In a store of one process, the newest there is. */
  readonly revision: number
  /** Everything up to this revision may be gone, but for what was the newest of its key then. A shared store may have forgotten more than this process knows. */
  readonly compactedRevision: number

  /** True if values stay in memory for as long as their version does: whoever keeps them too had better share them. */
  readonly keepsValues?: boolean

  /** Asks for the newest revision, writes of other processes included. Absent in a store of one process: it is `revision`. */
  readonly currentRevision?: (() => Promise<number>) | undefined

  /** Resolves once watches have been told of everything up to `revision`. Absent in a store of one process, where that is always so. */
  readonly waitUntilSeen?: ((revision: number) => Promise<void>) | undefined

  get(key: string): Promise<Versioned | undefined>

  /** Keys that start with `prefix` in byte order, as they were at `revision` (default: now). Rejects with CompactedError or FutureRevisionError. */
  range(prefix: string, options?: RangeOptions): Promise<RangeResult>

  /**
   * Writes if the key's current state is the expected one. Resolves once the outcome is durable, in a store of one
   * process in the order of revisions; a refused write resolves only after every write it was refused because of is durable, so that
   * who reads again then sees what beat it.
   */
  write(op: Write): Promise<WriteResult>

  /**
   * Calls `onEvents` with every event under `prefix` after `fromRevision`, in order, gapless, each durable before it
   * is seen; events of one commit come together. The event of a write is delivered before that write is resolved.
   * `onEnd` is called once if the watch cannot go on. `onProgress` tells of revisions up to which there was nothing
   * more; only a shared store calls it. Rejects with CompactedError if `fromRevision` is older than what is kept.
   */
  watch(
    prefix: string,
    fromRevision: number,
    onEvents: (events: readonly StoreEvent[]) => void,
    onEnd?: (why: Error) => void,
    onProgress?: (revision: number) => void,
  ): Promise<Watch>

  /** Forgets history up to `revision`: superseded versions and tombstones. Live state stays. */
  compact(revision: number): Promise<void>

  /** Compacts in turn with other processes, until the returned function is called. Absent in a store of one process. */
  readonly keepCompacted?: ((options: CompactorOptions) => () => void) | undefined

  /** The newest revision that was committed at or before `timeMs`, as far as the store remembers; undefined if all is newer. */
  revisionAt(timeMs: number): number | undefined

  /** Bytes used, for metrics; in a shared store, as it was last heard. */
  size(): number

  close(): Promise<void>

  /** True if a key's value is to be written again though it says nothing new: a store that encrypts has another key by now. */
  readonly isStale?: ((key: string) => Promise<boolean>) | undefined
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

export interface RangeOptions {
  revision?: number
  /** Only keys strictly after this one (a whole key, prefix included). */
  after?: string
  /** 0 is no limit. */
  limit?: number
}

export interface RangeResult {
  items: Versioned[]
  /** The revision that was read. */
  revision: number
  /** How many more keys under the prefix lie behind the last item. */
  remaining: number
}

/**
 * `expected` is the key's revision that the writer has seen; 0 means that the key must not exist. A delete has no value;
 * deleting what does not exist is refused. The value belongs to the store from then on: it must not be changed.
 */
export interface Write {
  key: string
  expected: number
  value: Buffer | undefined
  /**
   * A number from 1 to 16,777,215, kept with the version for its readers. The store itself makes no use of it. A store
   * that shares values with other programs may lose it, where it cannot be kept without harm.
   */
  mark?: number | undefined
}

export type WriteResult = { ok: true; revision: number } | { ok: false; current: Versioned | undefined }

/**
 * `previous` is what the event replaced. A driver may read it only when it is looked at, so look while handling the
 * event: later it may have been compacted, and looking throws CompactedError.
 */
export type StoreEvent =
  | (Versioned & { type: 'put'; previous: Versioned | undefined })
  | { type: 'delete'; key: string; revision: number; previous: Versioned }

export interface Watch {
  close(): void
}

/** The revision asked for is older than the store's history. */
export class CompactedError extends Error {
  readonly compactedRevision: number
  constructor(compactedRevision: number) {
    super(`required revision has been compacted (history starts after ${compactedRevision})`)
    this.name = 'CompactedError'
    this.compactedRevision = compactedRevision
  }
}

/** The revision asked for has not happened yet. */
export class FutureRevisionError extends Error {
  readonly current: number
  constructor(asked: number, current: number) {
    super(`required revision ${asked} is a future revision (current is ${current})`)
    this.name = 'FutureRevisionError'
    this.current = current
  }
}

/** The store cannot be used: in use, corrupt, not ours, of another format, or not to be reached. Nothing was changed. */
export class StoreOpenError extends Error {
  readonly why: 'InUse' | 'Corrupt' | 'ForeignFormat' | 'NewerFormat' | 'NotConverted' | 'Unreachable'
  constructor(why: StoreOpenError['why'], message: string) {
    super(message)
    this.name = 'StoreOpenError'
    this.why = why
  }
}

/** The store has been closed. */
export class StoreClosedError extends Error {
  constructor() {
    super('the store is closed')
    this.name = 'StoreClosedError'
  }
}

/** The write could not be made durable: it did not happen, and nobody has seen it. `cause` says why. */
export class CommitFailedError extends Error {
  constructor(cause: Error) {
    super(`the write could not be made durable: ${cause.message}`, { cause })
    this.name = 'CommitFailedError'
  }
}

/** The store cannot be reached, or has no quorum: the write did not happen. It may be tried again later. */
export class StoreUnavailableError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'StoreUnavailableError'
  }
}

/** The answer to a write was lost, and the store could not be asked for its outcome: it may have happened, or happen yet. */
export class WriteUncertainError extends Error {
  constructor(cause: Error) {
    super(`the outcome of the write is not known: ${cause.message}`, { cause })
    this.name = 'WriteUncertainError'
  }
}

/** The store does not take a value of this size. */
export class ValueTooLargeError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ValueTooLargeError'
  }
}
