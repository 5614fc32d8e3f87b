import { expect, it } from 'vitest'
import { VirtualClock } from '../base/virtual-clock.ts'
import { Work, type WorkParts } from './work.ts'

it.each([
  ['gives way after every few decisions, once the turn is spent', true, [4, 8, 12]],
  ['goes on for as long as the turn lasts', false, []],
])('the scheduler %s', async (_, isSpent, expected) => {
  let decided = 0
  const gaveWay: number[] = []
  const turns = {
    isSpent,
    async next() {
      gaveWay.push(decided)
    },
  }
  const clock = Object.assign(new VirtualClock(), { turns })
  const left = Array.from({ length: 15 }, (__, i) => ({ info: { uid: String(i), key: `default/p${i}`, isTerminating: true, pod: {} } }))
  const parts = {
    settings: { clock, parallelBinds: 1 },
    queue: { pop: () => left.shift(), done: () => decided++ },
    recorder: { event() {} },
  }
  const work = new Work(parts as unknown as WorkParts)
  work.start()
  await new Promise<void>((resolve) => setImmediate(resolve))
  await work.stop()
  expect([decided, gaveWay]).toEqual([15, expected])
})
