import { expect, it } from 'vitest'
import type { Lease, LeaseSpec } from '../../api/generated/types.ts'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { claimLease, newerVersion, readLease } from './lease-record.ts'
import { ObservedLease } from './observed-lease.ts'

const lease = (spec: LeaseSpec, metadata: Lease['metadata'] = {}): Lease => ({ metadata: { name: 'test', uid: 'u', ...metadata }, spec })

function setUp() {
  const clock = new VirtualClock()
  const expired: number[] = []
  const startMs = clock.now()
  const observed = new ObservedLease(clock, 15_000, () => expired.push(clock.now() - startMs))
  return { clock, observed, expired }
}

it('ObservedLease is free where there never was a lease', () => {
  const { observed } = setUp()
  observed.see(undefined)
  expect([observed.isFreeFor('a'), observed.holder, observed.transitions]).toEqual([true, '', 0])
})

it('ObservedLease is free for its holder, and for others once that one’s own duration has passed without a renewal', async () => {
  const { clock, observed, expired } = setUp()
  observed.see(lease({ holderIdentity: 'a', leaseDurationSeconds: 5, renewTime: '1' }))
  expect([observed.isFreeFor('a'), observed.isFreeFor('b')]).toEqual([true, false])
  await clock.advance(4000)
  observed.see(lease({ holderIdentity: 'a', leaseDurationSeconds: 5, renewTime: '2' }))
  await clock.advance(3000)
  observed.see(lease({ holderIdentity: 'a', leaseDurationSeconds: 5, renewTime: '2' }, { labels: { not: 'a-renewal' } }))
  await clock.advance(1999)
  expect(observed.isFreeFor('b')).toBe(false)
  await clock.advance(1)
  expect([observed.isFreeFor('b'), expired]).toEqual([true, [9000]])
})

it.each<[string, Lease | undefined, boolean]>([
  ['given up', lease({ holderIdentity: '', leaseDurationSeconds: 1 }), true],
  ['emptied', lease({ holderIdentity: '', leaseDurationSeconds: 15 }), false],
  ['without a spec', { metadata: {} } as Lease, false],
  ['deleted', undefined, false],
])('ObservedLease that is %s after it was held: free at once is %s', async (_, then, isFree) => {
  const { clock, observed } = setUp()
  observed.see(lease({ holderIdentity: 'a', leaseDurationSeconds: 5 }))
  await clock.advance(20_000)
  observed.see(lease({ holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 3 }))
  observed.see(then)
  expect([observed.isFreeFor('b'), observed.transitions]).toEqual([isFree, 3])
  await clock.advance(15_000)
  expect(observed.isFreeFor('b')).toBe(true)
})

it.each<[string, unknown, object]>([
  ['nothing', undefined, { holder: '', durationMs: undefined, transitions: 0, lastWritten: '', isReleased: false }],
  ['null', null, { holder: '', transitions: 0 }],
  ['what is right', { holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 2 }, { holder: 'a', durationMs: 15_000, transitions: 2 }],
  ['a duration of nothing', { holderIdentity: 'a', leaseDurationSeconds: 0 }, { durationMs: undefined }],
  ['other types', { holderIdentity: 7, leaseDurationSeconds: '15', leaseTransitions: 'x' }, { holder: '', durationMs: undefined, transitions: 0 }],
  ['what was given up', { holderIdentity: '', leaseDurationSeconds: 1 }, { isReleased: true }],
])('readLease() makes sense of a spec that is %s', (_, spec, wanted) => {
  expect(readLease({ metadata: {}, spec: spec as LeaseSpec })).toMatchObject(wanted)
})

it.each([
  ['', '', ''],
  ['9', '10', '10'],
  ['10', '9', '10'],
  ['', '5', '5'],
  ['5', 'yesterday', '5'],
  ['yesterday', '5', '5'],
  ['-1', '1e3', ''],
  ['99999999999999999999998', '99999999999999999999999', '99999999999999999999999'],
])('newerVersion() of %j and %j is %j', (a, b, wanted) => {
  expect(newerVersion(a, b)).toBe(wanted)
})

it('claimLease() leaves alone what is none of its business', () => {
  const old = lease(
    { holderIdentity: 'a', acquireTime: '2025-01-01T00:00:00.000000Z', strategy: 'x' },
    { resourceVersion: '7', labels: { l: '1' }, annotations: { other: '2' } },
  )
  const claim = { namespace: 'ns', name: 'test', holder: 'b', durationMs: 15_000, transitions: 4, nowMs: Date.UTC(2026, 0, 1), lastWritten: '12' }
  expect(claimLease(old, { ...claim, acquiredAtMs: undefined })).toEqual({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name: 'test', namespace: 'ns', uid: 'u', resourceVersion: '7', labels: { l: '1' },
      annotations: { other: '2', 'coxswain.dev/last-written': '12' },
    },
    spec: {
      holderIdentity: 'b', acquireTime: '2025-01-01T00:00:00.000000Z', strategy: 'x',
      leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.000000Z', leaseTransitions: 4,
    },
  })
  expect(claimLease(undefined, { ...claim, acquiredAtMs: claim.nowMs, lastWritten: '' })).toMatchObject({
    metadata: { name: 'test', namespace: 'ns' },
    spec: { acquireTime: '2026-01-01T00:00:00.000000Z' },
  })
})
