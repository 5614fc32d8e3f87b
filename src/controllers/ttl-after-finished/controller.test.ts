import { describe, expect, it } from 'vitest'
import type { Job } from '../../api/generated/types.ts'
import { isOnTheClock, plan } from './controller.ts'

const nowMs = Date.parse('2026-01-01T00:10:00Z')

const job = (ttlSecondsAfterFinished: number | undefined, end?: { type: string; status?: string; at?: string }): Job =>
  ({
    metadata: { name: 'job', namespace: 'default' },
    spec: { ttlSecondsAfterFinished, template: {} },
    status: { conditions: end ? [{ type: end.type, status: end.status ?? 'True', lastTransitionTime: end.at }] : [] },
  }) as unknown as Job

const at = '2026-01-01T00:09:00Z'

describe('plan() of a job that', () => {
  it.each([
    { name: 'has no limit', given: job(undefined, { type: 'Complete', at }), wanted: 'nothing' },
    { name: 'runs', given: job(10), wanted: 'nothing' },
    { name: 'is about to fail', given: job(10, { type: 'FailureTarget', at }), wanted: 'nothing' },
    { name: 'is not complete after all', given: job(10, { type: 'Complete', status: 'False', at }), wanted: 'nothing' },
    { name: 'does not say when it ended', given: job(10, { type: 'Complete' }), wanted: 'nothing' },
    { name: 'completed a minute ago and may stay for two', given: job(120, { type: 'Complete', at }), wanted: 60_000 },
    { name: 'failed a minute ago and may stay for two', given: job(120, { type: 'Failed', at }), wanted: 60_000 },
    { name: 'may stay for 68 years', given: job(2 ** 31 - 1, { type: 'Failed', at }), wanted: (2 ** 31 - 1) * 1000 - 60_000 },
    { name: 'will have ended in a minute, by its clock', given: job(0, { type: 'Complete', at: '2026-01-01T00:11:00Z' }), wanted: 60_000 },
    { name: 'has had its time', given: job(60, { type: 'Complete', at }), wanted: 'Delete' },
    { name: 'may not stay at all', given: job(0, { type: 'Failed', at: '2026-01-01T00:10:00Z' }), wanted: 'Delete' },
  ])('$name', ({ given, wanted }) => {
    const step = plan({ job: given, nowMs })
    expect(step.actions[0]?.kind ?? step.requeueAfterMs ?? 'nothing').toBe(wanted)
    expect(isOnTheClock(given)).toBe(wanted !== 'nothing')
  })
})
