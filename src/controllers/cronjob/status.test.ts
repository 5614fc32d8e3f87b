import { describe, expect, it } from 'vitest'
import type { CronJob, Job } from '../../api/generated/types.ts'
import type { Action } from './apply.ts'
import { derive } from './derive.ts'
import { sampleCronJob, sampleJob, sampleReference } from './sample.ts'
import { status } from './status.ts'

const dueMs = Date.parse('2026-01-01T10:00:00Z')

function statusOf(before: CronJob['status'], jobs: Job[], done: [Action, unknown][] = []) {
  const seen = { cronJob: sampleCronJob({}, before), jobs, nowMs: dueMs, localZone: 'UTC', scheduledSinceMs: undefined }
  return status(derive(seen), { done: done.map(([action]) => action), failed: [], skipped: [], answers: new Map(done), wait: undefined })
}

describe('status()', () => {
  it('is empty at first', () => {
    expect(statusOf({}, [])).toEqual({})
  })

  it('lists the job that was started, and when it was due', () => {
    const job = sampleJob('tidy-2')
    expect(statusOf({ active: [sampleReference('tidy-1')] }, [sampleJob('tidy-1')], [[{ kind: 'StartJob', name: 'tidy-2', dueMs }, job]])).toEqual({
      active: [sampleReference('tidy-1'), sampleReference('tidy-2')],
      lastScheduleTime: '2026-01-01T10:00:00Z',
    })
  })

  it('does not claim the job of another that has the name', () => {
    expect(statusOf({}, [], [[{ kind: 'StartJob', name: 'tidy-2', dueMs }, undefined]])).toEqual({})
  })

  it('lists a job that was found started, unless it has ended', () => {
    const [running, ended] = [sampleJob('tidy-2'), sampleJob('tidy-2', 'Failed')]
    const lastScheduleTime = '2026-01-01T10:00:00Z'
    expect(statusOf({}, [running], [[{ kind: 'RecordJob', job: running, dueMs }, running]])).toEqual({ active: [sampleReference('tidy-2')], lastScheduleTime })
    expect(statusOf({}, [ended], [[{ kind: 'RecordJob', job: ended, dueMs }, ended]])).toEqual({ lastScheduleTime })
  })

  it('does not list a job that was replaced, that ended, or that is gone', () => {
    const replaced = sampleJob('tidy-1')
    const before = { active: ['tidy-1', 'tidy-2', 'tidy-3'].map(sampleReference) }
    expect(statusOf(before, [replaced, sampleJob('tidy-2', 'Failed')], [[{ kind: 'DeleteReplaced', job: replaced }, undefined]])).toEqual({})
  })

  it('has the last success, even of a job that it does not know, and keeps it when the job is deleted', () => {
    const jobs = [sampleJob('b', 'Complete', { completion: '2026-01-01T09:00:00Z' }), sampleJob('a', 'Complete', { completion: '2026-01-01T08:00:00Z' }), sampleJob('c', 'Failed')]
    expect(statusOf({}, jobs)).toEqual({ lastSuccessfulTime: '2026-01-01T09:00:00Z' })
    expect(statusOf({ lastSuccessfulTime: '2026-01-01T09:30:00Z' }, jobs)).toEqual({ lastSuccessfulTime: '2026-01-01T09:30:00Z' })
  })
})
