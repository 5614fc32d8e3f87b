import type { Clock } from '../../../base/clock.ts'
import type { Usage } from '../../runtime/runtime.ts'
import { type ProcessStat, allProcesses, heldBytes, nanosPerTick, residentBytes } from './proc.ts'

/** A scan of all processes is reused for this time, so that a query for all containers scans once. */
const freshMs = 100

/** The resource usage of containers, by their sessions. */
export class UsageReader {
  readonly #clock: Clock
  #lookedAtMs = -Infinity
  #bySession = new Map<number, ProcessStat[]>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  read(session: number): Usage {
    if (this.#clock.now() - this.#lookedAtMs > freshMs) this.#look()
    const processes = this.#bySession.get(session) ?? []
    return {
      atMs: this.#lookedAtMs,
      cpuNanos: processes.reduce((sum, p) => sum + p.cpuTicks, 0) * nanosPerTick,
      memoryBytes: processes.reduce((sum, p) => sum + residentBytes(p.pid), 0),
    }
  }

  /** The memory that the processes of a session use for themselves. */
  heldBytes(session: number): number {
    if (this.#clock.now() - this.#lookedAtMs > freshMs) this.#look()
    return (this.#bySession.get(session) ?? []).reduce((sum, p) => sum + heldBytes(p.pid), 0)
  }

  #look(): void {
    this.#lookedAtMs = this.#clock.now()
    this.#bySession = new Map()
    for (const p of allProcesses()) {
      const group = this.#bySession.get(p.session)
      if (group) group.push(p)
      else this.#bySession.set(p.session, [p])
    }
  }
}
