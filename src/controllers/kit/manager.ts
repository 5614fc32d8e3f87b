import { FeatureGates } from '../../api/feature-gates.ts'
import { systemClock } from '../../base/clock.ts'
import { silentLogger } from '../../base/logger.ts'
import { systemRandom } from '../../base/random.ts'
import { type InformerFactoryOptions, TermRunner, type TermRunnerOptions } from '../../client/index.ts'
import type { ManagedController } from './free-controller.ts'
import type { Gather } from './gathering.ts'
import type { Audit } from './roster.ts'
import { type CacheScope, Term, type TermSettings } from './term.ts'

export interface ControllerManagerOptions extends Omit<TermRunnerOptions, 'name' | 'begin'> {
  controllers: readonly ManagedController[]
  gates?: FeatureGates
  /** Looks at this namespace only. Default: all. */
  namespace?: string
  /** Looks at these namespaces only: each is listed and watched on its own, so that rights in them will do. */
  namespaces?: readonly string[]
  /** Narrows the caches of some kinds by selectors, or to other namespaces. */
  scopes?: readonly CacheScope[]
  informers?: Pick<InformerFactoryOptions, 'resyncMs' | 'limits' | 'rules' | 'stream' | 'transform'>
  /**
   * Whether controllers wait for kinds that the server does not serve, or that may not be read, while others run: `problems` tells of them.
   * If false, `start` rejects and names them; an election is won first, so it has no effect there. Default: true.
   */
  waitsForKinds?: boolean
  /** Has every roster made from scratch, too, and hears where it comes out otherwise: for tests. */
  audit?: Audit
  /** The least time between two reconciles of an owner, by the number of its members. Tests make small owners wait, too. */
  gather?: Gather
}

/** Runs controllers over one transport: their caches, their queues, and the election where only one process may act. */
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
    super({ ...options, name: 'controllers', begin: (transport, notOlderThan) => new Term(settings, transport, notOlderThan) })
  }
}
