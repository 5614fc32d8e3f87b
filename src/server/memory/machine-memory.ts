import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'

/** How much of something is used, and how much there is. */
export interface Amount {
  usedBytes: number
  limitBytes: number
}

/** The memory that a server has: the heap of its objects, and all that the process holds. */
export interface Memory {
  heap(): Amount
  /** Costs a system call. */
  machine(): Amount
}

/** The memory of this process. V8 sizes the heap when the process starts, by the machine, the cgroup or `--max-old-space-size`. */
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

/** The limit of the cgroup, if it has one that is below what the machine has. Node answers 0 or a huge number where there is none. */
export const memoryLimit = (constrained: number | undefined, total: number): number =>
  constrained !== undefined && constrained > 0 ? Math.min(constrained, total) : total

/** What the process holds for itself. Pages of the store's file do not count: the kernel takes them back when it needs room. */
function heldBytes(): number {
  if (process.platform !== 'linux') return process.memoryUsage.rss()
  return anonymousBytes(readFileSync('/proc/self/status', 'latin1')) ?? process.memoryUsage.rss()
}

/** Undefined where the text does not say. */
export function anonymousBytes(status: string): number | undefined {
  const found = /^RssAnon:\s+(\d+) kB/m.exec(status)
  return found ? Number(found[1]) * 1024 : undefined
}
