import { describe, expect, it } from 'vitest'
import type { Job } from '../../api/generated/types.ts'
import type { Action } from './apply.ts'
import { type Derived, derive } from './derive.ts'
import type { Observed } from './observe.ts'
import { plan } from './plan.ts'
import { sampleCronJob, sampleJob, sampleReference } from './sample.ts'

const see = (now: string, cronJob = sampleCronJob(), jobs: Job[] = [], more: Partial<Observed> = {}): Derived => derive({
  cronJob,
  jobs,
  nowMs: Date.parse(now),
  localZone: 'UTC',
  scheduledSinceMs: undefined,
  ...more,
})

const shown = (action: Action): string => {
  if (action.kind === 'Tell') return `${action.type} ${action.reason}`
  if (action.kind === 'StartJob') return `start ${action.name} of ${new Date(action.dueMs).toISOString().slice(0, 16)}`
  return `${action.kind} ${action.job.metadata.name}`
}

/** The actions, and the time of the next reconcile. */
const decided = (seen: Derived) => {
  const { actions, requeueAfterMs } = plan(seen)
  const again = requeueAfterMs === undefined ? 'never' : new Date(seen.nowMs + requeueAfterMs).toISOString().slice(0, 21)
  return [...actions.map(shown), `again ${again}`]
}

/** Minutes since the epoch at ten o'clock of the first day of 2026. */
const ten = Date.parse('2026-01-01T10:00:00Z') / 60_000
const nine = { lastScheduleTime: '2026-01-01T09:00:00Z' }
const active = (...names: string[]) => ({ ...nine, active: names.map(sampleReference) })

