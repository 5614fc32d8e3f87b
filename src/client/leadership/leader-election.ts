import { isAlreadyExists, isConflict, isNotFound } from '../../api/errors.ts'
import type { Lease } from '../../api/generated/types.ts'
import type { Clock } from '../../base/clock.ts'
import { type Logger, silentLogger } from '../../base/logger.ts'
import type { MetricsRegistry } from '../../base/metrics.ts'
import type { Random } from '../../base/random.ts'
import type { Client } from '../client.ts'
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
} from './index.ts'
import { linkAbort } from '../transport/linked-abort.ts'
import { leases } from '../resources.ts'
import { waitFor } from '../transport/retry.ts'
import type { Transport } from '../transport/transport.ts'

export interface LeaderElectorOptions {
  /** Namespace of the lease. */
  namespace: string
  name: string
  /** Unique name of this process, different from the one before a restart: see `leaderIdentity`. */
  identity: string
  clock: Clock
  random: Random
  /** Time after the last renewal before other candidates may take the lease. Default: 15 s. */
  leaseDurationMs?: number
  /** Time after the last renewal for which a leader may act. Default: 10 s. */
  renewDeadlineMs?: number
  /** Delay between attempts. Default: 2 s. */
  retryPeriodMs?: number
  /** Release the lease when a leader stops. Default: true. */
  releaseOnStop?: boolean
  /**
   * Starts the leader's work. The signal is aborted when it must stop, and `leadership` fences the writes of this term.
   * The lease is released only after a returned promise has settled; a rejection releases it.
   */
  onStartedLeading(signal: AbortSignal, leadership: Leadership): void | Promise<void>
  onStoppedLeading?(): void
  /** Called with the holder of the lease, which may be this process; '' for none. */
  onNewLeader?(identity: string): void
  metrics?: MetricsRegistry
  logger?: Logger
}

/** As in client-go: candidates retry after 1 to 2.2 retry periods. */
const jitterFactor = 1.2

/** Returns a name that no other process has, nor an earlier run of this one: `host_uuid`. */
export const leaderIdentity = (host: string, random: Pick<Random, 'uuid'>): string => `${host}_${random.uuid()}`

/**
 * Elects one of several processes by a lease that the leader renews. Clocks may differ: only time measured by this
 * process counts. A leader that does not renew keeps its lease duration, even if the lease is deleted or emptied. Only
 * a lease that was released, or never existed, is taken immediately.
 */
export class LeaderElector {
  readonly #client: Client
  readonly #options: Required<Omit<LeaderElectorOptions, 'onStoppedLeading' | 'onNewLeader' | 'metrics' | 'logger'>> &
    LeaderElectorOptions
  readonly #logger: Logger
  readonly #metrics: ElectionMetrics
  readonly #observed: ObservedLease
  /** Open while this process is a candidate. */
  readonly #watch: LeaseWatch
  #leadership: Leadership | undefined
  /** Ends the wait of a candidate. */
  #wake: (() => void) | undefined
  #reportedLeader = ''
  #written = ''
  #isRunning = false

  constructor(client: Client, options: LeaderElectorOptions) {
    this.#client = client
    this.#options = {
      leaseDurationMs: 15_000,
      renewDeadlineMs: 10_000,
      retryPeriodMs: 2000,
      releaseOnStop: true,
      ...options,
    }
    checkOptions(this.#options)
    const { namespace, name, identity, clock, leaseDurationMs, metrics, logger = silentLogger } = this.#options
    this.#logger = logger.child({ lease: `${namespace}/${name}`, identity })
    this.#metrics = measureElection(name, () => this.isLeader(), metrics)
    this.#observed = new ObservedLease(clock, leaseDurationMs, () => this.#wake?.())
    this.#watch = new LeaseWatch(client, namespace, name, (lease) => this.#hear(lease))
  }

  /** Returns true if this process may act as leader now: compares the clock with the deadline on each call. */
  isLeader(): boolean {
    return this.#leadership?.isLeader() ?? false
  }

  /** The current term, if there is one. */
  get leadership(): Leadership | undefined {
    return this.isLeader() ? this.#leadership : undefined
  }

  /** The last known holder of the lease; '' for none. */
  get leader(): string {
    return this.#observed.holder
  }

  /** Number of changes of the holder. */
  get leaderTransitions(): number {
    return this.#observed.transitions
  }

  /** Records a resource version that the leader wrote. Renewals publish it to the successor. */
  recordWritten(resourceVersion: string): void {
    this.#written = newerVersion(this.#written, resourceVersion)
  }

