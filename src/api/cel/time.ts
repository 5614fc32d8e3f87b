import { isInt64 } from '../numbers/int64.ts'
import { CelError, Duration, Timestamp } from './values.ts'

const unitNanos: Record<string, bigint> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
}
const day = 86_400_000_000_000n
const second = unitNanos['s']!

const term = /([0-9]*)(?:\.([0-9]*))?([a-z\u00b5\u03bc]+)/gy

/** Parses a duration as Go's ParseDuration does, such as `1h30m` or `-1.5s`; undefined if it is invalid. */
export function parseDuration(text: string): Duration | undefined {
  const sign = /^[-+]/.exec(text)?.[0] ?? ''
  const body = text.slice(sign.length)
  if (body === '0') return new Duration(0n)
  if (body === '' || body.length > 256) return undefined
  let nanos = 0n
  let end = 0
  for (const [whole, digits = '', fraction = '', unit = ''] of body.matchAll(term)) {
    const size = Object.hasOwn(unitNanos, unit) ? unitNanos[unit]! : undefined
    if (size === undefined || (digits === '' && fraction === '')) return undefined
    nanos += BigInt(digits || '0') * size
    const kept = fraction.slice(0, 18)
    if (kept) nanos += (BigInt(kept) * size) / 10n ** BigInt(kept.length)
    end += whole.length
  }
  if (end !== body.length) return undefined
  const value = sign === '-' ? -nanos : nanos
  return isInt64(value) ? new Duration(value) : undefined
}

const longUnits: Record<string, bigint> = {
  nano: 1n,
  micro: 1_000n,
  milli: 1_000_000n,
  sec: second,
  second: second,
  min: 60n * second,
  minute: 60n * second,
  hr: 3_600n * second,
  hour: 3_600n * second,
  d: day,
  day,
  w: 7n * day,
  wk: 7n * day,
  week: 7n * day,
}

/** Parses a duration of the schema format `duration`, which also allows `2 days` and `3 weeks`. */
export function parseSchemaDuration(text: string): Duration | undefined {
  const plain = parseDuration(text)
  if (plain) return plain
  const match = /^([0-9]{1,9})\s*([a-zµ]+?)s?$/i.exec(text.trim())
  const unit = match?.[2]!.toLowerCase() ?? ''
  const size = Object.hasOwn(longUnits, unit)
    ? longUnits[unit]
    : Object.hasOwn(unitNanos, unit)
      ? unitNanos[unit]
      : undefined
  return match && size !== undefined ? checkedDuration(BigInt(match[1]!) * size) : undefined
}

/** Formats a duration in seconds, as `string(d)` does: `1.5s`. */
export function formatDuration({ nanos }: Duration): string {
  const magnitude = nanos < 0n ? -nanos : nanos
  const fraction = (magnitude % second).toString().padStart(9, '0').replace(/0+$/, '')
  return `${nanos < 0n ? '-' : ''}${magnitude / second}${fraction ? `.${fraction}` : ''}s`
}

export function checkedDuration(nanos: bigint): Duration {
  if (!isInt64(nanos)) throw new CelError('duration overflow')
  return new Duration(nanos)
}

const minSeconds = -62_135_596_800n
const maxSeconds = 253_402_300_799n

/** Creates a timestamp. Throws if it is not in the years 1 to 9999. */
export function checkedTimestamp(nanos: bigint): Timestamp {
  const seconds = nanos >= 0n ? nanos / second : -((-nanos + second - 1n) / second)
  if (seconds < minSeconds || seconds > maxSeconds) throw new CelError('timestamp overflow')
  return new Timestamp(nanos)
}

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9})\d*)?(?:([Zz])|([+-])(\d\d):(\d\d))$/

