import { isAlreadyExists, isConflict, isNotFound } from '../api/errors.ts'
import type { Lease } from '../api/generated/types.ts'
import type { Clock } from '../base/clock.ts'
import { type Logger, silentLogger } from '../base/logger.ts'
import type { MetricsRegistry } from '../base/metrics.ts'
import type { Random } from '../base/random.ts'
import type { Client } from './client.ts'
import {
  type ElectionMetrics,
  LeaderTransport,
  Leadership,
  LeaseWatch,
  NotLeaderError,
  ObservedLease,
  claimLease,
  measureElection,
  newerVersion,
} from './leadership/index.ts'
import { linkAbort } from './linked-abort.ts'
import { leases } from './resources.ts'
import { waitFor } from './retry.ts'
import type { Transport } from './transport.ts'

export interface LeaderElectorOptions {
  /** Of the lease. */
  namespace: string
  name: string
  /** Names this process among all candidates and, after a restart, against its former self: see `leaderIdentity`. */
  identity: string
  clock: Clock
  random: Random
  /** How long others leave a leader alone that does not renew. Default: 15 s. */
  leaseDurationMs?: number
  /** How long a leader goes on without having renewed. Default: 10 s. */
  renewDeadlineMs?: number
  /** Between two attempts. Default: 2 s. */
  retryPeriodMs?: number
  /** Whether a leader that is stopped frees the lease at once. Default: true. */
  releaseOnStop?: boolean
  /**
   * Starts what only the leader does. The signal is aborted when it must stop, and `leadership` fences this term's writes. A promise is waited for before the
   * lease is given up; one that rejects gives it up.
   */
  onStartedLeading(signal: AbortSignal, leadership: Leadership): void | Promise<void>
  onStoppedLeading?(): void
  /** Whom the lease names now, this process included; '' for nobody. */
  onNewLeader?(identity: string): void
  metrics?: MetricsRegistry
  logger?: Logger
}

/** Upstream's: candidates come back after one to 2.2 retry periods. */
const jitterFactor = 1.2

/** A name that no other process has, nor the same one had before: `host_uuid`. */
export const leaderIdentity = (host: string, random: Pick<Random, 'uuid'>): string => `${host}_${random.uuid()}`

/**
 * Makes sure that one of several processes leads, by a lease that the leader renews. Clocks may differ: only time that passed here counts. A leader that
 * does not renew is left its lease duration, even if the lease is deleted or emptied; only a lease that was given up, or never was, is taken at once.
 */
export class LeaderElector {
  readonly #client: Client
  readonly #options: Required<Omit<LeaderElectorOptions, 'onStoppedLeading' | 'onNewLeader' | 'metrics' | 'logger'>> & LeaderElectorOptions
  readonly #logger: Logger
  readonly #metrics: ElectionMetrics
  readonly #observed: ObservedLease
  /** Open while this process is a candidate. */
  readonly #watch: LeaseWatch
  #leadership: Leadership | undefined
  /** Ends a candidate's wait. */
  #wake: (() => void) | undefined
  #reportedLeader = ''
  #written = ''
  #isRunning = false

