import type { CronJob } from '../../api/generated/types.ts'
import { cronjobs, jobs } from '../../client/index.ts'
import { type AnyController, defineController } from '../kit/index.ts'
import { type Action, apply } from './apply.ts'
import { type Derived, derive } from './derive.ts'
import { type Observed, ScheduleMemory, observe } from './observe.ts'
import { plan } from './plan.ts'
import { status } from './status.ts'

/** Starts jobs at their scheduled times. `localZone` applies to CronJobs without a time zone. */
export function cronJobController(localZone = 'UTC'): AnyController {
  const memory = new ScheduleMemory()
  return defineController<CronJob, Observed, Action, Derived>({
    name: 'cronjob',
    owner: cronjobs,
    sources: { owns: [jobs] },
    consistency: { gate: 'StaleControllerConsistencyCronJob' },
    status: { observesGeneration: false, compute: status },
    observe: (ctx, cronJob) => observe(ctx, cronJob, localZone, memory),
    derive,
    plan,
    apply,
  })
}
