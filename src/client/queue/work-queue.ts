import { assert, isAsserting } from '../../base/assert.ts'
import type { Clock } from '../../base/clock.ts'
import type { MetricsRegistry } from '../../base/metrics.ts'
import { type Random, systemRandom } from '../../base/random.ts'
import { DelayHeap, ReadyList, ReadyNode, RetryLimiter, measureQueue } from './index.ts'
import type { QueueMetrics, RetryLimits } from './index.ts'

/** The priority of unchanged objects: initial lists and resyncs. Changes have the default, 0. */
export const resyncPriority = -100

/** Every `oldestEvery`-th turn hands out the longest waiting key, whatever its priority. */
const oldestEvery = 8

export interface WorkQueueOptions extends Partial<RetryLimits> {
  clock: Clock
  /** Needed only if `jitter` is set. */
  random?: Random
  metrics?: MetricsRegistry
}

export interface AddOptions {
  /** Keys with higher priority are handed out first. A key that is added twice keeps the higher one. */
  priority?: number
}

/** `get` rejects with this error once the queue is shut down and empty. */
export class QueueShutDownError extends Error {
  constructor(name: string) {
    super(`work queue ${name} is shut down`)
    this.name = 'QueueShutDownError'
  }
}

type State = 'waiting' | 'processing' | 'processing, to be handed out again'

interface Item<K> {
  readonly node: ReadyNode<K>
  state: State
  /** Priority of the next handout. */
  priority: number
  addedAtMs: number
  startedAtMs: number
}

interface Waiter<K> {
  resolve(key: K): void
  reject(reason: unknown): void
  signal: AbortSignal | undefined
}

/**
 * Hands out keys to workers, each key to one worker at a time. A key that is added several times before it is handed
 * out is handed out once. A key that is added while it is processed is handed out again afterwards, behind the waiting
 * keys. Higher priorities go first, but no key starves: every 8th `get` takes the longest waiting key, so a key with n
 * older keys waiting is handed out within 8·(n + 1) calls of `get`, however many others are added.
 */
export class WorkQueue<K = string> {
  readonly name: string
  readonly #clock: Clock
  readonly #limiter: RetryLimiter<K>
  readonly #metrics: QueueMetrics
  /** All keys that are waiting or being processed. */
  readonly #items = new Map<K, Item<K>>()
  readonly #ready = new ReadyList<K>(oldestEvery)
  /** Idle workers in order of their calls; there are none while a key is ready. */
  readonly #waiters = new Set<Waiter<K>>()
  /** Signals with a listener: workers pass the same one repeatedly. */
  readonly #heard = new WeakSet<AbortSignal>()
  readonly #delayed = new DelayHeap<K>()
  /** The timer of the earliest delayed key. */
  #timer: { atMs: number; cancel: () => void } | undefined
  #processing = 0
  #phase: 'open' | 'draining' | 'shut down' = 'open'
  readonly #idleListeners = new Set<() => void>()
  /**
   * True once the queue is shut down and its last key is done: another queue of the same name may then register
   * metrics.
   */
  #isClosed = false

  constructor(name: string, options: WorkQueueOptions) {
    const {
      clock,
      random = systemRandom,
      metrics,
      baseDelayMs = 5,
      maxDelayMs = 1_000_000,
      qps = 10,
      burst = 100,
      jitter = 0,
    } = options
    this.name = name
    this.#clock = clock
    this.#limiter = new RetryLimiter({ baseDelayMs, maxDelayMs, qps, burst, jitter }, clock, random)
    const measured = {
      name,
      depth: () => this.#depth(),
      waitingSeconds: () => this.#waitingSeconds(),
      runningSeconds: () => this.#runningSeconds(),
    }
    this.#metrics = measureQueue(measured, metrics)
  }

  /** Number of ready keys. */
  get length(): number {
    return this.#ready.size
  }

  /** Number of delayed keys. */
  get delayedLength(): number {
    return this.#delayed.size
  }

  /** Returns the milliseconds until a delayed key is added; undefined if it is not delayed. */
  dueInMs(key: K): number | undefined {
    const atMs = this.#delayed.atMs(key)
    return atMs === undefined ? undefined : atMs - this.#clock.now()
  }

