/** An invalid schedule, in the words of Kubernetes' parser. */
export class CronScheduleError extends Error {}

/** The times that five fields select. */
export interface CronFields {
  kind: 'fields'
  minutes: ReadonlySet<number>
  hours: ReadonlySet<number>
  days: ReadonlySet<number>
  months: ReadonlySet<number>
  weekdays: ReadonlySet<number>
  /** If neither day nor weekday is `*`, either of them may match. */
  anyDay: boolean
  anyWeekday: boolean
  /** The time zone in the schedule itself. */
  zone?: string
}

/** A schedule: the times of five fields, or a fixed interval. */
export type CronSchedule = { kind: 'every'; seconds: number } | CronFields

interface Bounds {
  min: number
  max: number
  names?: readonly string[]
}

const monthNames = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const weekdayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

const minuteBounds: Bounds = { min: 0, max: 59 }
const hourBounds: Bounds = { min: 0, max: 23 }
const dayBounds: Bounds = { min: 1, max: 31 }
const monthBounds: Bounds = { min: 1, max: 12, names: monthNames }
const weekdayBounds: Bounds = { min: 0, max: 6, names: weekdayNames }

const descriptors: Record<string, string> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

/** The maximum length: five fields that list each of their values take 429 characters. */
const maxLength = 4096

/** Parses a schedule of five fields or a descriptor such as `@daily` or `@every 1h30m`. Throws a CronScheduleError. */
export function parseCronSchedule(text: string): CronSchedule {
  if (text === '') throw new CronScheduleError('empty spec string')
  if (text.length > maxLength) throw new CronScheduleError(`must be no more than ${maxLength} characters`)
  const { zone, spec } = splitTimeZone(text)
  const schedule = spec.startsWith('@')
    ? parseDescriptor(spec)
    : parseFields(spec.split(/\s+/).filter((field) => field !== ''))
  return zone === undefined || schedule.kind === 'every' ? schedule : { ...schedule, zone }
}

function parseFields(fields: readonly string[]): CronFields {
  if (fields.length !== 5)
    throw new CronScheduleError(`expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`)
  const [minute, hour, day, month, weekday] = fields as [string, string, string, string, string]
  const minutes = parseField(minute, minuteBounds)
  const hours = parseField(hour, hourBounds)
  const days = parseField(day, dayBounds)
  const months = parseField(month, monthBounds)
  const weekdays = parseField(weekday, weekdayBounds)
  return {
    kind: 'fields',
    minutes: minutes.values,
    hours: hours.values,
    days: days.values,
    months: months.values,
    weekdays: weekdays.values,
    anyDay: days.isStar,
    anyWeekday: weekdays.isStar,
  }
}

/** Splits `TZ=Europe/Paris 0 * * * *` into the zone, which must exist, and the rest. */
function splitTimeZone(text: string): { zone?: string; spec: string } {
  if (!text.startsWith('TZ=') && !text.startsWith('CRON_TZ=')) return { spec: text }
  const space = text.indexOf(' ')
  // Kubernetes' parser panics on this input. The message is the one it reports.
  if (space < 0) throw new CronScheduleError('invalid schedule format: runtime error: slice bounds out of range [:-1]')
  const zone = text.slice(text.indexOf('=') + 1, space)
  if (zone !== '' && !isTimeZone(zone))
    throw new CronScheduleError(`provided bad location ${zone}: unknown time zone ${zone}`)
  return { zone: zone || 'UTC', spec: text.slice(space).trim() }
}

function parseDescriptor(text: string): CronSchedule {
  const fields = Object.hasOwn(descriptors, text) ? descriptors[text] : undefined
  if (fields) return parseFields(fields.split(' '))
  const every = '@every '
  if (!text.startsWith(every)) throw new CronScheduleError(`unrecognized descriptor: ${text}`)
  const seconds = parseGoDuration(
    text.slice(every.length),
    (problem) => new CronScheduleError(`failed to parse duration ${text}: ${problem}`),
  )
  return { kind: 'every', seconds: Math.max(1, Math.trunc(seconds)) }
}

interface FieldValues {
  values: ReadonlySet<number>
  isStar: boolean
}

function parseField(text: string, bounds: Bounds): FieldValues {
  const values = new Set<number>()
  let isStar = false
  for (const part of text.split(',').filter((p) => p !== '')) isStar = addRange(part, bounds, values) || isStar
  return { values, isStar }
}

