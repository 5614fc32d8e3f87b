import { Forgettable } from './forgettable.ts'
import { KeyIndex } from './key-index.ts'
import type { Version } from './key-index.ts'
import type { Compacted, LogRecord } from './record-log.ts'
import { Timeline } from './timeline.ts'

/** The in-memory state of a store: everything it knows without reading the log. */
export class LogState {
  /** Also contains writes that are not durable yet. Conflicts are checked against them; reads use older revisions. */
  readonly index = new KeyIndex()
  readonly timeline = new Timeline()
  readonly forgettable = new Forgettable()
  /** The newest durable revision. */
  revision: number
  compactedRevision: number

  constructor(compacted: Compacted = { revision: 0, timeMs: 0 }) {
    this.revision = compacted.revision
    this.compactedRevision = compacted.revision
    if (compacted.revision > 0) this.timeline.add(compacted.timeMs, compacted.revision)
  }

  /** Adds a record of the log on recovery. All records must come in revision order. */
  recover({
    key,
    revision,
    createRevision,
    timeMs,
  }: Pick<LogRecord, 'key' | 'revision' | 'createRevision' | 'timeMs'>): void {
    const older = this.index.head(key)
    const version: Version = { key: older ? older.key : key, revision, createRevision, older }
    this.index.put(version)
    this.forgettable.add(version)
    if (revision <= this.compactedRevision) return
    this.timeline.add(timeMs, revision)
    this.revision = revision
  }

  /** Adds a durable commit whose versions are already in the index. */
  commit(versions: readonly Version[], last: LogRecord | undefined, compacted: Compacted | undefined): void {
    if (last) {
      this.revision = last.revision
      this.timeline.add(last.timeMs, last.revision)
      for (const version of versions) this.forgettable.add(version)
    }
    if (compacted) {
      this.compactedRevision = compacted.revision
      this.timeline.forgetBefore(compacted.revision)
    }
  }
}
