import { describe, expect, it } from 'vitest'
import { CronScheduleError, parseCronSchedule, timeZoneProblems } from './cron-schedule.ts'

const problemOf = (text: string): string | undefined => {
  try {
    parseCronSchedule(text)
    return undefined
  } catch (e) {
    if (!(e instanceof CronScheduleError)) throw e
    return e.message
  }
}

describe('parseCronSchedule()', () => {
  it.each([
    ['five stars', '* * * * *'],
    ['question marks and double spaces', '?  * * * *'],
    ['ranges, lists and steps', '*/15 0-6,12 * * 1-5'],
    ['names of months and weekdays in any case', '0 0 1 JAN Sun'],
    ['a descriptor', '@midnight'],
    ['every so often', '@every 1h30m'],
    ['every so often, going back', '@every -1h'],
    ['a zone inside', 'TZ=UTC 0 * * * *'],
  ])('takes %s', (_, text) => {
    expect(problemOf(text)).toBeUndefined()
  })

  it.each([
    ['too few fields', '* * *', 'expected exactly 5 fields, found 3: [* * *]'],
    ['six fields', '0 * * * * *', 'expected exactly 5 fields, found 6: [0 * * * * *]'],
    ['a minute too large', '60 * * * *', 'end of range (60) above maximum (59): 60'],
    ['a day too small', '* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
    ['a seventh weekday', '0 0 * * 7', 'end of range (7) above maximum (6): 7'],
    ['a range that goes back', '5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
    ['no step', '*/0 * * * *', 'step of range should be a positive number: */0'],
    ['two hyphens', '1-2-3 * * * *', 'too many hyphens: 1-2-3'],
    ['two slashes', '1/2/3 * * * *', 'too many slashes: 1/2/3'],
    ['a word', 'a * * * *', 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'],
    ['an unknown descriptor', '@often', 'unrecognized descriptor: @often'],
    ['no duration', '@every x', 'failed to parse duration @every x: time: invalid duration "x"'],
    ['a duration without a unit', '@every 5', 'failed to parse duration @every 5: time: missing unit in duration "5"'],
    ['a duration in days', '@every 5d', 'failed to parse duration @every 5d: time: unknown unit "d" in duration "5d"'],
    ['a zone and nothing else', 'TZ=0', 'invalid schedule format: runtime error: slice bounds out of range [:-1]'],
    ['a zone that does not exist', 'TZ=Mars/Olympus 0 * * * *', 'provided bad location Mars/Olympus: unknown time zone Mars/Olympus'],
  ])('refuses %s', (_, text, problem) => {
    expect(problemOf(text)).toBe(problem)
  })

  it('tells stars from lists of everything, which days and weekdays need', () => {
    const schedule = parseCronSchedule('5,10-12/2 * 1-31 */2 *')
    expect(schedule).toMatchObject({ kind: 'fields', anyDay: false, anyWeekday: true })
    if (schedule.kind !== 'fields') return
    expect([...schedule.minutes]).toEqual([5, 10, 12])
    expect([...schedule.months]).toEqual([1, 3, 5, 7, 9, 11])
  })

  it('rounds an interval to whole seconds, at least one', () => {
    expect(parseCronSchedule('@every 1m1500ms')).toEqual({ kind: 'every', seconds: 61 })
    expect(parseCronSchedule('@every 10ms')).toEqual({ kind: 'every', seconds: 1 })
  })
})

describe('timeZoneProblems()', () => {
  it.each([
    ['UTC', []],
    ['Europe/Amsterdam', []],
    ['America/Argentina/Buenos_Aires', []],
    ['Etc/GMT+5', []],
    ['', ['timeZone must be nil or non-empty string']],
    ['europe/amsterdam', ['unknown time zone europe/amsterdam']],
    ['Mars/Olympus', ['unknown time zone Mars/Olympus']],
    ['../etc', ['unknown time zone ../etc']],
    ['+01:00', ['unknown time zone +01:00']],
    ['Local', ['timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones']],
  ])('of %j: %j', (zone, problems) => {
    expect(timeZoneProblems(zone)).toEqual(problems)
  })
})
