import type { Clock } from '../../../base/clock.ts'

/** A running container with a memory limit. */
export interface Limited {
  id: string
  limitBytes: number
  /** The memory that it uses now. */
  heldBytes(): number
}

const lookMs = 1000

/**
 * Kills containers that exceed their memory limit. Usage is polled, so a container may exceed its limit between two
 * checks.
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

  /** Checks periodically while there are containers. */
  watch(): void {
    this.#cancel ??= this.#clock.after(lookMs, () => this.#look())
  }

  /** True if a container was killed because of its memory usage. */
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
