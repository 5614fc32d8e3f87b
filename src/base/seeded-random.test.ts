import { expect, it } from 'vitest'
import { SeededRandom } from './seeded-random.ts'

const draws = (random: SeededRandom, count = 1000) => Array.from({ length: count }, () => random.next())

it('SeededRandom draws the same for the same seed, and something else for another', () => {
  expect(draws(new SeededRandom(7))).toEqual(draws(new SeededRandom(7)))
  expect(draws(new SeededRandom(7))).not.toEqual(draws(new SeededRandom(8)))
  expect(new SeededRandom('7').next()).toBe(new SeededRandom(7).next())
})

it('SeededRandom.fork() depends on the name, not on what was drawn before', () => {
  const random = new SeededRandom(7)
  const early = draws(random.fork('network'))
  draws(random)
  expect(draws(random.fork('network'))).toEqual(early)
  expect(draws(random.fork('disk'))).not.toEqual(early)
  expect(draws(random.fork('network').fork('a'))).not.toEqual(draws(random.fork('disk').fork('a')))
})

it('SeededRandom draws evenly from [0, 1), also over the first draw of many seeds', () => {
  for (const values of [draws(new SeededRandom(1), 20_000), Array.from({ length: 20_000 }, (_, seed) => new SeededRandom(seed).next())]) {
    const buckets = Array.from({ length: 10 }, () => 0)
    for (const value of values) buckets[Math.floor(value * 10)]!++
    expect(Math.min(...buckets)).toBeGreaterThan(1800)
    expect(Math.max(...buckets)).toBeLessThan(2200)
  }
})

it('SeededRandom makes UUIDs of version 4, all different', () => {
  const random = new SeededRandom(1)
  const uuids = Array.from({ length: 1000 }, () => random.uuid())
  expect(new Set(uuids).size).toBe(1000)
  for (const uuid of uuids) expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})

it('SeededRandom picks, chances and ranges stay within their bounds', () => {
  const random = new SeededRandom(3)
  for (let i = 0; i < 1000; i++) {
    expect(random.between(5, 6)).toBeGreaterThanOrEqual(5)
    expect(random.between(5, 6)).toBeLessThan(6)
    expect([0, 1, 2]).toContain(random.below(3))
    expect(['a', 'b']).toContain(random.pick(['a', 'b']))
  }
  expect(random.chance(0)).toBe(false)
  expect(random.chance(1)).toBe(true)
})
