import { expect, it } from 'vitest'
import { VirtualClock } from './virtual-clock.ts'

it('VirtualClock stands still until it is advanced', () => {
  const clock = new VirtualClock(1000)
  const ran: string[] = []
  clock.after(10, () => ran.push('ten'))
  expect([clock.now(), ran]).toEqual([1000, []])
  clock.advance(9)
  expect([clock.now(), ran]).toEqual([1009, []])
  clock.advance(1)
  expect([clock.now(), ran]).toEqual([1010, ['ten']])
})

it('VirtualClock runs timers in the order of their times, equal ones in the order they were set, each at its own time', () => {
  const clock = new VirtualClock(0)
  const ran: [string, number][] = []
  const note = (name: string) => () => ran.push([name, clock.now()])
  clock.after(20, note('b'))
  clock.after(10, note('a'))
  clock.after(20, note('c'))
  clock.advance(100)
  expect(ran).toEqual([['a', 10], ['b', 20], ['c', 20]])
  expect(clock.now()).toBe(100)
})

it('VirtualClock runs a timer that a timer sets, if it falls due in the same stretch', () => {
  const clock = new VirtualClock(0)
  const times: number[] = []
  const again = () => {
    times.push(clock.now())
    clock.after(10, again)
  }
  clock.after(10, again)
  clock.advance(35)
  expect(times).toEqual([10, 20, 30])
  expect(clock.pending).toBe(1)
})

it('VirtualClock does not run what was cancelled, nor take fright at cancelling twice', () => {
  const clock = new VirtualClock(0)
  let ran = 0
  const cancel = clock.after(10, () => ran++)
  clock.after(10, () => ran++)
  cancel()
  cancel()
  clock.advance(10)
  expect(ran).toBe(1)
})

it('VirtualClock runs a timer in the past at once, without going back', () => {
  const clock = new VirtualClock(50)
  clock.after(-10, () => {})
  clock.advance(0)
  expect([clock.now(), clock.pending]).toEqual([50, 0])
})

it('VirtualClock.pass() lets everything that follows from a timer happen before the next', async () => {
  const clock = new VirtualClock(0)
  const ran: [string, number][] = []
  const note = async (name: string) => {
    for (let i = 0; i < 20; i++) await Promise.resolve()
    ran.push([name, clock.now()])
  }
  clock.after(10, () => void note('a').then(() => clock.after(5, () => void note('c'))))
  clock.after(20, () => void note('b'))
  await clock.pass(30)
  expect(ran).toEqual([['a', 10], ['c', 15], ['b', 20]])
  expect(clock.now()).toBe(30)
})

it('VirtualClock refuses timers that set each other without end', async () => {
  const clock = new VirtualClock(0)
  const again = () => void clock.after(0, again)
  clock.after(10, again)
  expect(() => clock.advance(10)).toThrow('100000 timers have run while time stands still at 1970-01-01T00:00:00.010Z')
  await expect(clock.pass(10)).rejects.toThrow('something goes on without end')
})

it('VirtualClock refuses to be asked for the time without end', async () => {
  const clock = new VirtualClock(0)
  const forever = async () => {
    for (let i = 0; ; i++) if (clock.now() < 0) return i
  }
  await expect(forever()).rejects.toThrow('the time was asked for 200000 times while time stands still')
  clock.advance(1)
  expect(clock.now()).toBe(1)
})