  /**
   * Returns an upper bound of the resource versions that leaders have written, as far as known; '' if unknown. A new
   * leader should start from lists that are at least as new. The version at which this process took the lease counts
   * too: it is newer than any write of a leader that crashed before it could publish one.
   */
  lastWritten(): string {
    return newerVersion(this.#observed.lastWritten, this.#written)
  }

  /**
   * Returns a transport for the leader's work. It sends no write unless this process leads at that moment (in the given
   * term, if there is one), and records what was written.
   */
  fence(transport: Transport, term?: Leadership): LeaderTransport {
    return new LeaderTransport(transport, term ?? (() => this.#leadership), this.#metrics.refusedWrites)
  }

  /**
   * Runs for election, and leads when elected, repeatedly until the signal is aborted. Then releases the lease, and
   * resolves.
   */
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
    this.#logger.info('attempting to acquire the leader lease')
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
      if (isConflict(error) || isAlreadyExists(error)) return undefined // another candidate won
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
    // The next leader must not be disturbed by late writes of this one.
    if (isFinished && this.#options.releaseOnStop && !leadership.isInDoubt) await this.#release()
    leadership.lose(new NotLeaderError('the lease was released'))
    this.#leadership = undefined
    this.#notify('onStoppedLeading', () => this.#options.onStoppedLeading?.())
    if (signal.aborted) return
    // Terms of one process do not overlap, unless the work of the first one does not end; it cannot write any more.
    if (!isFinished) await this.#patience(work, signal)
    await this.#certainty(leadership, signal)
    if (failure.signal.aborted) await this.#pause(signal)
  }

  /** Calls `onStartedLeading`. The returned promise never rejects. */
  async #start(leadership: Leadership, failure: AbortController): Promise<void> {
    try {
      await this.#options.onStartedLeading(leadership.signal, leadership)
    } catch (error) {
      if (leadership.signal.aborted) return // a failure after the term is part of stopping
      this.#logger.error('the work of the leader has failed: releasing the lease', { error })
      failure.abort(error)
    }
  }

  async #renewUntil(leadership: Leadership, stop: AbortSignal): Promise<void> {
    const { clock, retryPeriodMs } = this.#options
    while (!stop.aborted) {
      try {
        await waitFor(clock, retryPeriodMs, stop)
      } catch {
        return // `stop` ended the wait
      }
      if (leadership.isLeader()) await this.#attempt('renew the lease', stop, (s) => this.#renew(leadership, s))
    }
  }

  async #renew(leadership: Leadership, signal: AbortSignal): Promise<void> {
    try {
      return await this.#renewOnce(leadership, this.#observed.lease, signal)
    } catch (error) {
      // The lease was written without a response, or was changed, taken or deleted. Read it to find out.
      if (!isConflict(error) && !isNotFound(error) && !isAlreadyExists(error)) throw error
    }
    this.#metrics.slowPath.inc()
    const lease = await this.#read(signal)
    const { holder } = this.#observed
    if (holder !== '' && holder !== this.#options.identity)
      return leadership.lose(new NotLeaderError(`the lease was taken by ${holder}`))
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

  /** As in client-go, releases the lease by giving it to no holder for one second. */
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

  async #write(
    lease: Lease | undefined,
    claim: { holder: string; transitions: number; durationMs?: number; acquiredAtMs?: number },
    signal: AbortSignal,
  ): Promise<void> {
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
    this.#see(
      lease ? await this.#client.update(leases, next, { signal }) : await this.#client.create(leases, next, { signal }),
    )
  }

  /** Handles a change of the lease as a candidate: a released lease is taken immediately. */
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
    this.#notify('onNewLeader', () => this.#options.onNewLeader?.(holder))
  }

  /**
   * Runs one request within half the renew deadline, so that a request without a response does not use up all of it. A
   * failure is not fatal.
   */
  async #attempt<T>(
    what: string,
    signal: AbortSignal,
    attempt: (signal: AbortSignal) => Promise<T>,
  ): Promise<T | undefined> {
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
      // A lease that was read too late must not be written.
      abort.abort(new Error('too late'))
    }
  }

  /** Waits for the next attempt, at most until the leader's deadline. */
  async #pause(signal: AbortSignal): Promise<void> {
    const { clock, random, retryPeriodMs } = this.#options
    const early = linkAbort(signal)
    this.#wake = () => early.abort()
    // ended early
    await waitFor(clock, retryPeriodMs * (1 + jitterFactor * random.next()), early.signal).catch(() => {})
    this.#wake = undefined
    early.unlink()
  }

  /**
   * Waits for abandoned writes. The lease may still name this process, so it could lead again immediately. But its own
   * abandoned writes may arrive as late as those of another process, so they get the same time to arrive before the
   * next term.
   */
  async #certainty(leadership: Leadership, signal: AbortSignal): Promise<void> {
    if (!leadership.isInDoubt || signal.aborted) return
    const stopped = linkAbort(signal)
    // stopped: there is no next term
    await Promise.race([leadership.certain(), rejection(stopped.signal)]).catch(() => {})
    stopped.unlink()
  }

  async #patience(work: Promise<void>, signal: AbortSignal): Promise<void> {
    const { clock, leaseDurationMs } = this.#options
    const done = linkAbort(signal)
    void work.then(() => done.abort())
    try {
      await waitFor(clock, leaseDurationMs, done.signal)
      this.#logger.error('the work of the last term has not stopped; attempting to acquire the lease nevertheless')
    } catch {
      // The watch ended, or the elector is stopping.
    } finally {
      done.unlink()
    }
  }

  #notify(name: string, callback: () => void): void {
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

function checkOptions(options: {
  identity: string
  leaseDurationMs: number
  renewDeadlineMs: number
  retryPeriodMs: number
}): void {
  const { identity, leaseDurationMs, renewDeadlineMs, retryPeriodMs } = options
  if (identity === '') throw new Error('identity must not be empty')
  if (!(retryPeriodMs > 0)) throw new Error('retryPeriodMs must be greater than zero')
  if (!(leaseDurationMs > renewDeadlineMs)) throw new Error('leaseDurationMs must be greater than renewDeadlineMs')
  if (!(renewDeadlineMs > jitterFactor * retryPeriodMs))
    throw new Error(`renewDeadlineMs must be greater than ${jitterFactor} times retryPeriodMs`)
}
