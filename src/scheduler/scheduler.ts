import { systemClock } from '../base/clock.ts'
import { silentLogger } from '../base/logger.ts'
import { systemRandom } from '../base/random.ts'
import { TermRunner, type TermRunnerOptions } from '../client/index.ts'
import { type SchedulerSettings, SchedulerTerm } from './scheduler-term.ts'

export interface SchedulerOptions extends Omit<TermRunnerOptions, 'name' | 'begin'>, Partial<Pick<SchedulerSettings, 'schedulerName' | 'percentageOfNodesToScore' | 'parallelBinds' | 'informers'>> {}

/** Finds a node for every pod that has none, over one transport, in one process at a time. */
export class Scheduler extends TermRunner {
  constructor(options: SchedulerOptions) {
    const { leaderElection: _, ...rest } = options
    const settings: SchedulerSettings = {
      schedulerName: 'default-scheduler',
      percentageOfNodesToScore: 0,
      parallelBinds: 64,
      clock: systemClock,
      random: systemRandom,
      logger: silentLogger,
      informers: {},
      ...rest,
    }
    super({ ...options, name: 'scheduler', begin: (transport, notOlderThan) => new SchedulerTerm(settings, transport, notOlderThan) })
  }
}
