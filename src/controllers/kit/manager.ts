import { FeatureGates } from '../../api/feature-gates.ts'
import { systemClock } from '../../base/clock.ts'
import { silentLogger } from '../../base/logger.ts'
import { systemRandom } from '../../base/random.ts'
import { type InformerFactoryOptions, TermRunner, type TermRunnerOptions } from '../../client/index.ts'
import type { ManagedController } from './free-controller.ts'
import type { Gather } from './gathering.ts'
import type { Audit } from './roster.ts'
import { Term, type TermSettings } from './term.ts'

export interface ControllerManagerOptions extends Omit<TermRunnerOptions, 'name' | 'begin'> {
  controllers: readonly ManagedController[]
  gates?: FeatureGates
  /** Looks at this namespace only. Default: all. */
  namespace?: string
  informers?: Pick<InformerFactoryOptions, 'resyncMs' | 'limits' | 'rules' | 'stream' | 'transform'>
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
      ...rest,
    }
    super({ ...options, name: 'controllers', begin: (transport, notOlderThan) => new Term(settings, transport, notOlderThan) })
  }
}
