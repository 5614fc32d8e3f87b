import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../base/virtual-clock.ts'
import { Slots, Work, type WorkParts } from './work.ts'

/** Work that ends when it is told to. */
function work() {
  let end!: () => void
  const ended = new Promise<void>((resolve) => (end = resolve))
  return { start: () => ended, end }
}

describe('Slots', () => {
  it('lets so many things happen at a time', async () => {
    const slots = new Slots(2)
    const [first, second] = [work(), work()]
    await slots.run(first.start)
    let isRoom = false
    const room = slots.run(second.start).then(() => (isRoom = true))
    await new Promise((resolve) => setImmediate(resolve))
    expect(isRoom).toBe(false)
    first.end()
    await room
    second.end()
    await slots.allFree()
  })

  it('waits in the end for what takes no room, too', async () => {
    const slots = new Slots(1)
    const aside = work()
    slots.aside(aside.start())
    let isFree = false
    const free = slots.allFree().then(() => (isFree = true))
    await new Promise((resolve) => setImmediate(resolve))
    expect(isFree).toBe(false)
    aside.end()
    await free
  })
})

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
