import type { RuntimeEvent } from '../../runtime/runtime.ts'

/** The phases of a sandbox or container, in the only order in which they can follow one another. */
const order = ['created', 'started', 'stopped'] as const
type Phase = (typeof order)[number]

interface Known {
  sandboxId: string
  isSandbox: boolean
  phase: Phase
  /** The number of looks that had begun when it became known. */
  sinceLook: number
}

/** One entry of a list of everything. */
export interface Listed {
  id: string
  sandboxId: string
  phase: Phase
}

/**
 * The last known phase of everything that a runtime has. Calls of the node, events of the runtime and looks at
 * everything all end here, in any order and more than once; each change is told once.
 */
export class KnownStates {
  readonly #known = new Map<string, Known>()
  /**
   * Ids that were removed during a look, with the number of looks then: the answer of that look may still have them.
   */
  readonly #removed = new Map<string, number>()
  readonly #tell: (event: RuntimeEvent) => void
  #looks = 0

  constructor(tell: (event: RuntimeEvent) => void) {
    this.#tell = tell
  }

  /** The sandbox of a container; undefined if it is not known. */
  sandboxOf(containerId: string): string | undefined {
    return this.#known.get(containerId)?.sandboxId
  }

  phaseOf(id: string): Phase | undefined {
    return this.#known.get(id)?.phase
  }

  containersOf(sandboxId: string): string[] {
    return [...this.#known].filter(([, known]) => !known.isSandbox && known.sandboxId === sandboxId).map(([id]) => id)
  }

  /** True if that is a change. A phase that is over does not come back. */
  note(id: string, sandboxId: string, phase: Phase): boolean {
    const known = this.#known.get(id)
    if (known && order.indexOf(known.phase) >= order.indexOf(phase)) return false
    const isSandbox = id === sandboxId
    this.#known.set(id, { sandboxId, isSandbox, phase, sinceLook: known?.sinceLook ?? this.#looks })
    this.#tell({ kind: phase, sandboxId, containerId: isSandbox ? undefined : id })
    return true
  }

  removed(id: string): boolean {
    const known = this.#known.get(id)
    if (!known || !this.#known.delete(id)) return false
    this.#removed.set(id, this.#looks)
    this.#tell({ kind: 'deleted', sandboxId: known.sandboxId, containerId: known.isSandbox ? undefined : id })
    return true
  }

  /** Begins a look at everything; the answered function takes what was seen, and answers how much had changed. */
  look(): (listed: readonly Listed[]) => number {
    const look = ++this.#looks
    return (listed) => {
      let changes = 0
      const seen = new Set<string>()
      for (const { id, sandboxId, phase } of listed) {
        seen.add(id)
        if (this.#removed.has(id)) continue
        if (this.note(id, sandboxId, phase)) changes++
      }
      // The answer does not have what was made after the look began.
      for (const [id, { sinceLook }] of this.#known)
        if (sinceLook < look && !seen.has(id) && this.removed(id)) changes++
      for (const [id, before] of this.#removed) if (before < look) this.#removed.delete(id)
      return changes
    }
  }
}
