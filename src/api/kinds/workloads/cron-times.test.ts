import { describe, expect, it } from 'vitest'
import { parseCronSchedule } from './cron-schedule.ts'
import { lastDueTime, nextDueTime } from './cron-times.ts'

const iso = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString().replace('.000Z', 'Z'))

/** The next due times after an instant. */
function following(schedule: string, after: string, count: number, zone = 'UTC'): (string | undefined)[] {
  const found: (string | undefined)[] = []
  const parsed = parseCronSchedule(schedule)
  for (let at: number | undefined = Date.parse(after); at !== undefined && found.length < count; ) found.push(iso((at = nextDueTime(parsed, at, zone))))
  return found
}

describe('nextDueTime()', () => {
  it.each<[string, string, string, (string | undefined)[]]>([
    ['every minute', '* * * * *', '2026-01-01T00:00:00Z', ['2026-01-01T00:01:00Z', '2026-01-01T00:02:00Z']],
    ['a time that is due now is not next', '0 0 * * *', '2026-01-01T00:00:00Z', ['2026-01-02T00:00:00Z']],
    ['a fraction of a second before', '0 0 * * *', '2025-12-31T23:59:59.999Z', ['2026-01-01T00:00:00Z']],
    ['steps and ranges', '*/20 8-9 * * *', '2026-01-01T08:30:00Z', ['2026-01-01T08:40:00Z', '2026-01-01T09:00:00Z', '2026-01-01T09:20:00Z', '2026-01-01T09:40:00Z', '2026-01-02T08:00:00Z']],
    ['over the end of a month', '30 6 * * *', '2026-04-30T07:00:00Z', ['2026-05-01T06:30:00Z']],
    ['over the end of a year', '0 0 1 jan *', '2026-01-01T00:00:00Z', ['2027-01-01T00:00:00Z']],
    ['a month that is not this one', '15 12 3 6 *', '2026-07-01T00:00:00Z', ['2027-06-03T12:15:00Z']],
    ['a weekday', '0 9 * * mon', '2026-01-01T00:00:00Z', ['2026-01-05T09:00:00Z', '2026-01-12T09:00:00Z']],
    ['day and weekday: either will do', '0 0 13 * fri', '2026-01-08T00:00:00Z', ['2026-01-09T00:00:00Z', '2026-01-13T00:00:00Z', '2026-01-16T00:00:00Z']],
    ['a day beside a star: both must fit', '0 0 31 * *', '2026-02-01T00:00:00Z', ['2026-03-31T00:00:00Z', '2026-05-31T00:00:00Z']],
    ['a stepped star is no star', '0 0 */10 * sun', '2026-01-01T00:00:00Z', ['2026-01-04T00:00:00Z', '2026-01-11T00:00:00Z', '2026-01-18T00:00:00Z']],
    ['a leap day', '0 0 29 2 *', '2026-01-01T00:00:00Z', ['2028-02-29T00:00:00Z', '2032-02-29T00:00:00Z']],
    ['a day that never comes', '0 0 30 2 *', '2026-01-01T00:00:00Z', [undefined]],
    ['every so often, from where it was', '@every 90s', '2026-01-01T00:00:10.5Z', ['2026-01-01T00:01:40Z', '2026-01-01T00:03:10Z']],
    ['a zone in the schedule itself', 'CRON_TZ=Asia/Tokyo 0 6 * * *', '2026-01-01T00:00:00Z', ['2026-01-01T21:00:00Z']],
    ['an empty zone in the schedule', 'TZ= 0 6 * * *', '2026-01-01T00:00:00Z', ['2026-01-01T06:00:00Z']],
  ])('%s: %s', (_, schedule, after, times) => {
    expect(following(schedule, after, times.length)).toEqual(times)
  })

  describe('when the clocks change', () => {
    it.each<[string, string, string, string, string[]]>([
      ['Berlin in March: a time in the hour that is skipped is left out', 'Europe/Berlin', '30 2 * * *', '2026-03-28T00:00:00Z', ['2026-03-28T01:30:00Z', '2026-03-30T00:30:00Z']],
      ['Berlin in March: every hour goes on', 'Europe/Berlin', '0 * * * *', '2026-03-29T00:00:00Z', ['2026-03-29T01:00:00Z', '2026-03-29T02:00:00Z']],
      ['Berlin in March: the hour after it comes on time', 'Europe/Berlin', '0 3 * * *', '2026-03-28T12:00:00Z', ['2026-03-29T01:00:00Z', '2026-03-30T01:00:00Z']],
      ['Berlin in October: a time in the hour that is repeated comes twice', 'Europe/Berlin', '30 2 * * *', '2026-10-24T12:00:00Z', ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z', '2026-10-26T01:30:00Z']],
      ['Berlin in October: the hour after it comes once', 'Europe/Berlin', '0 3 * * *', '2026-10-24T12:00:00Z', ['2026-10-25T02:00:00Z', '2026-10-26T02:00:00Z']],
      ['Berlin in October: midnight comes once', 'Europe/Berlin', '0 0 * * *', '2026-10-24T12:00:00Z', ['2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z']],
      ['New York in March: a time in the hour that is skipped is left out', 'America/New_York', '30 2 * * *', '2026-03-07T12:00:00Z', ['2026-03-09T06:30:00Z']],
      ['New York in March: the hour after it comes on time', 'America/New_York', '0 3 * * *', '2026-03-07T12:00:00Z', ['2026-03-08T07:00:00Z', '2026-03-09T07:00:00Z']],
      ['New York in November: a time in the hour that is repeated comes twice', 'America/New_York', '30 1 * * *', '2026-10-31T12:00:00Z', ['2026-11-01T05:30:00Z', '2026-11-01T06:30:00Z', '2026-11-02T06:30:00Z']],
      ['Lord Howe in October, half an hour: what is skipped is left out', 'Australia/Lord_Howe', '15 2 * * *', '2026-10-03T00:00:00Z', ['2026-10-04T15:15:00Z']],
      ['Lord Howe in October: what is left of the hour is due', 'Australia/Lord_Howe', '45 2 * * *', '2026-10-03T00:00:00Z', ['2026-10-03T15:45:00Z', '2026-10-04T15:45:00Z']],
      ['Lord Howe in October: the hour after it comes on time', 'Australia/Lord_Howe', '0 3 * * *', '2026-10-03T00:00:00Z', ['2026-10-03T16:00:00Z', '2026-10-04T16:00:00Z']],
      ['Lord Howe in April: what is repeated comes twice', 'Australia/Lord_Howe', '45 1 * * *', '2026-04-04T00:00:00Z', ['2026-04-04T14:45:00Z', '2026-04-04T15:15:00Z', '2026-04-05T15:15:00Z']],
      ['Lord Howe in April: the hour after it comes on time', 'Australia/Lord_Howe', '0 3 * * *', '2026-04-04T00:00:00Z', ['2026-04-04T16:30:00Z', '2026-04-05T16:30:00Z']],
      ['Havana in March, at midnight: the day begins an hour later', 'America/Havana', '0 0 * * *', '2026-03-07T12:00:00Z', ['2026-03-09T04:00:00Z']],
      ['Havana in March: a weekday before it is not mistaken for the next', 'America/Havana', '0 5 * * sat', '2026-03-07T12:00:00Z', ['2026-03-14T09:00:00Z']],
      ['Havana in November: midnight comes twice', 'America/Havana', '0 0 * * *', '2026-10-31T12:00:00Z', ['2026-11-01T04:00:00Z', '2026-11-01T05:00:00Z', '2026-11-02T05:00:00Z']],
    ])('%s', (_, zone, schedule, after, times) => {
      expect(following(schedule, after, times.length, zone)).toEqual(times)
    })
  })
})

describe('lastDueTime()', () => {
  it.each<[string, string, string, string, string | undefined]>([
    ['nothing yet', '0 * * * *', '2026-01-01T00:10:00Z', '2026-01-01T00:59:59Z', undefined],
    ['the very moment', '0 * * * *', '2026-01-01T00:10:00Z', '2026-01-01T01:00:00Z', '2026-01-01T01:00:00Z'],
    ['the last of several', '*/15 * * * *', '2026-01-01T00:10:00Z', '2026-01-01T00:50:00Z', '2026-01-01T00:45:00Z'],
    ['the last of very many', '* * * * *', '2016-01-01T00:00:00Z', '2026-01-01T00:00:30Z', '2026-01-01T00:00:00Z'],
    ['one long before now', '30 6-16/4 * * 1-5', '2026-01-01T00:00:00Z', '2026-01-05T06:00:00Z', '2026-01-02T14:30:00Z'],
    ['years before now', '0 0 29 2 *', '2019-01-01T00:00:00Z', '2027-12-31T00:00:00Z', '2024-02-29T00:00:00Z'],
    ['every so often', '@every 7m', '2026-01-01T00:00:00Z', '2026-01-01T01:00:00Z', '2026-01-01T00:56:00Z'],
    ['never', '0 0 31 2 *', '2016-01-01T00:00:00Z', '2026-01-01T00:00:00Z', undefined],
  ])('%s: %s', (_, schedule, since, now, last) => {
    expect(iso(lastDueTime(parseCronSchedule(schedule), Date.parse(since), Date.parse(now), 'UTC'))).toBe(last)
  })
})
