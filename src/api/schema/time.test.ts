import { describe, expect, test } from 'vitest'
import { TimeError, canonicalTime } from './time.ts'
import type { TimePrecision } from './time.ts'

describe('canonicalTime() writes times as Kubernetes does', () => {
  const rows: [what: string, text: string, precision: TimePrecision, canonical: string | null][] = [
    ['as it is', '2024-05-06T07:08:09Z', 'second', '2024-05-06T07:08:09Z'],
    ['in UTC', '2024-05-06T01:08:09+02:30', 'second', '2024-05-05T22:38:09Z'],
    ['west of Greenwich', '2024-12-31T23:30:00-01:00', 'second', '2025-01-01T00:30:00Z'],
    ['without fractions', '2024-05-06T07:08:09.999999999Z', 'second', '2024-05-06T07:08:09Z'],
    ['the last day of February in a leap year', '2024-02-29T00:00:00Z', 'second', '2024-02-29T00:00:00Z'],
    ['an early year', '0099-01-01T00:00:00Z', 'second', '0099-01-01T00:00:00Z'],
    ['an hour of one digit', '2024-05-06T7:08:09Z', 'second', '2024-05-06T07:08:09Z'],
    ['the zero time as null', '0001-01-01T00:00:00Z', 'second', null],
    ['microseconds', '2024-05-06T07:08:09.000123Z', 'microsecond', '2024-05-06T07:08:09.000123Z'],
    ['microseconds in UTC', '2024-05-06T09:08:09.120000+02:00', 'microsecond', '2024-05-06T07:08:09.120000Z'],
    ['the zero time in microseconds as null', '0001-01-01T00:00:00.000000Z', 'microsecond', null],
    ['a moment after the zero time', '0001-01-01T00:00:00.000001Z', 'microsecond', '0001-01-01T00:00:00.000001Z'],
  ]
  test.each(rows)('%s', (_, text, precision, canonical) => {
    expect(canonicalTime(text, precision)).toBe(canonical)
  })
})

describe('canonicalTime() refuses in the words of Go', () => {
  const layout = '"2006-01-02T15:04:05Z07:00"'
  const micro = '"2006-01-02T15:04:05.000000Z07:00"'
  const rows: [text: string, precision: TimePrecision, message: string][] = [
    ['x', 'second', `parsing time "x" as ${layout}: cannot parse "x" as "2006"`],
    ['', 'second', `parsing time "" as ${layout}: cannot parse "" as "2006"`],
    ['2024', 'second', `parsing time "2024" as ${layout}: cannot parse "" as "-"`],
    ['2024-01-02', 'second', `parsing time "2024-01-02" as ${layout}: cannot parse "" as "T"`],
    ['2024-01-02 03:04:05Z', 'second', `parsing time "2024-01-02 03:04:05Z" as ${layout}: cannot parse " 03:04:05Z" as "T"`],
    ['2024-1-02T03:04:05Z', 'second', `parsing time "2024-1-02T03:04:05Z" as ${layout}: cannot parse "1-02T03:04:05Z" as "01"`],
    ['2024-13-02T03:04:05Z', 'second', 'parsing time "2024-13-02T03:04:05Z": month out of range'],
    ['2023-02-29T03:04:05Z', 'second', 'parsing time "2023-02-29T03:04:05Z": day out of range'],
    ['2024-01-02T24:04:05Z', 'second', 'parsing time "2024-01-02T24:04:05Z": hour out of range'],
    ['2024-01-02T03:04:05', 'second', `parsing time "2024-01-02T03:04:05" as ${layout}: cannot parse "" as "Z07:00"`],
    ['2024-01-02T03:04:05Zx', 'second', 'parsing time "2024-01-02T03:04:05Zx": extra text: "x"'],
    ['2024-01-02T03:04:05Z', 'microsecond', `parsing time "2024-01-02T03:04:05Z" as ${micro}: cannot parse "Z" as ".000000"`],
    ['2024-01-02T03:04:05.1234567Z', 'microsecond', `parsing time "2024-01-02T03:04:05.1234567Z" as ${micro}: cannot parse "7Z" as "Z07:00"`],
  ]
  test.each(rows)('%j to the %s', (text, precision, message) => {
    expect(() => canonicalTime(text, precision)).toThrow(new TimeError(message))
  })
})
