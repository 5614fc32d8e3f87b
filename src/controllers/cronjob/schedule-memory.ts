import type { CronJob } from '../../api/generated/types.ts'

const maxRemembered = 10_000

/**
 * Knows when a schedule was changed while this process was watching. A CronJob says what its schedule is, not since when; without this, a schedule that is
 * changed at half past ten to "at ten o'clock" would start a job at once.
 */
export class ScheduleMemory {
  readonly #schedules = new Map<string, { text: string; changedAtMs: number | undefined }>()

  /** When the schedule was last seen to change; undefined if it was not. */
  changedAt({ metadata: { uid = '' }, spec }: CronJob, nowMs: number): number | undefined {
    const text = `${spec.timeZone ?? ''} ${spec.schedule}`
    const known = this.#schedules.get(uid)
    const now = known?.text === text ? known : { text, changedAtMs: known ? nowMs : undefined }
    // What was not looked at for longest comes first.
    this.#schedules.delete(uid)
    this.#schedules.set(uid, now)
    if (this.#schedules.size > maxRemembered) this.#schedules.delete(this.#schedules.keys().next().value!)
    return now.changedAtMs
  }
}
