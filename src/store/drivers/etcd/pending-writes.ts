import type { Clock } from '../../../base/clock.ts'

/** A write without a response. */
export interface PendingWrite {
  key: string
  /** The value before and after encoding; undefined for a delete. */
  value: Buffer | undefined
  stored: Buffer | undefined
  expected: number
  /** The revision of the event that this write caused, once it has been seen. */
  seenAt: number | undefined
  /** The revision of a delete of the expected version, by this write or by another. */
  goneAt: number | undefined
}

/** Matches events with the pending writes of this process. */
export class PendingWrites {
  readonly #byKey = new Map<string, Set<PendingWrite>>()
  #idle: (() => void)[] = []

  add(pending: PendingWrite): () => void {
    const { key } = pending
    let all = this.#byKey.get(key)
    if (!all) this.#byKey.set(key, (all = new Set()))
    const set = all
    set.add(pending)
    return () => {
      set.delete(pending)
      if (set.size === 0 && this.#byKey.get(key) === set) this.#byKey.delete(key)
      if (this.#byKey.size === 0) for (const resolve of this.#idle.splice(0)) resolve()
    }
  }

  /** Resolves once no write is pending, or after the time limit. */
  async drained(timers: Clock, limitMs: number): Promise<void> {
    if (this.#byKey.size === 0) return
    await new Promise<void>((resolve) => {
      const cancel = timers.after(limitMs, resolve)
      this.#idle.push(() => {
        cancel()
        resolve()
      })
    })
  }

  /** Returns the original buffer of the write of this process that stored these bytes, if there is one. */
  sawPut(key: string, stored: Buffer, revision: number): Buffer | undefined {
    for (const pending of this.#byKey.get(key) ?? []) {
      if (!pending.stored?.equals(stored)) continue
      pending.seenAt = revision
      return pending.value
    }
    return undefined
  }

  sawDelete(key: string, previousRevision: number, revision: number): void {
    for (const pending of this.#byKey.get(key) ?? [])
      if (!pending.stored && pending.expected === previousRevision) pending.goneAt = revision
  }
}
