import type { CronJob } from '../../api/generated/types.ts'
import { cronjobs, jobs } from '../../client/index.ts'
import { type AnyController, defineController } from '../kit/index.ts'
import { apply } from './apply.ts'
import { type Observed, observe } from './observe.ts'
import { type Action, plan } from './plan.ts'
import { ScheduleMemory } from './schedule-memory.ts'
import { status } from './status.ts'

/** Starts jobs when they are due, by the clocks of `localZone` where a CronJob names no time zone. */
export function cronJobController(localZone = 'UTC'): AnyController {
  const memory = new ScheduleMemory()
  return defineController<CronJob, Observed, Action>({
    name: 'cronjob',
    owner: cronjobs,
    owns: [jobs],
    gate: 'StaleControllerConsistencyCronJob',
    observesGeneration: false,
    observe: (ctx, cronJob) => observe(ctx, cronJob, localZone, memory),
    plan,
    apply,
    status,
  })
}
