import type { RuntimeEvent } from '../../runtime/runtime.ts'

/** The phases of a sandbox or container, in their only possible order. */
const order = ['created', 'started', 'stopped'] as const
type Phase = (typeof order)[number]

interface Known {
  sandboxId: string
  isSandbox: boolean
  phase: Phase
  /** The number of lists that had started when the object became known. */
  sinceLook: number
}

/** An entry of a list of all objects. */
export interface Listed {
  id: string
  sandboxId: string
  phase: Phase
}

/**
 * The last known phase of each object in the runtime. It is updated by the node's calls, by events of the runtime and
 * by lists, in any order and repeatedly. Each change is reported once.
 */
export class KnownStates {
  readonly #known = new Map<string, Known>()
  /** Removed ids with the number of lists that had started: a response to one of these may still have them. */
  readonly #removed = new Map<string, number>()
  readonly #tell: (event: RuntimeEvent) => void
  #looks = 0

  constructor(tell: (event: RuntimeEvent) => void) {
    this.#tell = tell
  }

  /** The sandbox of a container. Undefined if it is not known. */
  sandboxOf(containerId: string): string | undefined {
    return this.#known.get(containerId)?.sandboxId
  }

  phaseOf(id: string): Phase | undefined {
    return this.#known.get(id)?.phase
  }

  containersOf(sandboxId: string): string[] {
    return [...this.#known].filter(([, known]) => !known.isSandbox && known.sandboxId === sandboxId).map(([id]) => id)
  }

  /** Returns true if the phase has changed. An object never returns to an earlier phase. */
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

  /** Starts a list. The returned function applies its result and returns the number of changes. */
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
      // The result lacks objects that were created after the list started.
      for (const [id, { sinceLook }] of this.#known)
        if (sinceLook < look && !seen.has(id) && this.removed(id)) changes++
      for (const [id, before] of this.#removed) if (before < look) this.#removed.delete(id)
      return changes
    }
  }
}