/** Adds the numbers of `5`, `1-5`, `*`, each with or without a step. Returns true for a star that omits nothing. */
function addRange(text: string, bounds: Bounds, values: Set<number>): boolean {
  const steps = text.split('/')
  const limits = steps[0]!.split('-')
  const isAny = limits[0] === '*' || limits[0] === '?'
  let start = bounds.min
  let end = bounds.max
  if (!isAny) {
    start = parseNumberOrName(limits[0]!, bounds)
    if (limits.length > 2) throw new CronScheduleError(`too many hyphens: ${text}`)
    end = limits.length === 2 ? parseNumberOrName(limits[1]!, bounds) : start
  }
  if (steps.length > 2) throw new CronScheduleError(`too many slashes: ${text}`)
  let step = 1
  if (steps.length === 2) {
    step = parseNumber(steps[1]!)
    if (limits.length === 1) end = bounds.max
  }
  if (start < bounds.min)
    throw new CronScheduleError(`beginning of range (${start}) below minimum (${bounds.min}): ${text}`)
  if (end > bounds.max) throw new CronScheduleError(`end of range (${end}) above maximum (${bounds.max}): ${text}`)
  if (start > end) throw new CronScheduleError(`beginning of range (${start}) beyond end of range (${end}): ${text}`)
  if (step === 0) throw new CronScheduleError(`step of range should be a positive number: ${text}`)
  for (let value = start; value <= end; value += step) values.add(value)
  return isAny && step === 1
}

function parseNumberOrName(text: string, bounds: Bounds): number {
  const at = bounds.names?.indexOf(text.toLowerCase()) ?? -1
  return at >= 0 ? at + bounds.min : parseNumber(text)
}

function parseNumber(text: string): number {
  if (!/^[+-]?[0-9]+$/.test(text)) {
    throw new CronScheduleError(
      `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`,
    )
  }
  const value = Number(text)
  if (!Number.isSafeInteger(value)) {
    throw new CronScheduleError(
      `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: value out of range`,
    )
  }
  if (value < 0) throw new CronScheduleError(`negative number (${value}) not allowed: ${text}`)
  return value
}

const unitSeconds: Record<string, number> = { ns: 1e-9, us: 1e-6, µs: 1e-6, μs: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600 }

/** Parses a duration in Go's notation to seconds: `1h30m`, `-1.5s`. */
function parseGoDuration(text: string, fail: (problem: string) => Error): number {
  const quoted = JSON.stringify(text)
  const sign = text.startsWith('-') ? -1 : 1
  let rest = text.replace(/^[+-]/, '')
  if (rest === '0') return 0
  if (rest === '') throw fail(`time: invalid duration ${quoted}`)
  let seconds = 0
  while (rest !== '') {
    const number = /^(?:[0-9]+\.?[0-9]*|\.[0-9]+)/.exec(rest)?.[0]
    if (number === undefined) throw fail(`time: invalid duration ${quoted}`)
    rest = rest.slice(number.length)
    const unit = /^[^0-9.]*/.exec(rest)![0]
    if (unit === '') throw fail(`time: missing unit in duration ${quoted}`)
    const size = Object.hasOwn(unitSeconds, unit) ? unitSeconds[unit]! : undefined
    if (size === undefined) throw fail(`time: unknown unit ${JSON.stringify(unit)} in duration ${quoted}`)
    seconds += Number(number) * size
    rest = rest.slice(unit.length)
  }
  return sign * seconds
}

/** A path segment of a time zone name: letters, digits and a few signs, at most 14. */
const zonePart = /^[A-Za-z.\-_0-9+]{1,14}$/

/** The maximum length of a name in the time zone database. */
const maxZoneLength = 255

/** The errors in a time zone's name, in Kubernetes' words. */
export function timeZoneProblems(zone: string): string[] {
  if (zone === '') return ['timeZone must be nil or non-empty string']
  const isBadPart = (part: string) => part === '.' || part === '..' || part.startsWith('-') || !zonePart.test(part)
  if (zone.length > maxZoneLength || zone.split('/').some(isBadPart)) return [`unknown time zone ${zone}`]
  if (zone.toLowerCase() === 'local') {
    const explicit = 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones'
    return zone === 'Local' ? [explicit] : [explicit, `unknown time zone ${zone}`]
  }
  return isTimeZone(zone) ? [] : [`unknown time zone ${zone}`]
}

let canonicalZones: Map<string, string> | undefined

/** True if the time zone database has this exact name. */
function isTimeZone(zone: string): boolean {
  if (!/^[A-Za-z]/.test(zone)) return false
  // Intl ignores case, the database does not: a known name in other case is rejected.
  canonicalZones ??= new Map(['UTC', ...Intl.supportedValuesOf('timeZone')].map((name) => [name.toLowerCase(), name]))
  const known = canonicalZones.get(zone.toLowerCase())
  if (known !== undefined) return known === zone
  try {
    const found = new Intl.DateTimeFormat('en-US', { timeZone: zone }).resolvedOptions().timeZone
    return found !== '' && /[A-Z]/.test(zone[0]!)
  } catch {
    // Intl throws RangeError for an unknown zone.
    return false
  }
}
