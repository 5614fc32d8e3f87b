import type { CronFields, CronSchedule } from './cron-schedule.ts'

/** A schedule without a due time in this many years never fires, such as the 30th of February. */
const yearsAhead = 5

/**
 * The first due time after `afterMs`, in the time of `zone` unless the schedule names one; undefined if there is none.
 * Times in an hour that the clock skips are omitted that day; times in a repeated hour occur twice.
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

/** Day and weekday must both match if one of them is a star; otherwise either may match. */
function isDay({ days, weekdays, anyDay, anyWeekday }: CronFields, { day, weekday }: WallTime): boolean {
  const [isInDays, isInWeekdays] = [days.has(day), weekdays.has(weekday)]
  return anyDay || anyWeekday ? isInDays && isInWeekdays : isInDays || isInWeekdays
}

/** The last due time after `sinceMs` and not after `nowMs`. The cost does not depend on the length of the interval. */
export function lastDueTime(schedule: CronSchedule, sinceMs: number, nowMs: number, zone: string): number | undefined {
  const first = nextDueTime(schedule, sinceMs, zone)
  if (first === undefined || first > nowMs) return undefined
  if (schedule.kind === 'every')
    return first + Math.floor((nowMs - first) / (schedule.seconds * 1000)) * schedule.seconds * 1000
  const second = nextDueTime(schedule, first, zone)
  if (second === undefined || second > nowMs) return first
  // Searches back from now in growing steps until a due time is found, at the latest `first`.
  for (let backMs = second - first; ; backMs *= 2) {
    let found: number | undefined
    let at = nextDueTime(schedule, Math.max(sinceMs, nowMs - backMs), zone)
    for (; at !== undefined && at <= nowMs; at = nextDueTime(schedule, at, zone)) found = at
    if (found !== undefined) return found
  }
}

const dayMs = 86_400_000

/** A local date and time. */
interface WallTime {
  year: number
  /** 1 to 12. */
  month: number
  day: number
  /** 0 is Sunday. */
  weekday: number
  hour: number
  minute: number
  second: number
}

/** The local time of one time zone. Throws a RangeError if it does not exist. */
class ZoneClock {
  readonly #format: Intl.DateTimeFormat | undefined
  /** The last UTC day that was found to have one offset throughout. */
  #evenDay = Number.NaN
  #evenOffsetMs = 0

  constructor(zone: string) {
    if (zone === 'UTC') return
    const numeric = {
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    } as const
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      calendar: 'gregory',
      numberingSystem: 'latn',
      ...numeric,
    })
  }

  /** The offset of the zone from UTC at an instant. */
  offsetMs(atMs: number): number {
    if (!this.#format) return 0
    const day = Math.floor(atMs / dayMs)
    if (day === this.#evenDay) return this.#evenOffsetMs
    const [first, last] = [this.#computeOffset(day * dayMs), this.#computeOffset((day + 1) * dayMs)]
    if (first !== last) return this.#computeOffset(atMs)
    this.#evenDay = day
    this.#evenOffsetMs = first
    return first
  }

  /** The local time at an instant. */
  wallTime(atMs: number): WallTime {
    const at = new Date(atMs + this.offsetMs(atMs))
    return {
      year: at.getUTCFullYear(),
      month: at.getUTCMonth() + 1,
      day: at.getUTCDate(),
      weekday: at.getUTCDay(),
      hour: at.getUTCHours(),
      minute: at.getUTCMinutes(),
      second: at.getUTCSeconds(),
    }
  }

  /**
   * The instant at which a local day begins, which is not midnight if the clock skips midnight. Months and days beyond
   * the end overflow.
   */
  dayStart(year: number, month: number, day: number): number {
    const wallMs = Date.UTC(year, month - 1, day)
    const wanted = new Date(wallMs).getUTCDate()
    // The earlier of two midnights has the greater offset. Without a midnight, this is an hour early or exact.
    const offset = Math.max(this.offsetMs(wallMs - dayMs), this.offsetMs(wallMs + dayMs))
    for (let at = wallMs - offset; ; at += 30 * 60_000) if (this.wallTime(at).day === wanted) return at
  }

  #computeOffset(atMs: number): number {
    const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {}
    for (const { type, value } of this.#format!.formatToParts(atMs)) parts[type] = Number(value)
    const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = parts
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(atMs / 1000) * 1000
  }
}

const clocks = new Map<string, ZoneClock>()

/** The cached local time of a zone. */
export function zoneClock(zone: string): ZoneClock {
  let clock = clocks.get(zone)
  if (!clock) clocks.set(zone, (clock = new ZoneClock(zone)))
  return clock
}
