/** Lets so many things happen at a time. */
export class Slots {
  #free: number
  readonly #waiting: (() => void)[] = []
  readonly #underWay = new Set<Promise<void>>()

  constructor(count: number) {
    this.#free = count
  }

  /** Starts it at once, and resolves as soon as there is room for another. What is run must not reject. */
  async run(start: () => Promise<void>): Promise<void> {
    this.#free--
    this.aside(
      start().finally(() => {
        this.#free++
        this.#waiting.shift()?.()
      }),
    )
    if (this.#free <= 0) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** Takes no room, but is waited for in the end. */
  aside(work: Promise<void>): void {
    const noted = work.finally(() => this.#underWay.delete(noted))
    this.#underWay.add(noted)
  }

  /** Resolves when nothing is under way any more. */
  async allFree(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay)
  }
}