  constructor(client: Client, options: LeaderElectorOptions) {
    this.#client = client
    this.#options = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2000, releaseOnStop: true, ...options }
    checkOptions(this.#options)
    const { namespace, name, identity, clock, leaseDurationMs, metrics, logger = silentLogger } = this.#options
    this.#logger = logger.child({ lease: `${namespace}/${name}`, identity })
    this.#metrics = measureElection(name, () => this.isLeader(), metrics)
    this.#observed = new ObservedLease(clock, leaseDurationMs, () => this.#wake?.())
    this.#watch = new LeaseWatch(client, namespace, name, (lease) => this.#hear(lease))
  }

  /** Whether this process may act as leader now: the clock is compared with the deadline at the moment of asking. */
  isLeader(): boolean {
    return this.#leadership?.isLeader() ?? false
  }

  /** The term that lasts, if one does. */
  get leadership(): Leadership | undefined {
    return this.isLeader() ? this.#leadership : undefined
  }

  /** Whom the lease named when it was last seen; '' for nobody. */
  get leader(): string {
    return this.#observed.holder
  }

  /** How often the lease has changed hands. */
  get leaderTransitions(): number {
    return this.#observed.transitions
  }

  /** The leader has written this resource version. The lease tells it to its successor from the next renewal on. */
  recordWritten(resourceVersion: string): void {
    this.#written = newerVersion(this.#written, resourceVersion)
  }

  /**
   * No leader has written anything newer, this one included, as far as known; '' if nothing is. Lists that a new leader starts from should be as new. The
   * version at which this process took the lease counts too: it is newer than what a leader wrote that crashed before it could tell.
   */
  lastWritten(): string {
    return newerVersion(this.#observed.lastWritten, this.#written)
  }

  /**
   * A transport for what the leader does: it sends no write unless this process is the leader at that moment, of that term where one is given, and records
   * what was written.
   */
  fence(transport: Transport, term?: Leadership): LeaderTransport {
    return new LeaderTransport(transport, term ?? (() => this.#leadership), this.#metrics.refusedWrites)
  }

  /** Stands for election, and leads when elected, again and again until the signal is aborted. Then gives up the lease; resolves when that is done. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#isRunning) throw new Error('this elector runs already')
    this.#isRunning = true
    try {
      while (!signal.aborted) {
        const leadership = await this.#acquire(signal)
        this.#watch.close()
        if (leadership) await this.#lead(leadership, signal)
      }
    } finally {
      this.#isRunning = false
      this.#observed.close()
    }
  }

  async #acquire(signal: AbortSignal): Promise<Leadership | undefined> {
    this.#logger.info('standing for election')
    while (!signal.aborted) {
      const leadership = await this.#attempt('acquire the lease', signal, (s) => this.#tryAcquire(s))
      if (leadership?.isLeader()) return leadership
      this.#watch.open()
      await this.#pause(signal)
    }
    return undefined
  }

  async #tryAcquire(signal: AbortSignal): Promise<Leadership | undefined> {
    const { identity, clock } = this.#options
    const lease = await this.#read(signal)
    if (!this.#observed.isFreeFor(identity)) return undefined
    const nowMs = clock.now()
    const isOurs = this.#observed.holder === identity
    const isFirst = !lease && this.#observed.transitions === 0
    const transitions = this.#observed.transitions + (isOurs || isFirst ? 0 : 1)
    try {
      await this.#write(lease, { holder: identity, transitions, acquiredAtMs: isOurs ? undefined : nowMs }, signal)
    } catch (error) {
      if (isConflict(error) || isAlreadyExists(error)) return undefined // another was faster
      throw error
    }
    this.recordWritten(this.#observed.lease?.metadata.resourceVersion ?? '')
    return new Leadership({
      clock,
      renewDeadlineMs: this.#options.renewDeadlineMs,
      doubtMs: this.#options.leaseDurationMs - this.#options.renewDeadlineMs,
      sentAtMs: nowMs,
      onWritten: (version) => this.recordWritten(version),
      onLost: (reason) => this.#logger.warn('no longer the leader', { reason: reason.message }),
    })
  }

  async #lead(leadership: Leadership, signal: AbortSignal): Promise<void> {
    this.#leadership = leadership
    this.#logger.info('became the leader', { transitions: this.leaderTransitions })
    const failure = new AbortController()
    const work = this.#start(leadership, failure)
    const stop = linkAbort(signal, failure.signal, leadership.signal)
    await this.#renewUntil(leadership, stop.signal)
    stop.unlink()
    leadership.stop()
    const isFinished = await leadership.finished(work)
    // Whoever takes it at once must not meet writes of ours.
    if (isFinished && this.#options.releaseOnStop && !leadership.isInDoubt) await this.#release()
    leadership.lose(new NotLeaderError('the lease was given up'))
    this.#leadership = undefined
    this.#tell('onStoppedLeading', () => this.#options.onStoppedLeading?.())
    if (signal.aborted) return
    // Two terms of one process do not overlap, unless the first one will not end: it cannot write.
    if (!isFinished) await this.#patience(work, signal)
    await this.#certainty(leadership, signal)
    if (failure.signal.aborted) await this.#pause(signal)
  }

  /** Calls `onStartedLeading`. What comes back never rejects. */
  async #start(leadership: Leadership, failure: AbortController): Promise<void> {
    try {
      await this.#options.onStartedLeading(leadership.signal, leadership)
    } catch (error) {
      if (leadership.signal.aborted) return // it stopped, in its own words
      this.#logger.error('what the leader does has failed: giving up the lease', { error })
      failure.abort(error)
    }
  }

  async #renewUntil(leadership: Leadership, stop: AbortSignal): Promise<void> {
    const { clock, retryPeriodMs } = this.#options
    while (!stop.aborted) {
      try {
        await waitFor(clock, retryPeriodMs, stop)
      } catch {
        return // the wait was ended by `stop`
      }
      if (leadership.isLeader()) await this.#attempt('renew the lease', stop, (s) => this.#renew(leadership, s))
    }
  }

  async #renew(leadership: Leadership, signal: AbortSignal): Promise<void> {
    try {
      return await this.#renewOnce(leadership, this.#observed.lease, signal)
    } catch (error) {
      // Written without our hearing of it, changed by somebody, taken, or deleted: reading it tells.
      if (!isConflict(error) && !isNotFound(error) && !isAlreadyExists(error)) throw error
    }
    this.#metrics.slowPath.inc()
    const lease = await this.#read(signal)
    const { holder } = this.#observed
    if (holder !== '' && holder !== this.#options.identity) return leadership.lose(new NotLeaderError(`the lease was taken by ${holder}`))
    await this.#renewOnce(leadership, lease, signal)
  }

  async #renewOnce(leadership: Leadership, lease: Lease | undefined, signal: AbortSignal): Promise<void> {
    if (!leadership.isLeader()) return
    const sentAtMs = this.#options.clock.now()
    await this.#write(lease, { holder: this.#options.identity, transitions: this.#observed.transitions }, signal)
    leadership.renewed(sentAtMs)
  }

  async #release(): Promise<void> {
    const { identity, clock, retryPeriodMs } = this.#options
    const giveUp = new AbortController()
    const cancel = clock.after(2 * retryPeriodMs, () => giveUp.abort())
    await this.#attempt('release the lease', giveUp.signal, async (signal) => {
      try {
        await this.#writeReleased(signal)
      } catch (error) {
        if (!isConflict(error)) throw error
        await this.#read(signal)
        if (this.#observed.holder === identity) await this.#writeReleased(signal)
      }
    })
    cancel()
  }

  /** As upstream does: nobody holds the lease, for one second. */
  async #writeReleased(signal: AbortSignal): Promise<void> {
    const { lease, transitions } = this.#observed
    if (lease) await this.#write(lease, { holder: '', durationMs: 1000, transitions }, signal)
  }

  async #read(signal: AbortSignal): Promise<Lease | undefined> {
    const { namespace, name } = this.#options
    let lease: Lease | undefined
    try {
      lease = await this.#client.get(leases, namespace, name, { signal })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
    signal.throwIfAborted()
    this.#see(lease)
    return lease
  }

  async #write(lease: Lease | undefined, claim: { holder: string; transitions: number; durationMs?: number; acquiredAtMs?: number }, signal: AbortSignal): Promise<void> {
    const { namespace, name, leaseDurationMs, clock } = this.#options
    const next = claimLease(lease, {
      namespace,
      name,
      durationMs: leaseDurationMs,
      nowMs: clock.now(),
      lastWritten: this.lastWritten(),
      acquiredAtMs: lease ? undefined : clock.now(),
      ...claim,
    })
    this.#see(lease ? await this.#client.update(leases, next, { signal }) : await this.#client.create(leases, next, { signal }))
  }

  /** Of a change, as a candidate: a lease that was given up is taken at once. */
  #hear(lease: Lease): void {
    const seen = this.#observed.lease?.metadata.resourceVersion
    if (seen !== undefined && newerVersion(seen, lease.metadata.resourceVersion ?? '') === seen) return
    const wasFree = this.#observed.isFreeFor(this.#options.identity)
    this.#see(lease)
    if (!wasFree && this.#observed.isFreeFor(this.#options.identity)) this.#wake?.()
  }

  #see(lease: Lease | undefined): void {
    this.#observed.see(lease)
    const { holder } = this.#observed
    if (holder === this.#reportedLeader) return
    this.#reportedLeader = holder
    this.#tell('onNewLeader', () => this.#options.onNewLeader?.(holder))
  }

  /** Does one thing, within half the renew deadline, so that one request without an answer does not use up all of it. Failing is not the end. */
  async #attempt<T>(what: string, signal: AbortSignal, attempt: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    const { clock, renewDeadlineMs } = this.#options
    if (signal.aborted) return undefined
    const abort = linkAbort(signal)
    const cancel = clock.after(renewDeadlineMs / 2, () => abort.abort(new Error('no answer in time')))
    try {
      return await Promise.race([attempt(abort.signal), rejection(abort.signal)])
    } catch (error) {
      if (!signal.aborted) {
        this.#metrics.failedAttempts.inc()
        this.#logger.warn(`failed to ${what}`, { error: error instanceof Error ? error.message : String(error) })
      }
      return undefined
    } finally {
      cancel()
      abort.unlink()
      // What lost the race goes no further: a lease that was read too late is not written.
      abort.abort(new Error('too late'))
    }
  }

  /** Waits for the next attempt; less long if the leader's time is over before. */
  async #pause(signal: AbortSignal): Promise<void> {
    const { clock, random, retryPeriodMs } = this.#options
    const early = linkAbort(signal)
    this.#wake = () => early.abort()
    await waitFor(clock, retryPeriodMs * (1 + jitterFactor * random.next()), early.signal).catch(() => {}) // ended early: all the better
    this.#wake = undefined
    early.unlink()
  }

  /**
   * The lease may still be ours, so that nothing else keeps us from leading on at once. But what was given up is no less under way than what another
   * process sent: we leave it as much time to arrive as others do, before we look at what there is.
   */
  async #certainty(leadership: Leadership, signal: AbortSignal): Promise<void> {
    if (!leadership.isInDoubt || signal.aborted) return
    const stopped = linkAbort(signal)
    await Promise.race([leadership.certain(), rejection(stopped.signal)]).catch(() => {}) // stopped: there is no next term
    stopped.unlink()
  }

  async #patience(work: Promise<void>, signal: AbortSignal): Promise<void> {
    const { clock, leaseDurationMs } = this.#options
    const done = linkAbort(signal)
    void work.then(() => done.abort())
    try {
      await waitFor(clock, leaseDurationMs, done.signal)
      this.#logger.error('what the leader did has not stopped; standing for election nevertheless')
    } catch {
      // It has stopped, or we are to.
    } finally {
      done.unlink()
    }
  }

  #tell(name: string, callback: () => void): void {
    try {
      callback()
    } catch (error) {
      this.#logger.error(`${name} has failed`, { error })
    }
  }
}

/** Rejects when the signal is aborted. */
function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}

function checkOptions(options: { identity: string; leaseDurationMs: number; renewDeadlineMs: number; retryPeriodMs: number }): void {
  const { identity, leaseDurationMs, renewDeadlineMs, retryPeriodMs } = options
  if (identity === '') throw new Error('identity must not be empty')
  if (!(retryPeriodMs > 0)) throw new Error('retryPeriodMs must be greater than zero')
  if (!(leaseDurationMs > renewDeadlineMs)) throw new Error('leaseDurationMs must be greater than renewDeadlineMs')
  if (!(renewDeadlineMs > jitterFactor * retryPeriodMs)) throw new Error(`renewDeadlineMs must be greater than ${jitterFactor} times retryPeriodMs`)
}
