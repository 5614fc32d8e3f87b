import type { Clock } from '../../../base/clock.ts'

/** A container that runs and may hold no more memory than so much. */
export interface Limited {
  id: string
  limitBytes: number
  /** What it holds now. */
  heldBytes(): number
}

const lookMs = 1000

/**
 * Ends containers that hold more memory than they may. There is nobody but us to look: between two looks a container
 * may hold more.
 */
export class MemoryLimits {
  readonly #clock: Clock
  readonly #limited: () => readonly Limited[]
  readonly #kill: (id: string) => void
  readonly #killed = new Set<string>()
  #cancel: (() => void) | undefined

  constructor(clock: Clock, limited: () => readonly Limited[], kill: (id: string) => void) {
    this.#clock = clock
    this.#limited = limited
    this.#kill = kill
  }

  /** Looks now and then, until there is nothing to look after. */
  watch(): void {
    this.#cancel ??= this.#clock.after(lookMs, () => this.#look())
  }

  /** Whether a container was ended for what it held. */
  hasKilled(id: string): boolean {
    return this.#killed.has(id)
  }

  forget(id: string): void {
    this.#killed.delete(id)
  }

  close(): void {
    this.#cancel?.()
  }

  #look(): void {
    this.#cancel = undefined
    const limited = this.#limited()
    for (const { id, limitBytes, heldBytes } of limited) {
      if (this.#killed.has(id) || heldBytes() <= limitBytes) continue
      this.#killed.add(id)
      this.#kill(id)
    }
    if (limited.length > 0) this.watch()
  }
}
