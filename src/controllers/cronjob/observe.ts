import type { CronJob, Job } from '../../api/generated/types.ts'
import { jobs } from '../../client/index.ts'
import type { ObserveContext } from '../kit/index.ts'
import type { ScheduleMemory } from './schedule-memory.ts'

export interface Observed {
  cronJob: CronJob
  /** All that it manages, finished ones included. */
  jobs: readonly Job[]
  nowMs: number
  /** The time zone of schedules that name none. */
  localZone: string
  /** When its schedule became what it is, if that was seen: what was due before was due by another one. */
  scheduledSinceMs: number | undefined
}

/** Reads what decides about a CronJob. */
export const observe = ({ caches, nowMs }: ObserveContext, cronJob: CronJob, localZone: string, memory: ScheduleMemory): Observed => ({
  cronJob,
  jobs: caches.owned(jobs, cronJob),
  nowMs,
  localZone,
  scheduledSinceMs: memory.changedAt(cronJob, nowMs),
})
