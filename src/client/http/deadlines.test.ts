import { expect, it } from 'vitest'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { Deadlines } from './deadlines.ts'

it('Deadlines ends each at its own time, and none that was over before, with one timer', async () => {
  const clock = new VirtualClock(0)
  const ended: [string, number][] = []
  const deadlines = new Deadlines<string>(clock, 100, (item) => ended.push([item, clock.now()]))
  deadlines.start('a')
  await clock.advance(30)
  deadlines.start('b')
  deadlines.start('c')
  await clock.advance(30)
  deadlines.start('d')
  expect(clock.pending).toBe(1)
  deadlines.stop('c')
  await clock.advance(1000)
  expect(ended).toEqual([['a', 100], ['b', 130], ['d', 160]])
  expect(clock.pending).toBe(0)
  deadlines.start('e')
  deadlines.stop('e')
  deadlines.start('f')
  await clock.advance(100)
  expect(ended.at(-1)).toEqual(['f', 1160])
  expect(clock.pending).toBe(0)
})

it('Deadlines sets no timer where there is no limit', () => {
  const clock = new VirtualClock(0)
  new Deadlines<string>(clock, 0, () => expect.fail('has no deadline')).start('a')
  expect(clock.pending).toBe(0)
})
