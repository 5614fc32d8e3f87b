import { Scheduler } from '../scheduler/index.ts'
import { type PartOptions, type RunningPart, runPart } from './run-part.ts'

export interface RunSchedulerOptions extends PartOptions {
  /** Pods that name this scheduler are its business. */
  schedulerName: string
  /** 0: the larger the cluster, the smaller the share. */
  percentageOfNodesToScore: number
}

/** Runs the scheduler against an API server, which need not be there yet. */
export const runScheduler = (options: RunSchedulerOptions): Promise<RunningPart> =>
  runPart('scheduler', options, ({ access: _, about, ...tools }) => {
    const { schedulerName, percentageOfNodesToScore } = options
    about['schedulerName'] = schedulerName
    return new Scheduler({ ...tools, schedulerName, percentageOfNodesToScore })
  })
