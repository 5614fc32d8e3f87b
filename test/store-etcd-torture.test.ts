import { expect, it } from 'vitest'
import { torture } from './etcd/torture.ts'

const seed = Number(process.env.TORTURE_SEED ?? 20261118)
/** Longer by `npm run torture`. */
const seconds = Number(process.env.TORTURE_SECONDS ?? 15)

it('two servers on three members lose nothing, write nothing twice and read nothing stale while everything fails in turn', async () => {
  const isLong = process.env.TORTURE_SECONDS !== undefined
  const report = await torture({ seconds, seed, ...(isLong ? { say: (line: string) => console.log(line) } : {}) })
  if (isLong) console.log(JSON.stringify(report))
  expect(report.problems).toEqual([])
  // Otherwise the rules would have nothing to judge.
  expect(report.rollouts).toBeGreaterThan(0)
  expect(report.events).toBeGreaterThan(0)
  if (seconds >= 120) expect(report.leaders).toBeGreaterThan(0)
  // 15 seconds of a busy machine are enough for some 80 writes, of a quiet one for thousands.
  expect(report.acknowledged).toBeGreaterThan(30)
  expect(report.reads).toBeGreaterThan(30)
}, seconds * 1000 + 180_000)
