import type { CronJob, Job } from '../../api/generated/types.ts'
import { jobs } from '../../client/index.ts'
import type { ObserveContext } from '../kit/index.ts'

const maxRemembered = 10_000

/**
 * Remembers when a schedule changed while this process was watching. A CronJob does not contain that time. Without it,
 * a schedule that is changed at 10:30 to "10:00" would start a job immediately.
 */
export class ScheduleMemory {
  readonly #schedules = new Map<string, { text: string; changedAtMs: number | undefined }>()

  /** The time at which a change of the schedule was seen. Undefined if none was. */
  changedAt({ metadata: { uid = '' }, spec }: CronJob, nowMs: number): number | undefined {
    const text = `${spec.timeZone ?? ''} ${spec.schedule}`
    const known = this.#schedules.get(uid)
    const now = known?.text === text ? known : { text, changedAtMs: known ? nowMs : undefined }
    // The map is ordered by last access, the oldest first.
    this.#schedules.delete(uid)
    this.#schedules.set(uid, now)
    if (this.#schedules.size > maxRemembered) this.#schedules.delete(this.#schedules.keys().next().value!)
    return now.changedAtMs
  }
}

export interface Observed {
  cronJob: CronJob
  /** All jobs of the CronJob, including finished ones. */
  jobs: readonly Job[]
  nowMs: number
  /** The time zone of schedules without one. */
  localZone: string
  /** The time of the last change of the schedule, if it was seen. Earlier times were due under another schedule. */
  scheduledSinceMs: number | undefined
}

/** Reads the input of a plan. */
export const observe = (
  { caches, nowMs }: ObserveContext,
  cronJob: CronJob,
  localZone: string,
  memory: ScheduleMemory,
): Observed => ({
  cronJob,
  jobs: caches.owned(jobs, cronJob),
  nowMs,
  localZone,
  scheduledSinceMs: memory.changedAt(cronJob, nowMs),
})
