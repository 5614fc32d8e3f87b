import { systemClock } from '../../base/clock.ts'
import type { Clock } from '../../base/clock.ts'
import { type Turns, nextTurn } from '../../base/turns.ts'
import { LogState } from '../log-state.ts'
import { LogStore } from '../log-store.ts'
import type { Commit, LogRecord, RecordLog } from '../record-log.ts'
import type { Store } from '../store.ts'

export interface MemoryStoreOptions {
  clock?: Clock
}

/**
 * A store that exists only as long as the process. It needs no timers and no I/O. Under a virtual clock each operation
 * takes a fixed number of microtasks. Under a real clock it yields to I/O regularly: a client that writes whenever the
 * previous write resolves would otherwise block I/O.
 */
export function openMemoryStore({ clock = systemClock }: MemoryStoreOptions = {}): Store {
  return new LogStore(new MemoryLog(clock.turns), new LogState(), clock)
}

class MemoryLog implements RecordLog {
  readonly keepsValues = true
  readonly yield: (() => Promise<void>) | undefined
  #records = new Map<number, LogRecord>()
  #size = 0

  constructor(turns: Turns | undefined) {
    // Commits do not wait in the queue of slices: other requests wait for them.
    if (turns) this.yield = async () => (turns.isSpent ? nextTurn() : undefined)
  }

  async commit({ records, removed }: Commit): Promise<void> {
    for (const record of records) {
      this.#records.set(record.revision, record)
      this.#size += sizeOf(record)
    }
    for (const revision of removed) {
      const record = this.#records.get(revision)
      if (record && this.#records.delete(revision)) this.#size -= sizeOf(record)
    }
  }

  record(revision: number): LogRecord | undefined {
    return this.#records.get(revision)
  }

  size(): number {
    return this.#size
  }

  async close(): Promise<void> {
    this.#records.clear()
  }
}

function sizeOf({ key, value }: LogRecord): number {
  return key.length + (value?.length ?? 0)
}