  /** Adds a key. Ignored once the queue is shutting down. */
  add(key: K, { priority = 0 }: AddOptions = {}): void {
    if (this.#phase !== 'open') return
    const item = this.#items.get(key)
    if (!item) {
      this.#metrics.adds.inc()
      const added: Item<K> = {
        node: new ReadyNode(key),
        state: 'waiting',
        priority,
        addedAtMs: this.#clock.now(),
        startedAtMs: 0,
      }
      this.#items.set(key, added)
      this.#line(added)
    } else if (item.state === 'waiting') {
      if (priority <= item.priority) return
      item.priority = priority
      this.#ready.raise(item.node, priority)
    } else if (item.state === 'processing') {
      this.#metrics.adds.inc()
      item.state = 'processing, to be handed out again'
      item.priority = priority
      item.addedAtMs = this.#clock.now()
    } else item.priority = Math.max(item.priority, priority)
  }

  /** Adds a key after a delay. A key that is already delayed keeps the earlier time. */
  addAfter(key: K, delayMs: number, { priority = 0 }: AddOptions = {}): void {
    if (this.#phase !== 'open') return
    this.#metrics.retries.inc()
    if (!(delayMs > 0)) return this.add(key, { priority })
    this.#delayed.add(key, this.#clock.now() + delayMs, priority)
    this.#setTimer()
  }

  /**
   * Adds a key after its back-off: 5 ms, 10 ms, 20 ms, … up to 1000 s, subject to the limit of all retries together.
   */
  addRateLimited(key: K, options?: AddOptions): void {
    if (this.#phase === 'open') this.addAfter(key, this.#limiter.delayMs(key), options)
  }

  /** Resets the back-off of a key. */
  forget(key: K): void {
    this.#limiter.forget(key)
  }

  /** Returns the number of rate-limited adds since `forget`. */
  requeues(key: K): number {
    return this.#limiter.requeues(key)
  }

  /**
   * Returns the next key, which the caller owns until `done`. Rejects if the signal is aborted or the queue is shut
   * down first.
   */
  get(signal?: AbortSignal): Promise<K> {
    if (signal?.aborted) return Promise.reject(signal.reason)
    const node = this.#ready.shift()
    if (node) return Promise.resolve(this.#handOut(this.#items.get(node.key)!))
    if (this.#phase !== 'open') return Promise.reject(new QueueShutDownError(this.name))
    if (signal && !this.#heard.has(signal)) {
      this.#heard.add(signal)
      signal.addEventListener('abort', () => this.#sendHome(signal), { once: true })
    }
    return new Promise<K>((resolve, reject) => this.#waiters.add({ resolve, reject, signal }))
  }

  /** Ends the processing of a key. */
  done(key: K): void {
    const item = this.#items.get(key)
    if (!item || item.state === 'waiting') return
    this.#processing--
    this.#metrics.workDuration.observe((this.#clock.now() - item.startedAtMs) / 1000)
    if (item.state === 'processing, to be handed out again' && this.#phase !== 'shut down') this.#line(item)
    else this.#items.delete(key)
    this.#noteIdle()
  }

  /**
   * Stops accepting keys and drops delayed ones. Waiting keys are still handed out if `drain` is set, otherwise
   * dropped. Resolves when no key is waiting or being processed; rejects if the signal is aborted first.
   */
  shutDown({ drain = true, signal }: { drain?: boolean; signal?: AbortSignal } = {}): Promise<void> {
    if (this.#phase !== 'shut down') this.#phase = drain ? 'draining' : 'shut down'
    this.#timer?.cancel()
    this.#timer = undefined
    this.#delayed.clear()
    if (!drain) for (const node of this.#ready.clear()) this.#items.delete(node.key)
    // Idle workers are dismissed. Keys that are still being processed and added again go to busy workers.
    for (const waiter of this.#waiters) waiter.reject(new QueueShutDownError(this.name))
    this.#waiters.clear()
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const onAbort = () => {
        this.#idleListeners.delete(onIdle)
        reject(signal!.reason)
      }
      const onIdle = () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#idleListeners.add(onIdle)
      this.#noteIdle()
    })
  }

  #sendHome(signal: AbortSignal): void {
    for (const waiter of this.#waiters) {
      if (waiter.signal !== signal) continue
      this.#waiters.delete(waiter)
      waiter.reject(signal.reason)
    }
  }

  #line(item: Item<K>): void {
    item.state = 'waiting'
    for (const waiter of this.#waiters) {
      this.#waiters.delete(waiter)
      waiter.resolve(this.#handOut(item))
      return
    }
    this.#ready.push(item.node, item.priority)
  }

  #handOut(item: Item<K>): K {
    if (isAsserting) assert(() => item.state === 'waiting', 'a key has one worker at a time')
    item.state = 'processing'
    item.startedAtMs = this.#clock.now()
    this.#processing++
    this.#metrics.queueDuration.observe((item.startedAtMs - item.addedAtMs) / 1000)
    return item.node.key
  }

  #setTimer(nowMs = this.#clock.now()): void {
    const atMs = this.#delayed.nextAtMs
    if (atMs === undefined || (this.#timer && this.#timer.atMs <= atMs)) return
    this.#timer?.cancel()
    this.#timer = { atMs, cancel: this.#clock.after(Math.max(0, atMs - nowMs), () => this.#addDue(atMs)) }
  }

  /** Adds the keys due at `atMs`, even if the clock was set back. */
  #addDue(atMs: number): void {
    this.#timer = undefined
    const nowMs = Math.max(atMs, this.#clock.now())
    for (let due = this.#delayed.takeDue(nowMs); due; due = this.#delayed.takeDue(nowMs))
      this.add(due.key, { priority: due.priority })
    this.#setTimer(nowMs)
  }

  #noteIdle(): void {
    if (this.#phase === 'open' || this.#items.size > 0) return
    if (!this.#isClosed) this.#metrics.close()
    this.#isClosed = true
    this.#phase = 'shut down'
    for (const listener of this.#idleListeners) listener()
    this.#idleListeners.clear()
  }

  /** Counted as in client-go: including keys that will be handed out again after their worker is done. */
  #depth(): number {
    let again = 0
    if (this.#processing > 0)
      for (const item of this.#items.values()) if (item.state === 'processing, to be handed out again') again++
    return this.#ready.size + again
  }

  #waitingSeconds(): number {
    let oldestMs = this.#clock.now()
    if (this.#depth() > 0)
      for (const item of this.#items.values())
        if (item.state !== 'processing') oldestMs = Math.min(oldestMs, item.addedAtMs)
    return (this.#clock.now() - oldestMs) / 1000
  }

  *#runningSeconds(): Iterable<number> {
    if (this.#processing === 0) return
    const nowMs = this.#clock.now()
    for (const item of this.#items.values()) if (item.state !== 'waiting') yield (nowMs - item.startedAtMs) / 1000
  }
}
