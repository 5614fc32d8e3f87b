import type { KeyIndex, Version } from './key-index.ts'

/** Finds what compaction may remove without looking at what it must keep. */
export class Forgettable {
  // Versions that ended another state of their key, ascending by revision. What they ended is of no use once history
  // up to them is forgotten; nor is a tombstone itself.
  #endings: Version[] = []
  #start = 0

  /** Takes every durable version, in the order of revisions. */
  add(version: Version): void {
    if (version.older || version.createRevision === 0) this.#endings.push(version)
  }

  /** Whether there is anything to take. */
  isDue(revision: number): boolean {
    const next = this.#endings[this.#start]
    return next !== undefined && next.revision <= revision
  }

  /** Cuts up to `limit` endings at or before `revision` from the index. Returns the revisions whose records may go. */
  take(revision: number, limit: number, index: KeyIndex): number[] {
    const removed: number[] = []
    for (let taken = 0; taken < limit; taken++) {
      const ending = this.#endings[this.#start]
      if (!ending || ending.revision > revision) break
      this.#start++
      // A tombstone that was ended has gone when its own turn came.
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
