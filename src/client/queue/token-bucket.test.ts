import { expect, it } from 'vitest'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { TokenBucket } from './token-bucket.ts'

it('TokenBucket lets a burst through, then makes each wait for its own token', () => {
  const clock = new VirtualClock()
  const bucket = new TokenBucket(10, 3, clock)
  expect(Array.from({ length: 6 }, () => bucket.reserve())).toEqual([0, 0, 0, 100, 200, 300])
})

it('TokenBucket fills up with time, to the burst and no further', async () => {
  const clock = new VirtualClock()
  const bucket = new TokenBucket(1 / 300, 2, clock)
  expect([bucket.tryTake(), bucket.tryTake(), bucket.tryTake()]).toEqual([true, true, false])
  await clock.advance(299_999)
  expect(bucket.tryTake()).toBe(false)
  await clock.advance(1)
  expect([bucket.tryTake(), bucket.tryTake()]).toEqual([true, false])
  await clock.advance(86_400_000)
  expect([bucket.tryTake(), bucket.tryTake(), bucket.tryTake()]).toEqual([true, true, false])
})

it('TokenBucket takes nothing for a clock that is set back', () => {
  let nowMs = 1_000_000
  const bucket = new TokenBucket(1, 1, { now: () => nowMs })
  expect(bucket.tryTake()).toBe(true)
  nowMs = 0
  expect(bucket.tryTake()).toBe(false)
  nowMs = 1000
  expect(bucket.tryTake()).toBe(true)
})
