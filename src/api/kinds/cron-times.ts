import type { CronFields, CronSchedule } from './cron-schedule.ts'
import { type WallTime, zoneClock } from './zone-clock.ts'

/** A schedule without a due time in so many years has none at all, such as the 30th of February. */
const yearsAhead = 5

/**
 * The first instant after `afterMs` at which a schedule is due, by the clocks of `zone` unless the schedule names one; undefined if it never is. What falls
 * into an hour that the clocks skip is left out that day; in an hour that comes twice it is due twice.
 */
export function nextDueTime(schedule: CronSchedule, afterMs: number, zone: string): number | undefined {
  const secondMs = Math.floor(afterMs / 1000) * 1000
  if (schedule.kind === 'every') return secondMs + schedule.seconds * 1000
  const clock = zoneClock(schedule.zone ?? zone)
  let at = secondMs + 1000
  const lastYear = clock.wallTime(at).year + yearsAhead
  for (;;) {
    const wall = clock.wallTime(at)
    if (wall.year > lastYear) return undefined
    if (!schedule.months.has(wall.month)) at = clock.dayStart(wall.year, wall.month + 1, 1)
    else if (!isDay(schedule, wall)) at = clock.dayStart(wall.year, wall.month, wall.day + 1)
    else if (!schedule.hours.has(wall.hour)) at += (3600 - wall.minute * 60 - wall.second) * 1000
    else if (!schedule.minutes.has(wall.minute) || wall.second !== 0) at += (60 - wall.second) * 1000
    else return at
  }
}

/** Day and weekday must both fit where one of them is a star; where both say something, either will do. */
function isDay({ days, weekdays, anyDay, anyWeekday }: CronFields, { day, weekday }: WallTime): boolean {
  const [isInDays, isInWeekdays] = [days.has(day), weekdays.has(weekday)]
  return anyDay || anyWeekday ? isInDays && isInWeekdays : isInDays || isInWeekdays
}

/** The last instant after `sinceMs` and not after `nowMs` at which a schedule was due. Costs as much for a year as for an hour. */
export function lastDueTime(schedule: CronSchedule, sinceMs: number, nowMs: number, zone: string): number | undefined {
  const first = nextDueTime(schedule, sinceMs, zone)
  if (first === undefined || first > nowMs) return undefined
  if (schedule.kind === 'every') return first + Math.floor((nowMs - first) / (schedule.seconds * 1000)) * schedule.seconds * 1000
  const second = nextDueTime(schedule, first, zone)
  if (second === undefined || second > nowMs) return first
  // Looks back from now, ever farther, until something is found: at the latest it is `first`.
  for (let backMs = second - first; ; backMs *= 2) {
    let found: number | undefined
    let at = nextDueTime(schedule, Math.max(sinceMs, nowMs - backMs), zone)
    for (; at !== undefined && at <= nowMs; at = nextDueTime(schedule, at, zone)) found = at
    if (found !== undefined) return found
  }
}
