import { toInt64 } from '../../numbers/int64.ts'
import { type Library, type Meter, type Overload, charge, memberOverload } from '../declarations.ts'
import { dayOfYear, localDate } from '../time.ts'
import { durationType, intType, stringType, timestampType } from '../types.ts'
import type { Duration, Timestamp } from '../values.ts'

type Part = (date: Date, ms: number) => number

const parts: Record<string, Part> = {
  getFullYear: (date) => date.getUTCFullYear(),
  getMonth: (date) => date.getUTCMonth(),
  getDayOfYear: dayOfYear,
  getDayOfMonth: (date) => date.getUTCDate() - 1,
  getDate: (date) => date.getUTCDate(),
  getDayOfWeek: (date) => date.getUTCDay(),
  getHours: (date) => date.getUTCHours(),
  getMinutes: (date) => date.getUTCMinutes(),
  getSeconds: (date) => date.getUTCSeconds(),
  getMilliseconds: (_, ms) => ms,
}

// Measured: decomposing a timestamp takes 0.3 µs in UTC, and 4 µs in a named time zone.
const utcCost = 60
const zoneCost = 1_500

const timestampParts = (name: string, part: Part): Overload[] => [
  memberOverload(`timestamp_to_${name}`, [timestampType], intType, (meter: Meter, time: Timestamp) => {
    charge(meter, utcCost)
    const { date, ms } = localDate(time, undefined)
    return part(date, ms)
  }),
  memberOverload(
    `timestamp_to_${name}_with_tz`,
    [timestampType, stringType],
    intType,
    (meter: Meter, time: Timestamp, zone: string) => {
      charge(meter, zoneCost)
      const { date, ms } = localDate(time, zone)
      return part(date, ms)
    },
  ),
]

const durationUnits: Record<string, bigint> = {
  getHours: 3_600_000_000_000n,
  getMinutes: 60_000_000_000n,
  getSeconds: 1_000_000_000n,
  getMilliseconds: 1_000_000n,
}

const durationPart = (name: string, unit: bigint): Overload =>
  memberOverload(`duration_to_${name}`, [durationType], intType, (meter: Meter, duration: Duration) => {
    meter.cost += 5
    return toInt64(duration.nanos / unit)
  })

/** Functions of timestamps (optionally in a time zone) and durations. */
export const timeLibrary: Library = {
  name: 'time',
  functions: Object.fromEntries(
    Object.entries(parts).map(([name, part]) => {
      const unit = durationUnits[name]
      return [
        name,
        unit === undefined ? timestampParts(name, part) : [...timestampParts(name, part), durationPart(name, unit)],
      ]
    }),
  ),
}
