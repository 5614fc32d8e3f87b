import { FeatureGates } from '../../../api/feature-gates.ts'
import { systemClock } from '../../../base/clock.ts'
import { silentLogger } from '../../../base/logger.ts'
import { systemRandom } from '../../../base/random.ts'
import { type InformerFactoryOptions, TermRunner, type TermRunnerOptions } from '../../../client/index.ts'
import type { Gather } from '../queueing/gathering.ts'
import type { Audit } from '../roster/roster.ts'
import type { ManagedController } from './free-controller.ts'
import { type CacheScope, Term, type TermSettings } from './term.ts'

export interface ControllerManagerOptions extends Omit<TermRunnerOptions, 'name' | 'begin'> {
  controllers: readonly ManagedController[]
  gates?: FeatureGates
  /** Restricts the caches to this namespace. Default: all namespaces. */
  namespace?: string
  /**
   * Restricts the caches to these namespaces. Each is listed and watched separately, so rights in them are sufficient.
   */
  namespaces?: readonly string[]
  /** Restricts the caches of some kinds by selectors, or to other namespaces. */
  scopes?: readonly CacheScope[]
  informers?: Pick<InformerFactoryOptions, 'resyncMs' | 'limits' | 'rules' | 'stream' | 'transform'>
  /**
   * Lets controllers wait for kinds that the server does not serve, or that may not be read, while others run and
   * `problems` reports them. If false, `start` rejects with their names. With leader election it has no effect, because
   * the election comes first. Default: true.
   */
  waitsForKinds?: boolean
  /** Builds every roster from scratch as well and is called for each difference. For tests. */
  audit?: Audit
  /** The shortest time between two reconciles of an owner, by its size. Tests use it to delay small owners. */
  gather?: Gather
}

/** Runs controllers over one transport, with shared caches, and with leader election if only one process may act. */
export class ControllerManager extends TermRunner {
  constructor(options: ControllerManagerOptions) {
    const { leaderElection: _, ...rest } = options
    const settings: TermSettings = {
      clock: systemClock,
      random: systemRandom,
      logger: silentLogger,
      gates: FeatureGates.of(),
      namespace: '',
      informers: {},
      waitsForKinds: true,
      ...rest,
      ...(options.leaderElection ? { waitsForKinds: true } : {}),
    }
    super({
      ...options,
      name: 'controllers',
      begin: (transport, notOlderThan) => new Term(settings, transport, notOlderThan),
    })
  }
}
