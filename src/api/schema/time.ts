/** An invalid RFC 3339 time, in the words of Go's parser. */
export class TimeError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'TimeError'
  }
}

export type TimePrecision = 'second' | 'microsecond'

const layouts: Record<TimePrecision, string> = {
  second: '2006-01-02T15:04:05Z07:00',
  microsecond: '2006-01-02T15:04:05.000000Z07:00',
}

// Fast path: every month has 28 days.
const canonicalSeconds = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/
const canonicalMicros = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z$/

/** Go's zero time, which is serialized as null. */
const zero = '0001-01-01T00:00:00'

/**
 * Normalizes a time as Kubernetes does: UTC, in seconds or with six digits. Null for the zero time. Throws TimeError.
 */
export function canonicalTime(text: string, precision: TimePrecision): string | null {
  const canonical = precision === 'second' ? canonicalSeconds : canonicalMicros
  const out = canonical.test(text) ? text : parse(text, precision)
  return out.startsWith(zero) && (precision === 'second' || out.slice(20, 26) === '000000') ? null : out
}

const isDigits = (text: string) => /^\d+$/.test(text)
const daysIn = (month: number, year: number) => new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()

function parse(text: string, precision: TimePrecision): string {
  let rest = text
  const malformed = (element: string): never => {
    const [whole, part] = [JSON.stringify(text), JSON.stringify(rest)]
    throw new TimeError(`parsing time ${whole} as "${layouts[precision]}": cannot parse ${part} as "${element}"`)
  }
  const outOfRange = (what: string): never => {
    throw new TimeError(`parsing time ${JSON.stringify(text)}: ${what} out of range`)
  }
  const skip = (separator: string) => {
    if (!rest.startsWith(separator)) malformed(separator)
    rest = rest.slice(separator.length)
  }
  const number = (element: string, digits: number, what?: [name: string, least: number, most: number]): number => {
    // Go accepts an hour of one digit.
    const taken = element === '15' && !isDigits(rest.slice(0, 2)) ? 1 : digits
    const part = rest.slice(0, taken)
    if (part.length < taken || !isDigits(part)) malformed(element)
    rest = rest.slice(taken)
    const n = Number(part)
    if (what && (n < what[1] || n > what[2])) outOfRange(what[0])
    return n
  }
  const year = number('2006', 4)
  skip('-')
  const month = number('01', 2, ['month', 1, 12])
  skip('-')
  const day = number('02', 2)
  skip('T')
  const hour = number('15', 2, ['hour', 0, 23])
  skip(':')
  const minute = number('04', 2, ['minute', 0, 59])
  skip(':')
  const second = number('05', 2, ['second', 0, 59])
  let micros = ''
  if (precision === 'microsecond') {
    if (!/^[.,]\d{6}/.test(rest)) malformed('.000000')
    micros = `.${rest.slice(1, 7)}`
    rest = rest.slice(7)
  } else {
    rest = rest.replace(/^[.,]\d+/, '')
  }
  let offsetMinutes = 0
  if (rest.startsWith('Z')) {
    rest = rest.slice(1)
  } else {
    const zone = /^([+-])(\d\d):(\d\d)/.exec(rest)
    if (!zone) return malformed('Z07:00')
    if (Number(zone[2]) > 24) outOfRange('time zone offset hour')
    if (Number(zone[3]) > 60) outOfRange('time zone offset minute')
    offsetMinutes = (Number(zone[2]) * 60 + Number(zone[3])) * (zone[1] === '-' ? -1 : 1)
    rest = rest.slice(6)
  }
  if (rest !== '') throw new TimeError(`parsing time ${JSON.stringify(text)}: extra text: ${JSON.stringify(rest)}`)
  if (day < 1 || day > daysIn(month, year)) outOfRange('day')
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute - offsetMinutes, second)
  return `${date.toISOString().slice(0, -5)}${micros}Z`
}