/** Parses an RFC 3339 time with nanoseconds; undefined if it is invalid. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const match = rfc3339.exec(text)
  if (!match) return undefined
  const [year, month, date, hour, minute, seconds] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const ms = utcMs(year, month, date)
  if (ms === undefined || hour > 23 || minute > 59 || seconds > 59) return undefined
  const offset = match[8] ? 0 : (match[9] === '-' ? -1 : 1) * (Number(match[10]) * 60 + Number(match[11]))
  const wholeSeconds = BigInt(ms / 1000 + hour * 3600 + (minute - offset) * 60 + seconds)
  if (wholeSeconds < minSeconds || wholeSeconds > maxSeconds) return undefined
  return new Timestamp(wholeSeconds * second + BigInt((match[7] ?? '').padEnd(9, '0')))
}

/** Midnight of a day in UTC, in milliseconds; undefined if the date does not exist. */
function utcMs(year: number, month: number, date: number): number | undefined {
  const at = new Date(0)
  at.setUTCFullYear(year, month - 1, date)
  const isReal = at.getUTCFullYear() === year && at.getUTCMonth() === month - 1 && at.getUTCDate() === date
  return isReal ? at.getTime() : undefined
}

/** Parses a date such as `2026-01-31` as its midnight in UTC. */
export function parseDate(text: string): Timestamp | undefined {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)
  const ms = match ? utcMs(Number(match[1]), Number(match[2]), Number(match[3])) : undefined
  return ms === undefined ? undefined : new Timestamp(BigInt(ms) * 1_000_000n)
}

/** Milliseconds since 1970, rounded down, and the nanoseconds within the second. */
function parts({ nanos }: Timestamp): { ms: number; nanos: number } {
  const within = ((nanos % second) + second) % second
  return { ms: Number((nanos - within) / 1_000_000n), nanos: Number(within) }
}

/** Formats a timestamp as RFC 3339 in UTC, with as many fractional digits as needed. */
export function formatTimestamp(time: Timestamp): string {
  const { ms, nanos } = parts(time)
  const fraction = String(nanos).padStart(9, '0').replace(/0+$/, '')
  return `${new Date(ms).toISOString().slice(0, 19)}${fraction ? `.${fraction}` : ''}Z`
}

const zones = new Map<string, Intl.DateTimeFormat>()
const maxZones = 512

function zoneFormat(zone: string): Intl.DateTimeFormat {
  const known = zones.get(zone)
  if (known) return known
  try {
    const format = new Intl.DateTimeFormat('en-US-u-ca-iso8601-nu-latn', {
      timeZone: zone,
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
      hourCycle: 'h23',
    })
    if (zones.size >= maxZones) zones.clear()
    zones.set(zone, format)
    return format
  } catch {
    throw new CelError(`unknown time zone ${zone}`)
  }
}

/** A Date whose UTC fields are the local time in a zone: a name (`Europe/Berlin`) or an offset (`-08:00`). */
export function localDate(time: Timestamp, zone: string | undefined): { date: Date; ms: number } {
  const { ms, nanos } = parts(time)
  const millis = Math.floor(nanos / 1_000_000)
  if (zone === undefined || zone === 'UTC' || zone === '') return { date: new Date(ms), ms: millis }
  const offset = /^([+-]?)(\d{1,2}):(\d\d)$/.exec(zone)
  if (offset) {
    const minutes = (offset[1] === '-' ? -1 : 1) * (Number(offset[2]) * 60 + Number(offset[3]))
    return { date: new Date(ms + minutes * 60_000), ms: millis }
  }
  const field: Record<string, number> = {}
  for (const { type, value } of zoneFormat(zone).formatToParts(new Date(ms))) field[type] = Number(value)
  const date = new Date(0)
  date.setUTCFullYear(field['year']!, field['month']! - 1, field['day']!)
  date.setUTCHours(field['hour']!, field['minute']!, field['second']!)
  return { date, ms: millis }
}

/** The day of the year, from 0. */
export const dayOfYear = (date: Date): number => {
  const start = new Date(0)
  start.setUTCFullYear(date.getUTCFullYear(), 0, 1)
  return Math.floor((date.getTime() - start.getTime()) / 86_400_000)
}
