/** A write that has no answer yet. */
export interface PendingWrite {
  key: string
  /** The value as it was handed in, and as it is stored; undefined for a delete. */
  value: Buffer | undefined
  stored: Buffer | undefined
  expected: number
  /** The revision of the event that this write has caused, if it was seen. */
  seenAt: number | undefined
  /** The revision of a delete that replaced what this delete expected: by this one, or by another. */
  goneAt: number | undefined
}

/** Finds the writes of this process among the events of all. */
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

  /** Resolves once no write is under way. */
  async drained(): Promise<void> {
    if (this.#byKey.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  /** The value that was handed in for the version that these bytes are, where a write of this process made it. */
  sawPut(key: string, stored: Buffer, revision: number): Buffer | undefined {
    for (const pending of this.#byKey.get(key) ?? []) {
      if (!pending.stored?.equals(stored)) continue
      pending.seenAt = revision
      return pending.value
    }
    return undefined
  }

  sawDelete(key: string, previousRevision: number, revision: number): void {
    for (const pending of this.#byKey.get(key) ?? []) if (!pending.stored && pending.expected === previousRevision) pending.goneAt = revision
  }
}
