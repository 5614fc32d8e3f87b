import { isIP } from 'node:net'

/** The validation of a string format. */
type Check = (text: string) => boolean

const matches =
  (form: RegExp): Check =>
  (text) =>
    form.test(text)

const uuid = matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)
const hostname = matches(
  /^(?=.{1,255}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*\.?$/i,
)
const dateTime = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:?\d\d)$/
const date = /^(\d{4})-(\d\d)-(\d\d)$/

function isDay(year: string, month: string, day: string): boolean {
  const made = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  return made.getUTCMonth() === Number(month) - 1 && made.getUTCDate() === Number(day)
}

function isDate(text: string): boolean {
  const found = date.exec(text)
  return found !== null && isDay(found[1]!, found[2]!, found[3]!)
}

function isDateTime(text: string): boolean {
  const found = dateTime.exec(text)
  if (!found) return false
  const [, year, month, day, hour, minute, second] = found
  return isDay(year!, month!, day!) && Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60
}

function isUri(text: string): boolean {
  try {
    return /^[a-z][a-z0-9+.-]*:/i.test(text) ? Boolean(new URL(text)) : text.startsWith('/')
  } catch {
    return false
  }
}

function isCidr(text: string): boolean {
  const [address = '', bits = '', ...rest] = text.split('/')
  const family = isIP(address)
  return rest.length === 0 && family !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)
}

const isBase64 = (text: string): boolean => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)

/** Durations in Go's format, and with whole units: `1h30m`, `3 days`. */
const isDuration = matches(
  /^([+-]?((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+|[+-]?0|\d+\s*(ns|us|ms|s|m|h|d|w|days?|weeks?|hours?|minutes?|seconds?))$/,
)

/** The validations by format. Unknown formats and those of numbers are not validated. */
const checks: Readonly<Record<string, Check>> = {
  bsonobjectid: matches(/^[0-9a-f]{24}$/i),
  uri: isUri,
  email: matches(/^[^\s@<>]+@[^\s@<>]+$/),
  hostname,
  ipv4: (text) => isIP(text) === 4,
  ipv6: (text) => isIP(text) === 6,
  cidr: isCidr,
  mac: matches(/^([0-9a-f]{2}([:-][0-9a-f]{2}){5}|[0-9a-f]{4}(\.[0-9a-f]{4}){2})$/i),
  uuid,
  uuid3: (text) => uuid(text) && text.replaceAll('-', '')[12] === '3',
  uuid4: (text) => uuid(text) && text.replaceAll('-', '')[12] === '4',
  uuid5: (text) => uuid(text) && text.replaceAll('-', '')[12] === '5',
  isbn: matches(/^(97[89][- ]?)?(\d[- ]?){9}[\dXx]$/),
  isbn10: matches(/^(\d[- ]?){9}[\dXx]$/),
  isbn13: matches(/^97[89][- ]?(\d[- ]?){10}$/),
  creditcard: matches(/^(\d[ -]?){12,18}\d$/),
  ssn: matches(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/),
  hexcolor: matches(/^#?([0-9a-f]{3}|[0-9a-f]{6})$/i),
  rgbcolor: matches(/^rgb\(\s*(\d{1,3}%?)\s*,\s*(\d{1,3}%?)\s*,\s*(\d{1,3}%?)\s*\)$/i),
  byte: isBase64,
  date: isDate,
  'date-time': isDateTime,
  datetime: isDateTime,
  duration: isDuration,
  'k8s-short-name': matches(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/),
  'k8s-long-name': matches(/^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/),
}

/** The validation of a format. Undefined if it has none. */
export const formatCheck = (format: string): Check | undefined =>
  Object.hasOwn(checks, format) ? checks[format] : undefined

const numberFormats = new Set(['int32', 'int64', 'float', 'double', 'number'])

/** True if Kubernetes validates the format for values of the type. */
export function isKnownFormat(format: string, type: string | undefined): boolean {
  if (type === 'integer' || type === 'number') return numberFormats.has(format)
  return type === 'string' ? format === 'password' || Object.hasOwn(checks, format) : true
}
