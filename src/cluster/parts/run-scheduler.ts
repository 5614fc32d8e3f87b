import { Scheduler } from '../../scheduler/index.ts'
import { type PartOptions, type RunningPart, runPart } from './run-part.ts'

export interface RunSchedulerOptions extends PartOptions {
  /** Value of spec.schedulerName of the pods to schedule. */
  schedulerName: string
  /** 0 derives the percentage from the size of the cluster. */
  percentageOfNodesToScore: number
}

/** Runs the scheduler against an API server, which may start later. */
export const runScheduler = (options: RunSchedulerOptions): Promise<RunningPart> =>
  runPart('scheduler', options, ({ access: _, about, ...tools }) => {
    const { schedulerName, percentageOfNodesToScore } = options
    about['schedulerName'] = schedulerName
    return new Scheduler({ ...tools, schedulerName, percentageOfNodesToScore })
  })
