const dayMs = 86_400_000

/** What a clock on the wall shows. */
export interface WallTime {
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

/** The clocks of one time zone. Throws a RangeError for one that does not exist. */
export class ZoneClock {
  readonly #format: Intl.DateTimeFormat | undefined
  /** The last day, in UTC, that was found to have one offset from its beginning to its end. */
  #evenDay = Number.NaN
  #evenOffsetMs = 0

  constructor(zone: string) {
    if (zone === 'UTC') return
    const numeric = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' } as const
    this.#format = new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', calendar: 'gregory', numberingSystem: 'latn', ...numeric })
  }

  /** How far the zone is ahead of UTC at an instant. */
  offsetMs(atMs: number): number {
    if (!this.#format) return 0
    const day = Math.floor(atMs / dayMs)
    if (day === this.#evenDay) return this.#evenOffsetMs
    const [first, last] = [this.#look(day * dayMs), this.#look((day + 1) * dayMs)]
    if (first !== last) return this.#look(atMs)
    this.#evenDay = day
    this.#evenOffsetMs = first
    return first
  }

  /** What the clocks show at an instant. */
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

  /** The instant at which a day begins: not at midnight where the clocks skip that. Months and days beyond the end count on. */
  dayStart(year: number, month: number, day: number): number {
    const wallMs = Date.UTC(year, month - 1, day)
    const wanted = new Date(wallMs).getUTCDate()
    // The earlier of two midnights has the greater offset. Where there is none, this is an hour too early or just right.
    const offset = Math.max(this.offsetMs(wallMs - dayMs), this.offsetMs(wallMs + dayMs))
    for (let at = wallMs - offset; ; at += 30 * 60_000) if (this.wallTime(at).day === wanted) return at
  }

  #look(atMs: number): number {
    const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {}
    for (const { type, value } of this.#format!.formatToParts(atMs)) parts[type] = Number(value)
    const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = parts
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(atMs / 1000) * 1000
  }
}

const clocks = new Map<string, ZoneClock>()

/** The clocks of a zone, made once. */
export function zoneClock(zone: string): ZoneClock {
  let clock = clocks.get(zone)
  if (!clock) clocks.set(zone, (clock = new ZoneClock(zone)))
  return clock
}
