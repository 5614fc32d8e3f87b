import { type Clock, systemClock } from '../../base/clock.ts'
import { type Logger, silentLogger } from '../../base/logger.ts'
import type { MetricsRegistry } from '../../base/metrics.ts'
import { type Random, systemRandom } from '../../base/random.ts'
import { Client } from '../client.ts'
import { LeaderElector, type LeaderElectorOptions } from './leader-election.ts'
import type { Transport } from '../transport/transport.ts'

/** Work that runs while this process may act. Each term starts a new one. */
export interface Term {
  /** True once it acts: its caches are filled. */
  readonly hasStarted: boolean
  /** Starts it; resolves when it acts. */
  start(signal: AbortSignal): Promise<void>
  /** Stops it; resolves when no work is pending. */
  stop(): Promise<void>
  /** Returns the reasons why readiness should fail. */
  problems(): string[]
  /** Returns a sentence for each missing API; work that does not need them runs. */
  absences?(): string[]
}

export interface TermRunnerOptions {
  /** Name of the work in errors: `controllers`. */
  name: string
  transport: Transport
  clock?: Clock
  random?: Random
  logger?: Logger
  metrics?: MetricsRegistry
  /** Elects one of several processes. Without it, this process acts. */
  leaderElection?: Pick<
    LeaderElectorOptions,
    'namespace' | 'name' | 'identity' | 'leaseDurationMs' | 'renewDeadlineMs' | 'retryPeriodMs' | 'releaseOnStop'
  >
  /**
   * Begins a term. `transport` refuses requests once the term is over; lists must be at least as new as `notOlderThan`.
   */
  begin(transport: Transport, notOlderThan: string): Term
}

/** The role of a process: it acts, stands by for the named leader, or does not know yet. */
export type Role = { kind: 'unknown' } | { kind: 'acting' } | { kind: 'standing by'; leader: string }

/** Runs terms: one forever, or one each time this process is elected. */
export class TermRunner {
  readonly #options: TermRunnerOptions
  readonly #elector: LeaderElector | undefined
  readonly #identity: string
  readonly #roleListeners = new Set<() => void>()
  readonly #stopping = new AbortController()
  #term: Term | undefined
  #running: Promise<void> | undefined

  constructor(options: TermRunnerOptions) {
    this.#options = options
    this.#identity = options.leaderElection?.identity ?? ''
    if (options.leaderElection) this.#elector = this.#makeElector(options.leaderElection)
  }

  /** True while this process acts. */
  get isActive(): boolean {
    return this.#elector ? this.#elector.isLeader() && this.#term !== undefined : this.#term !== undefined
  }

  get role(): Role {
    if (this.isActive && this.#term?.hasStarted) return { kind: 'acting' }
    const { leader = '' } = this.#elector ?? {}
    return leader === '' || leader === this.#identity ? { kind: 'unknown' } : { kind: 'standing by', leader }
  }

  /** Resolves once the role is known: the caches are filled and this process acts, or another process leads. */
  async roleKnown(): Promise<Role> {
    while (this.role.kind === 'unknown' && !this.#stopping.signal.aborted) {
      await new Promise<void>((resolve) => this.#roleListeners.add(resolve))
    }
    return this.role
  }

  /**
   * Starts. Resolves when the caches are filled and this process acts; with an election, when it has become a
   * candidate.
   */
  async start(signal?: AbortSignal): Promise<void> {
    if (this.#running) throw new Error(`${this.#options.name}: started already`)
    const stop = signal ? AbortSignal.any([signal, this.#stopping.signal]) : this.#stopping.signal
    if (this.#elector) {
      this.#running = this.#elector.run(stop)
      return
    }
    const term = (this.#term = this.#options.begin(this.#options.transport, ''))
    const started = term.start(stop)
    this.#running = started
      .then(
        () => {
          this.#roleChanged()
          return until(stop)
        },
        () => {}, // reported to the caller of `start`
      )
      .then(() => term.stop())
    await started
  }

  /** Returns the reasons why readiness should fail: a sentence for each lagging cache. */
  problems(): string[] {
    return this.#term?.problems() ?? []
  }

  /** Returns a sentence for each API that is missing or forbidden. */
  absences(): string[] {
    return this.#term?.absences?.() ?? []
  }

  /** Stops cleanly: finishes pending work and releases the lease. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error(`${this.#options.name}: stopped`))
    this.#roleChanged()
    await this.#running
    this.#term = undefined
  }

  #makeElector(election: NonNullable<TermRunnerOptions['leaderElection']>): LeaderElector {
    const { transport, clock = systemClock, random = systemRandom, logger = silentLogger, metrics } = this.#options
    // A separate client: a candidate writes the lease before it may act.
    const client = new Client(transport, { clock, random })
    const elector = new LeaderElector(client, {
      ...election,
      clock,
      random,
      logger,
      ...(metrics ? { metrics } : {}),
      onNewLeader: () => this.#roleChanged(),
      onStartedLeading: async (signal, leadership) => {
        // The first lists contain everything that the previous leader wrote.
        const term = (this.#term = this.#options.begin(elector.fence(transport, leadership), elector.lastWritten()))
        try {
          await term.start(signal)
          this.#roleChanged()
          await until(signal)
        } finally {
          await term.stop()
          this.#term = undefined
        }
      },
    })
    return elector
  }

  #roleChanged(): void {
    const listeners = [...this.#roleListeners]
    this.#roleListeners.clear()
    for (const listener of listeners) listener()
  }
}

const until = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
