/** What one revision did. Immutable, its value included: it is shared with readers and watchers, never copied. */
export interface LogRecord {
  readonly revision: number
  readonly key: string
  /** 0 for a delete. */
  readonly createRevision: number
  /** The revision of the state that it replaced; 0 if the key did not exist. */
  readonly previousRevision: number
  /** When it was committed. Never smaller than that of an earlier revision. */
  readonly timeMs: number
  /** Whether it is the last of the commit that it belongs to. */
  readonly endsCommit: boolean
  /** undefined for a delete. */
  readonly value: Buffer | undefined
  /** As it was written; 24 bits. */
  readonly mark: number | undefined
}

/** Up to where history was forgotten, and when that revision was committed. */
export interface Compacted {
  readonly revision: number
  readonly timeMs: number
}

/** What becomes durable together, or not at all. */
export interface Commit {
  /** In the order of revisions, without a gap after what was committed before. */
  readonly records: readonly LogRecord[]
  /** Revisions whose records are no longer needed. */
  readonly removed: readonly number[]
  /** Given when history is forgotten further than before. */
  readonly compacted: Compacted | undefined
}

/** Where records live: all that a local driver has to provide. One commit runs at a time. */
export interface RecordLog {
  /** See Store. */
  readonly keepsValues?: boolean
  /** Resolves once all of it is durable. If it rejects, none of it is visible; another may be tried, but for LogBroken. */
  commit(commit: Commit): Promise<void>
  /** A committed record that has not been removed. Not waited for: what it reads is in memory or mapped into it. */
  record(revision: number): LogRecord | undefined
  /** Lets other work run in the midst of a long read. Absent where nothing is long. */
  readonly yield?: (() => Promise<void>) | undefined
  /** Bytes used. */
  size(): number
  close(): Promise<void>
}

/** The log takes no more commits until it is opened again. */
export class LogBroken extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause })
    this.name = 'LogBroken'
  }
}
