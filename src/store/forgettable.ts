import type { KeyIndex, Version } from './key-index.ts'

/** Tracks which versions compaction may remove, so that it need not scan the others. */
export class Forgettable {
  // Versions that superseded an earlier state of their key, ascending by revision. After compaction to an ending, the
  // state before it is unreachable; if the ending is a tombstone, so is the tombstone.
  #endings: Version[] = []
  #start = 0

  /** Records a durable version. Versions must come in revision order. */
  add(version: Version): void {
    if (version.older || version.createRevision === 0) this.#endings.push(version)
  }

  /** Returns true if `take` would find endings at or before the revision. */
  isDue(revision: number): boolean {
    const next = this.#endings[this.#start]
    return next !== undefined && next.revision <= revision
  }

  /**
   * Removes up to `limit` endings at or before `revision` from the index. Returns the revisions whose records may be
   * deleted.
   */
  take(revision: number, limit: number, index: KeyIndex): number[] {
    const removed: number[] = []
    for (let taken = 0; taken < limit; taken++) {
      const ending = this.#endings[this.#start]
      if (!ending || ending.revision > revision) break
      this.#start++
      // A superseded tombstone was removed as an ending of its own.
      if (ending.older && ending.older.createRevision > 0) removed.push(ending.older.revision)
      ending.older = undefined
      if (ending.createRevision > 0) continue
      removed.push(ending.revision)
      if (index.head(ending.key) === ending) index.remove(ending)
    }
    this.#releaseTaken()
    return removed
  }

  #releaseTaken(): void {
    if (this.#start < 1024 || this.#start < this.#endings.length >>> 1) return
    this.#endings = this.#endings.slice(this.#start)
    this.#start = 0
  }
}
