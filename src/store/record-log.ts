/** The change of one revision. Immutable, its value included: it is shared with readers and watchers, never copied. */
export interface LogRecord {
  readonly revision: number
  readonly key: string
  /** 0 for a delete. */
  readonly createRevision: number
  /** The revision of the state that it replaced; 0 if the key did not exist. */
  readonly previousRevision: number
  /** Commit time; never less than that of an earlier revision. */
  readonly timeMs: number
  /** True for the last record of a commit. */
  readonly endsCommit: boolean
  /** undefined for a delete. */
  readonly value: Buffer | undefined
  /** The mark of the write; 24 bits. */
  readonly mark: number | undefined
}

/** The compacted revision and its commit time. */
export interface Compacted {
  readonly revision: number
  readonly timeMs: number
}

/** The changes of one transaction. */
export interface Commit {
  /** In revision order, directly after the records that were committed before. */
  readonly records: readonly LogRecord[]
  /** Revisions of the records to delete. */
  readonly removed: readonly number[]
  /** Set if the compacted revision rises. */
  readonly compacted: Compacted | undefined
}

/** Storage of records: the interface that a local driver implements. One commit runs at a time. */
export interface RecordLog {
  /** See Store. */
  readonly keepsValues?: boolean
  /**
   * Resolves once the commit is durable. If it rejects, none of it is visible, and another commit may be tried unless
   * the error is LogBroken.
   */
  commit(commit: Commit): Promise<void>
  /** Returns a committed record that was not deleted. Synchronous, because records are in memory or mapped into it. */
  record(revision: number): LogRecord | undefined
  /** Yields to other work during a long read. Undefined if no read is long. */
  readonly yield?: (() => Promise<void>) | undefined
  /** Bytes used. */
  size(): number
  close(): Promise<void>
}

/** Thrown when the log accepts no more commits until it is reopened. */
export class LogBroken extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause })
    this.name = 'LogBroken'
  }
}
