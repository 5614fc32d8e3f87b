import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'

/** Used and total amount, in bytes. */
interface Amount {
  usedBytes: number
  limitBytes: number
}

/** The memory of a server: its heap, and the memory of the whole process. */
export interface Memory {
  heap(): Amount
  /** Needs a system call. */
  machine(): Amount
}

/**
 * The memory of this process. V8 derives the heap limit at startup from the machine, the cgroup or
 * `--max-old-space-size`.
 */
export function processMemory(): Memory {
  const limitBytes = memoryLimit(process.constrainedMemory(), totalmem())
  return {
    heap() {
      const { used_heap_size: usedBytes, heap_size_limit: limit } = getHeapStatistics()
      return { usedBytes, limitBytes: limit }
    },
    machine: () => ({ usedBytes: heldBytes(), limitBytes }),
  }
}

/** The limit of the cgroup, if it is below the machine's memory. Without one, Node returns 0 or a huge number. */
export const memoryLimit = (constrained: number | undefined, total: number): number =>
  constrained !== undefined && constrained > 0 ? Math.min(constrained, total) : total

/**
 * The anonymous memory of the process. Mapped pages of the store's file do not count, because the kernel can reclaim
 * them.
 */
function heldBytes(): number {
  if (process.platform !== 'linux') return process.memoryUsage.rss()
  return anonymousBytes(readFileSync('/proc/self/status', 'latin1')) ?? process.memoryUsage.rss()
}

/** Undefined if the text does not contain it. */
export function anonymousBytes(status: string): number | undefined {
  const found = /^RssAnon:\s+(\d+) kB/m.exec(status)
  return found ? Number(found[1]) * 1024 : undefined
}
