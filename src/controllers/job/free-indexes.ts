import { KeyedHeap } from '../../base/keyed-heap.ts'
import { IndexSet } from './index-set.ts'

/**
 * The completion indexes that nothing stands in the way of, the lowest first. Indexes are passed once from the lowest
 * on, and only those that become free again are looked at again.
 */
export class FreeIndexes {
  readonly #completions: number
  readonly #isTaken: (index: number) => boolean
  /** Indexes below `#next` that were free when they were passed, or have become free since. */
  #passed = lowestFirst()
  #next = 0
  #done = IndexSet.empty

  /** `isTaken` says whether a pod has the index. */
  constructor(completions: number, isTaken: (index: number) => boolean) {
    this.#completions = completions
    this.#isTaken = isTaken
  }

  /** The indexes that are done, whatever pods there are. What was done stays so, unless somebody edits a status. */
  know(done: IndexSet): void {
    if (done === this.#done) return
    if (done.sharedWith(this.#done) < this.#done.size) {
      this.#passed = lowestFirst()
      this.#next = 0
    }
    this.#done = done
  }

  /** The last pod of an index is gone, or the first has come. */
  change(index: number): void {
    if (index >= this.#next) return
    if (this.#isTaken(index)) this.#passed.delete(index)
    else this.#passed.set(index, index)
  }

  /** The first `count` that are free. */
  first(count: number): number[] {
    const found: number[] = []
    while (found.length < count && this.#passed.size > 0) {
      const index = this.#passed.pop()!
      if (!this.#done.has(index)) found.push(index)
    }
    for (; found.length < count && this.#next < this.#completions; this.#next++) {
      if (!this.#isTaken(this.#next) && !this.#done.has(this.#next)) found.push(this.#next)
    }
    for (const index of found) this.#passed.set(index, index)
    return found
  }
}

const lowestFirst = () => new KeyedHeap<number, number>((a, b) => a < b)
