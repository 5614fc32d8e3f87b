import { tooManyRequests } from '../../api/errors.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { Counter, MetricsRegistry } from '../../base/metrics.ts'
import type { UserInfo } from '../objects/objects.ts'
import type { Memory } from './machine-memory.ts'

/**
 * Above this share of memory, memory-intensive requests are rejected. Nodes and control plane components have a higher
 * limit.
 */
const highMark = 0.8
const partsMark = 0.9
/** Above this share no request is admitted, not even one at a time. */
const lastMark = 0.95

/** The sampling interval of the heap. The machine is sampled less often, since that needs a system call. */
const heapEveryMs = 5
const machineEveryMs = 100
/** While memory is short, one request per interval is admitted: garbage is collected only when something allocates. */
const trickleMs = 1000
const logEveryMs = 10_000

/** A list is generated in pieces, so it never holds more than this. */
const mostOfListBytes = 8 << 20
const perObjectBytes = 64 << 10
/** The ratio of an object's memory to the length of its body. */
const bodyFactor = 8
/** Shorter bodies are always admitted: heartbeats, leases, statuses. */
const shortBodyBytes = 256 << 10

/** The estimated memory of a request while it executes; 0 for requests that are always admitted. */
export function expectedBytes(verb: string, objects: number, bodyBytes: number): number {
  if (verb === 'list' || verb === 'watch' || verb === 'deletecollection')
    return Math.min(mostOfListBytes, Math.max(1, objects) * perObjectBytes)
  return bodyBytes > shortBodyBytes ? bodyBytes * bodyFactor : 0
}

interface GuardOptions {
  memory: Memory
  clock: Clock
  metrics: MetricsRegistry
  logger: Logger
}

/** Rejects memory-intensive requests before memory is exhausted: a process whose heap is full is terminated. */
export class MemoryGuard {
  readonly #o: GuardOptions
  readonly #refused: Counter
  #heap: { ratio: number; freeBytes: number; atMs: number } | undefined
  #machine: { ratio: number; freeBytes: number; atMs: number } | undefined
  /** The estimated memory of executing requests. */
  #reserved = 0
  #trickledMs = -Infinity
  #loggedMs = -Infinity

  constructor(options: GuardOptions) {
    this.#o = options
    const { metrics, memory } = options
    this.#refused = metrics.counter(
      'coxswain_memory_refused_requests_total',
      'Counter of requests that were refused because memory was short, by verb.',
    )
    const tell = (name: string, help: string, value: (of: { usedBytes: number; limitBytes: number }) => number) =>
      metrics.gauge(name, help, (gauge) => {
        gauge.with({ of: 'heap' }).set(value(memory.heap()))
        gauge.with({ of: 'machine' }).set(value(memory.machine()))
      })
    tell(
      'coxswain_memory_limit_bytes',
      'Memory limits: of the heap, and of the process by its machine or cgroup.',
      ({ limitBytes }) => limitBytes,
    )
    tell('coxswain_memory_used_bytes', 'Memory that is in use, garbage included.', ({ usedBytes }) => usedBytes)
  }

  /** Admits a request and reserves its estimated memory until the returned function is called. Throws 429. */
  admit(verb: string, user: UserInfo, bytes: number): () => void {
    if (!this.#mayEnter(user, bytes)) {
      this.#refused.with({ verb }).inc()
      this.#tellOfIt()
      throw tooManyRequests('Too many requests, please try again later.', 1)
    }
    this.#reserved += bytes
    let isHeld = true
    return () => {
      if (isHeld) this.#reserved -= bytes
      isHeld = false
    }
  }

  #mayEnter(user: UserInfo, bytes: number): boolean {
    const nowMs = this.#o.clock.now()
    const { ratio, freeBytes } = this.#measure(nowMs)
    if (ratio >= lastMark) return false
    if (ratio < (isPart(user) ? partsMark : highMark))
      return this.#reserved === 0 || this.#reserved + bytes <= freeBytes
    if (this.#reserved > 0 || nowMs - this.#trickledMs < trickleMs) return false
    this.#trickledMs = nowMs
    return true
  }

  /** The scarcer of heap and machine memory. */
  #measure(nowMs: number): { ratio: number; freeBytes: number } {
    const { memory } = this.#o
    const isFresh = (last: { atMs: number } | undefined, everyMs: number) =>
      last !== undefined && nowMs - last.atMs < everyMs
    const read = ({ usedBytes, limitBytes }: { usedBytes: number; limitBytes: number }) => ({
      ratio: usedBytes / limitBytes,
      freeBytes: limitBytes * partsMark - usedBytes,
      atMs: nowMs,
    })
    if (!isFresh(this.#heap, heapEveryMs)) this.#heap = read(memory.heap())
    if (!isFresh(this.#machine, machineEveryMs)) this.#machine = read(memory.machine())
    return {
      ratio: Math.max(this.#heap!.ratio, this.#machine!.ratio),
      freeBytes: Math.min(this.#heap!.freeBytes, this.#machine!.freeBytes),
    }
  }

  #tellOfIt(): void {
    const nowMs = this.#o.clock.now()
    if (nowMs - this.#loggedMs < logEveryMs) return
    this.#loggedMs = nowMs
    const megabytes = ({ usedBytes, limitBytes }: { usedBytes: number; limitBytes: number }) =>
      `${Math.round(usedBytes / 2 ** 20)} of ${Math.round(limitBytes / 2 ** 20)} MB`
    const { memory, logger } = this.#o
    logger.warn('memory is low: rejecting lists, watches and large bodies', {
      heap: megabytes(memory.heap()),
      machine: megabytes(memory.machine()),
    })
  }
}

const isPart = ({ name, groups }: UserInfo): boolean =>
  groups.includes('system:nodes') ||
  name.startsWith('system:kube-') ||
  name.startsWith('system:serviceaccount:kube-system:')