describe('plan()', () => {
  it.each<[string, Derived, string[]]>([
    ['waits for the first time', see('2026-01-01T09:59:59Z'), ['again 2026-01-01T10:00:00.1']],
    ['starts a job when it is due', see('2026-01-01T10:00:00.1Z'), [`start tidy-${ten} of 2026-01-01T10:00`, 'again 2026-01-01T11:00:00.1']],
    ['starts only the last of several that were missed', see('2026-01-01T13:20:00Z'), [`start tidy-${ten + 180} of 2026-01-01T13:00`, 'again 2026-01-01T14:00:00.1']],
    ['does not start it again', see('2026-01-01T10:30:00Z', sampleCronJob({}, { lastScheduleTime: '2026-01-01T10:00:00Z' })), ['again 2026-01-01T11:00:00.1']],
    ['does not start it again that is active', see('2026-01-01T10:30:00Z', sampleCronJob({}, active(`tidy-${ten}`)), [sampleJob(`tidy-${ten}`)]), ['again 2026-01-01T11:00:00.1']],
    [
      'records one that was started and is not in the status',
      see('2026-01-01T10:30:00Z', sampleCronJob(), [sampleJob(`tidy-${ten}`)]),
      ['Warning UnexpectedJob', `RecordJob tidy-${ten}`, 'again 2026-01-01T11:00:00.1'],
    ],
    ['starts nothing while suspended', see('2026-01-01T10:30:00Z', sampleCronJob({ suspend: true })), ['again never']],
    ['starts what is not too late', see('2026-01-01T10:00:59Z', sampleCronJob({ startingDeadlineSeconds: 60 })), [`start tidy-${ten} of 2026-01-01T10:00`, 'again 2026-01-01T11:00:00.1']],
    ['misses what is too late', see('2026-01-01T10:01:00Z', sampleCronJob({ startingDeadlineSeconds: 60 })), ['Warning MissSchedule', 'again 2026-01-01T11:00:00.1']],
    [
      'tells of very many that were missed, and starts the last',
      see('2026-01-10T10:30:00Z'),
      ['Warning TooManyMissedTimes', `start tidy-${ten + 9 * 1440} of 2026-01-10T10:00`, 'again 2026-01-10T11:00:00.1'],
    ],
    ['counts only those within the deadline', see('2026-01-10T10:30:00Z', sampleCronJob({ startingDeadlineSeconds: 7200 })), [`start tidy-${ten + 9 * 1440} of 2026-01-10T10:00`, 'again 2026-01-10T11:00:00.1']],
    ['starts a hundred that were missed without a word', see('2026-01-05T13:10:00Z'), [`start tidy-${ten + 5940} of 2026-01-05T13:00`, 'again 2026-01-05T14:00:00.1']],
    ['takes nothing for missed that was due by another schedule', see('2026-01-01T10:30:00Z', sampleCronJob(), [], { scheduledSinceMs: Date.parse('2026-01-01T10:20:00Z') }), ['again 2026-01-01T11:00:00.1']],
    [
      'goes by the time zone',
      see('2026-07-01T09:00:00Z', sampleCronJob({ schedule: '0 9 * * *', timeZone: 'America/New_York' }, { lastScheduleTime: '2026-06-30T13:00:00Z' })),
      ['again 2026-07-01T13:00:00.1'],
    ],
    ['goes by the local zone without one', see('2026-01-01T09:45:00Z', sampleCronJob({ schedule: '0 11 * * *' }), [], { localZone: 'Europe/Berlin' }), ['again 2026-01-01T10:00:00.1']],
    ['goes by the zone in the schedule, and says that it should not', see('2026-01-01T09:45:00Z', sampleCronJob({ schedule: 'TZ=Europe/Berlin 0 11 * * *' })), ['Warning UnsupportedSchedule', 'again 2026-01-01T10:00:00.1']],
    ['keeps to the rhythm of @every', see('2026-01-01T10:17:00Z', sampleCronJob({ schedule: '@every 10m' })), [`start tidy-${ten + 10} of 2026-01-01T10:10`, 'again 2026-01-01T10:20:00.1']],
    ['keeps to the rhythm of @every with a deadline', see('2026-01-01T09:40:00Z', sampleCronJob({ schedule: '@every 10m', startingDeadlineSeconds: 30 })), [`start tidy-${ten - 20} of 2026-01-01T09:40`, 'again 2026-01-01T09:50:00.1']],
    ['tells of a zone that does not exist', see('2026-01-01T10:30:00Z', sampleCronJob({ timeZone: 'Mars/Olympus' })), ['Warning UnknownTimeZone', 'again never']],
    ['tells of a schedule that is none', see('2026-01-01T10:30:00Z', sampleCronJob({ schedule: 'often' })), ['Warning UnparseableSchedule', 'again never']],
    ['tells of a day that never comes', see('2026-01-01T10:30:00Z', sampleCronJob({ schedule: '59 23 31 2 *' })), ['Warning InvalidSchedule', 'again never']],
  ])('%s', (_, seen, wanted) => {
    expect(decided(seen)).toEqual(wanted)
  })

  describe('while another job is active', () => {
    it.each<[string, string[]]>([
      ['Allow', [`start tidy-${ten} of 2026-01-01T10:00`]],
      ['Forbid', ['Normal JobAlreadyActive']],
      ['Replace', ['DeleteReplaced tidy-1', `start tidy-${ten} of 2026-01-01T10:00`]],
    ])('does as concurrencyPolicy %s says', (concurrencyPolicy, wanted) => {
      const seen = see('2026-01-01T10:00:30Z', sampleCronJob({ concurrencyPolicy }, active('tidy-1')), [sampleJob('tidy-1')])
      expect(decided(seen)).toEqual([...wanted, 'again 2026-01-01T11:00:00.1'])
    })

    it('starts one when it has ended, and Forbid kept it waiting', () => {
      const seen = see('2026-01-01T10:00:30Z', sampleCronJob({ concurrencyPolicy: 'Forbid' }, active('tidy-1')), [sampleJob('tidy-1', 'Failed')])
      expect(decided(seen)).toEqual(['Normal SawCompletedJob', `start tidy-${ten} of 2026-01-01T10:00`, 'again 2026-01-01T11:00:00.1'])
    })

    it('leaves a job alone that it does not know, whatever the policy', () => {
      const seen = see('2026-01-01T10:00:30Z', sampleCronJob({ concurrencyPolicy: 'Replace' }, nine), [sampleJob('by-hand')])
      expect(decided(seen)).toEqual(['Warning UnexpectedJob', `start tidy-${ten} of 2026-01-01T10:00`, 'again 2026-01-01T11:00:00.1'])
    })
  })

  it('tells of an active job that is gone', () => {
    expect(decided(see('2026-01-01T09:40:00Z', sampleCronJob({}, active('tidy-1'))))).toEqual(['Normal MissingJob', 'again 2026-01-01T10:00:00.1'])
  })

  it('has the words of Kubernetes', () => {
    const tidy = sampleCronJob({ startingDeadlineSeconds: 60 }, active('tidy-1', 'tidy-2'))
    const { actions } = plan(see('2026-01-01T10:01:00Z', tidy, [sampleJob('tidy-1', 'Failed'), sampleJob('by-hand')]))
    expect(actions.map((a) => (a.kind === 'Tell' ? a.message : a.kind))).toEqual([
      'Saw a job that the controller did not create or forgot: by-hand',
      'Saw completed job: tidy-1, condition: Failed',
      'Active job went missing: tidy-2',
      'Missed scheduled time to start a job: Thu, 01 Jan 2026 10:00:00 +0000',
    ])
  })

  describe('keeps a history', () => {
    const times = (hour: number) => ({ start: `2026-01-01T0${hour}:00:00Z`, completion: `2026-01-01T0${hour}:10:00Z` })
    const jobs = [
      sampleJob('c', 'Complete', times(3)),
      sampleJob('a', 'Complete', times(1)),
      sampleJob('b', 'Complete', times(2)),
      sampleJob('f', 'Failed', times(5)),
      sampleJob('e', 'Failed', times(4)),
      sampleJob('d', 'Failed', times(4)),
      sampleJob('never-started', 'Failed'),
      sampleJob('running', undefined, times(1)),
    ]
    it.each<[string, number | undefined, number | undefined, string[]]>([
      ['of three and one by default', 3, 1, ['d', 'e', 'f']],
      ['of one each', 1, 1, ['a', 'b', 'd', 'e', 'f']],
      ['of none', 0, 0, ['a', 'b', 'c', 'd', 'e', 'f', 'never-started']],
      ['of all without limits', undefined, undefined, []],
    ])('%s', (_, successfulJobsHistoryLimit, failedJobsHistoryLimit, deleted) => {
      const cronJob = sampleCronJob({ successfulJobsHistoryLimit, failedJobsHistoryLimit } as never, active('running'))
      const { actions } = plan(see('2026-01-01T09:40:00Z', cronJob, jobs))
      expect(actions.map((a) => (a.kind === 'DeleteSurplus' ? a.job.metadata.name : a.kind))).toEqual(deleted)
    })

    it('and does not delete twice', () => {
      const going = { ...jobs[1]!, metadata: { ...jobs[1]!.metadata, deletionTimestamp: '2026-01-01T09:39:00Z' } }
      expect(plan(see('2026-01-01T09:40:00Z', sampleCronJob({ successfulJobsHistoryLimit: 2 }), [going, jobs[0]!, jobs[2]!])).actions).toEqual([])
    })
  })
})
