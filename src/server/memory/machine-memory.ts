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
export function processMemory(readStatus = () => readFileSync('/proc/self/status', 'latin1')): Memory {
  const held = heldBytes(process.platform === 'linux' ? readStatus : () => '')
  const limitBytes = memoryLimit(process.constrainedMemory(), totalmem())
  return {
    heap() {
      const { used_heap_size: usedBytes, heap_size_limit: limit } = getHeapStatistics()
      return { usedBytes, limitBytes: limit }
    },
    machine: () => ({ usedBytes: held(), limitBytes }),
  }
}

/** The limit of the cgroup, if it is below the machine's memory. Without one, Node returns 0 or a huge number. */
export const memoryLimit = (constrained: number | undefined, total: number): number =>
  constrained !== undefined && constrained > 0 ? Math.min(constrained, total) : total

/**
 * Measures the anonymous memory of the process. Mapped pages of the store's file do not count, because the kernel can
 * reclaim them. Every measurement opens a file: without a free descriptor the last result is used.
 */
function heldBytes(readStatus: () => string): () => number {
  let last: number | undefined
  return () => {
    try {
      last = anonymousBytes(readStatus()) ?? process.memoryUsage.rss()
    } catch {
      last ??= process.resourceUsage().maxRSS * 1024
    }
    return last
  }
}

/** Undefined if the text does not contain it. */
export function anonymousBytes(status: string): number | undefined {
  const found = /^RssAnon:\s+(\d+) kB/m.exec(status)
  return found ? Number(found[1]) * 1024 : undefined
}
