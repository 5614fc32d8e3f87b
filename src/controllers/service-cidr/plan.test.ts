import { describe, expect, test } from 'vitest'
import type { ServiceCIDR } from '../../api/generated/types.ts'
import { type Observed, finalizer, plan, statusOf } from './plan.ts'

const now = Date.parse('2026-01-01T00:01:00Z')
const range = (cidr: string, metadata: object = {}, status = {}): ServiceCIDR =>
  ({ metadata: { name: 'x', finalizers: [finalizer], ...metadata }, spec: { cidrs: [cidr] }, status })
const going = { deletionTimestamp: '2026-01-01T00:00:00Z' }
const seen = (more: Partial<Observed>): Observed => ({ cidr: range('10.1.0.0/24'), others: [], addresses: [], nowMs: now, ...more })
const deleted = range('10.1.0.0/24', going)

test.each<[string, Partial<Observed>, ReturnType<typeof plan>]>([
  ['a new range is protected', { cidr: range('10.1.0.0/24', { finalizers: [] }) }, { actions: [{ kind: 'Protect' }] }],
  ['a protected one is left alone', {}, { actions: [] }],
  ['one that is deleted goes', { cidr: deleted }, { actions: [{ kind: 'LetGo' }] }],
  ['one that was deleted 4 s ago waits for the servers', { cidr: deleted, nowMs: now - 56_000 }, { actions: [], requeueAfterMs: 6000 }],
  ['one with an address stays', { cidr: deleted, addresses: ['10.1.0.5'] }, { actions: [], wait: 'used by 10.1.0.5' }],
  ['one whose addresses lie in another goes', { cidr: deleted, addresses: ['10.1.0.5'], others: [range('10.0.0.0/8')] }, { actions: [{ kind: 'LetGo' }] }],
  ['one whose addresses partly lie in another stays', { cidr: deleted, addresses: ['10.1.0.5', '10.1.0.200'], others: [range('10.1.0.0/25')] }, { actions: [], wait: 'used by 10.1.0.200' }],
  ['one without the finalizer is not waited for', { cidr: range('10.1.0.0/24', { ...going, finalizers: [] }) }, { actions: [] }],
])('%s', (_, more, step) => expect(plan(seen(more))).toEqual(step))

describe('statusOf()', () => {
  const said = (more: Partial<Observed>) => statusOf(seen(more)).conditions?.map(({ type, status, reason }) => [type, status, reason])
  const ready = { conditions: [{ type: 'Ready', status: 'True', reason: '', message: 'as it was', lastTransitionTime: '2026-01-01T00:00:00Z' }] }

  test('says that a range is ready, once', () => {
    expect(said({})).toEqual([['Ready', 'True', '']])
    const cidr = range('10.1.0.0/24', {}, ready)
    expect(statusOf(seen({ cidr }))).toBe(cidr.status)
  })

  test('says that a range which is deleted is in use', () => {
    expect(said({ cidr: range('10.1.0.0/24', going, ready), addresses: ['10.1.0.5'] })).toEqual([['Ready', 'False', 'Terminating']])
    expect(said({ cidr: range('10.1.0.0/24', going, ready) })).toEqual([['Ready', 'True', '']])
  })
})
