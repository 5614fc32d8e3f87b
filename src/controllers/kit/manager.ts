import { FeatureGates } from '../../api/feature-gates.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import { type Logger, silentLogger } from '../../base/logger.ts'
import type { MetricsRegistry } from '../../base/metrics.ts'
import { type Random, systemRandom } from '../../base/random.ts'
import { Client, type InformerFactoryOptions, LeaderElector, type LeaderElectorOptions, type Transport } from '../../client/index.ts'
import type { ManagedController } from './free-controller.ts'
import { Term, type TermSettings } from './term.ts'

export interface ControllerManagerOptions {
  transport: Transport
  controllers: readonly ManagedController[]
  clock?: Clock
  random?: Random
  logger?: Logger
  metrics?: MetricsRegistry
  gates?: FeatureGates
  /** Looks at this namespace only. Default: all. */
  namespace?: string
  informers?: Pick<InformerFactoryOptions, 'resyncMs' | 'limits' | 'rules' | 'stream'>
  /** Only one of several processes acts. Without it, this one does. */
  leaderElection?: Pick<LeaderElectorOptions, 'namespace' | 'name' | 'identity' | 'leaseDurationMs' | 'renewDeadlineMs' | 'retryPeriodMs' | 'releaseOnStop'>
}

/** What a manager does: it acts, or leaves that to the leader that is named, or does not know yet. */
export type Role = { kind: 'unknown' } | { kind: 'acting' } | { kind: 'standing by'; leader: string }

/** Runs controllers over one transport: their caches, their queues, and the election where only one process may act. */
export class ControllerManager {
  readonly #settings: TermSettings
  readonly #elector: LeaderElector | undefined
  readonly #identity: string
  readonly #roleListeners = new Set<() => void>()
  readonly #stopping = new AbortController()
  #term: Term | undefined
  #running: Promise<void> | undefined

  constructor(options: ControllerManagerOptions) {
    const { leaderElection, ...rest } = options
    this.#settings = {
      clock: systemClock,
      random: systemRandom,
      logger: silentLogger,
      gates: FeatureGates.of(),
      namespace: '',
      informers: {},
      ...rest,
    }
    this.#identity = leaderElection?.identity ?? ''
    if (leaderElection) this.#elector = this.#makeElector(leaderElection)
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

  /** Resolves once the role is known: the caches are filled and the controllers run, or another process leads. */
  async roleKnown(): Promise<Role> {
    while (this.role.kind === 'unknown' && !this.#stopping.signal.aborted) {
      await new Promise<void>((resolve) => this.#roleListeners.add(resolve))
    }
    return this.role
  }

  /** Resolves when the caches are filled and the controllers run; with an election, when this process stands for it. */
  async start(signal?: AbortSignal): Promise<void> {
    if (this.#running) throw new Error('these controllers have been started already')
    const stop = signal ? AbortSignal.any([signal, this.#stopping.signal]) : this.#stopping.signal
    if (this.#elector) {
      this.#running = this.#elector.run(stop)
      return
    }
    const term = (this.#term = new Term(this.#settings, this.#settings.transport, ''))
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

  /** Ends cleanly: what is under way is finished, nothing new is begun, a lease is given up. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the controllers are stopped'))
    this.#roleChanged()
    await this.#running
    this.#term = undefined
  }

  #makeElector(options: NonNullable<ControllerManagerOptions['leaderElection']>): LeaderElector {
    const { transport, clock, random, logger, metrics } = this.#settings
    // Not the client of the controllers: whoever wants to become the leader writes the lease before it is.
    const client = new Client(transport, { clock, random })
    const elector = new LeaderElector(client, {
      ...options,
      clock,
      random,
      logger,
      ...(metrics ? { metrics } : {}),
      onNewLeader: () => this.#roleChanged(),
      onStartedLeading: async (signal, leadership) => {
        // What the last leader wrote is in every list that this one starts from.
        const term = (this.#term = new Term(this.#settings, elector.fence(transport, leadership), elector.lastWritten()))
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
