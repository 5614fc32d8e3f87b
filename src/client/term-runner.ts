import { type Clock, systemClock } from '../base/clock.ts'
import { type Logger, silentLogger } from '../base/logger.ts'
import type { MetricsRegistry } from '../base/metrics.ts'
import { type Random, systemRandom } from '../base/random.ts'
import { Client } from './client.ts'
import { LeaderElector, type LeaderElectorOptions } from './leader-election.ts'
import type { Transport } from './transport.ts'

/** What goes on for as long as this process may act. What comes after starts anew. */
export interface Term {
  /** Whether it acts: its caches are filled. */
  readonly hasStarted: boolean
  /** Resolves when it has. */
  start(signal: AbortSignal): Promise<void>
  /** Resolves when nothing is under way any more. */
  stop(): Promise<void>
  /** Why readiness should fail. */
  problems(): string[]
  /** APIs that it waits for, in words; what does not need them runs. */
  absences?(): string[]
}

export interface TermRunnerOptions {
  /** What is run, for errors: `controllers`. */
  name: string
  transport: Transport
  clock?: Clock
  random?: Random
  logger?: Logger
  metrics?: MetricsRegistry
  /** Only one of several processes acts. Without it, this one does. */
  leaderElection?: Pick<LeaderElectorOptions, 'namespace' | 'name' | 'identity' | 'leaseDurationMs' | 'renewDeadlineMs' | 'retryPeriodMs' | 'releaseOnStop'>
  /** Nothing leaves `transport` once the term is over; no list that is older than `notOlderThan` may be taken. */
  begin(transport: Transport, notOlderThan: string): Term
}

/** What a process does: it acts, or leaves that to the leader that is named, or does not know yet. */
export type Role = { kind: 'unknown' } | { kind: 'acting' } | { kind: 'standing by'; leader: string }

/** Runs terms over one transport: one for good, or one for each time that this process is elected. */
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

  /** Whether this process acts now. */
  get isActive(): boolean {
    return this.#elector ? this.#elector.isLeader() && this.#term !== undefined : this.#term !== undefined
  }

  get role(): Role {
    if (this.isActive && this.#term?.hasStarted) return { kind: 'acting' }
    const { leader = '' } = this.#elector ?? {}
    return leader === '' || leader === this.#identity ? { kind: 'unknown' } : { kind: 'standing by', leader }
  }

  /** Resolves once the role is known: the caches are filled and it acts, or another process leads. */
  async roleKnown(): Promise<Role> {
    while (this.role.kind === 'unknown' && !this.#stopping.signal.aborted) {
      await new Promise<void>((resolve) => this.#roleListeners.add(resolve))
    }
    return this.role
  }

  /** Resolves when the caches are filled and it acts; with an election, when this process stands for it. */
  async start(signal?: AbortSignal): Promise<void> {
    if (this.#running) throw new Error(`${this.#options.name}: started already`)
    const stop = signal ? AbortSignal.any([signal, this.#stopping.signal]) : this.#stopping.signal
    if (this.#elector) {
      this.#running = this.#elector.run(stop)
      return
    }
    const term = (this.#term = this.#options.begin(this.#options.transport, ''))
    const started = term.start(stop)
    this.#running = started.then(
      () => {
        this.#roleChanged()
        return until(stop)
      },
      () => {}, // told to whoever started it
    ).then(() => term.stop())
    await started
  }

  /** Why readiness should fail: a sentence for every cache that is behind. */
  problems(): string[] {
    return this.#term?.problems() ?? []
  }

  /** A sentence for each API that is not served, or not allowed, and waited for. */
  absences(): string[] {
    return this.#term?.absences?.() ?? []
  }

  /** Ends cleanly: what is under way is finished, nothing new is begun, a lease is given up. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error(`${this.#options.name}: stopped`))
    this.#roleChanged()
    await this.#running
    this.#term = undefined
  }

  #makeElector(election: NonNullable<TermRunnerOptions['leaderElection']>): LeaderElector {
    const { transport, clock = systemClock, random = systemRandom, logger = silentLogger, metrics } = this.#options
    // Not the client of those who act: whoever wants to become the leader writes the lease before it is.
    const client = new Client(transport, { clock, random })
    const elector = new LeaderElector(client, {
      ...election,
      clock,
      random,
      logger,
      ...(metrics ? { metrics } : {}),
      onNewLeader: () => this.#roleChanged(),
      onStartedLeading: async (signal, leadership) => {
        // What the last leader wrote is in every list that this one starts from.
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
