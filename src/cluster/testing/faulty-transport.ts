import { conflict } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import { type Random, systemRandom } from '../../base/random.ts'
import { type ApiRequest, type Transport, TransportError, type WatchListener } from '../../client/index.ts'

/** Faults between controllers and a server. Shares are probabilities between 0 and 1, per request or event. */
export interface Faults {
  /** Share of requests that are not delivered. */
  drop?: number
  /** Share of requests that take effect but whose response is lost. */
  loseAnswers?: number
  /** Share of writes that fail with a conflict. */
  conflicts?: number
  /** Maximum delay of a request. */
  delayMs?: number
  /** Maximum delay of watch events. Their order is kept. */
  staleMs?: number
  /** Share of events after which a watch breaks. */
  cutWatches?: number
}

export interface FaultyTransportOptions extends Faults {
  clock?: Clock
  random?: Random
  /** Returns true if a request may fail. Default: every request. */
  concerns?(request: ApiRequest): boolean
}

/**
 * A transport that drops, delays and rejects requests, and delays events, for tests of controllers. Deterministic with
 * a VirtualClock and a SeededRandom.
 */
export class FaultyTransport implements Transport {
  /** May be changed at any time. `{}` removes all faults. */
  faults: Faults
  readonly #inner: Transport
  readonly #clock: Clock
  readonly #random: Random
  readonly #concerns: (request: ApiRequest) => boolean
  /** Number of times each fault has occurred. */
  readonly struck = { drop: 0, loseAnswers: 0, conflicts: 0, cutWatches: 0 }

  constructor(
    inner: Transport,
    { clock = systemClock, random = systemRandom, concerns = () => true, ...faults }: FaultyTransportOptions = {},
  ) {
    this.#inner = inner
    this.#clock = clock
    this.#random = random
    this.#concerns = concerns
    this.faults = faults
  }

  async send<T>(request: ApiRequest): Promise<T> {
    if (!this.#concerns(request)) return this.#inner.send<T>(request)
    await this.#delay(this.faults.delayMs)
    if (this.#strikes('drop')) throw new TransportError('connect ECONNREFUSED (a fault of the test)', true)
    if (request.method !== 'GET' && this.#strikes('conflicts'))
      throw conflict({ group: '', resource: request.path }, '', 'the object has been modified (a fault of the test)')
    const answer = await this.#inner.send<T>(request)
    if (this.#strikes('loseAnswers')) throw new TransportError('read ECONNRESET (a fault of the test)', false)
    return answer
  }

  watch<T extends KubeObject>(request: ApiRequest, listener: WatchListener<T>): () => void {
    if (!this.#concerns(request)) return this.#inner.watch(request, listener)
    let end = () => {}
    let isOver = false
    // Events are delivered in order: each one after all delayed ones.
    let freeAtMs = 0
    const later = (tell: () => void) => {
      const { staleMs = 0 } = this.faults
      const atMs = Math.max(freeAtMs, this.#clock.now() + staleMs * this.#random.next())
      if (staleMs === 0 && freeAtMs <= this.#clock.now()) return tell()
      freeAtMs = atMs
      this.#clock.after(atMs - this.#clock.now(), tell)
    }
    const close = (error: Error | undefined) => {
      if (isOver) return
      isOver = true
      listener.closed(error)
    }
    const stop = this.#inner.watch<T>(request, {
      opened: () => later(() => isOver || listener.opened()),
      event: (event) =>
        later(() => {
          if (isOver) return
          listener.event(event)
          if (!this.#strikes('cutWatches')) return
          close(new TransportError('read ECONNRESET (a fault of the test)', false))
          end()
        }),
      closed: (error) => later(() => close(error)),
    })
    end = stop
    return () => {
      stop()
      close(undefined)
    }
  }

  whenKindsChange(fn: () => void): () => void {
    return this.#inner.whenKindsChange?.(fn) ?? (() => {})
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  #strikes(fault: keyof FaultyTransport['struck']): boolean {
    const chance = this.faults[fault] ?? 0
    if (chance === 0 || this.#random.next() >= chance) return false
    this.struck[fault]++
    return true
  }

  #delay(mostMs = 0): Promise<void> {
    if (mostMs === 0) return Promise.resolve()
    return new Promise((resolve) => this.#clock.after(mostMs * this.#random.next(), resolve))
  }
}
