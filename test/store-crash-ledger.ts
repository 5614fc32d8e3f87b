/** A state of a key: the write that made it. */
export interface Found {
  revision: number
  /** Tells the writes to a key apart. */
  seq: number
}

/** Remembers what was attempted and what was acknowledged, and finds out whether anything was lost or made up. */
export class AckLedger {
  /** undefined: the key is known not to exist. */
  #known = new Map<string, Found | undefined>()
  /** The one write to a key that is under way; seq undefined is a delete. */
  #attempts = new Map<string, { seq: number | undefined }>()
  #revision = 0
  #count = 0

  /** The number of acknowledgements. */
  get count(): number {
    return this.#count
  }

  /** A write is about to be made. There must be no other to that key under way. */
  attempt(key: string, seq: number | undefined): void {
    this.#attempts.set(key, { seq })
  }

  /** The write to that key is durable. */
  acknowledge(key: string, revision: number): void {
    const attempt = this.#attempts.get(key)
    if (!attempt) throw new Error(`${key} was acknowledged at ${revision} without an attempt`)
    this.#attempts.delete(key)
    this.#known.set(key, attempt.seq === undefined ? undefined : { revision, seq: attempt.seq })
    this.#revision = Math.max(this.#revision, revision)
    this.#count++
  }

  /**
   * Everything in which a store found after a crash contradicts what is known, in words. A write that was under way may
   * have happened or not; nothing else may differ. What was found is known from then on.
   */
  account(found: ReadonlyMap<string, Found>, revision: number): string[] {
    const wrong: string[] = []
    if (revision < this.#revision) wrong.push(`the revision went back from ${this.#revision} to ${revision}`)
    for (const key of new Set([...this.#known.keys(), ...this.#attempts.keys(), ...found.keys()])) {
      const now = found.get(key)
      const known = this.#known.get(key)
      const isAsKnown = now?.revision === known?.revision && now?.seq === known?.seq
      if (!isAsKnown && !this.#couldBe(key, now)) wrong.push(`${key} is ${show(now)}, but was ${show(known)}`)
      this.#known.set(key, now)
    }
    this.#attempts.clear()
    this.#revision = revision
    return wrong
  }

  #couldBe(key: string, now: Found | undefined): boolean {
    const attempt = this.#attempts.get(key)
    if (!attempt || attempt.seq !== now?.seq) return false
    return now === undefined || now.revision > (this.#known.get(key)?.revision ?? 0)
  }
}

function show(state: Found | undefined): string {
  return state ? `write ${state.seq} at revision ${state.revision}` : 'absent'
}
