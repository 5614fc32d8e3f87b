import { expect, it } from 'vitest'
import { Process } from './process.ts'
import { Timeline } from './timeline.ts'

function setUp() {
  const timeline = new Timeline(0)
  const process = new Process('p', timeline)
  const heard: string[] = []
  const note = (what: string) => () => heard.push(`${what} at ${timeline.nowMs}`)
  return { timeline, process, heard, note }
}

function runAll(timeline: Timeline): void {
  for (let ran = 0; timeline.runNext(); ran++) if (ran > 1000) throw new Error('things happen without end')
}

it('Timeline runs what is set in the order of times, equal ones in the order they were set, and nothing that was cancelled', () => {
  const { timeline, heard, note } = setUp()
  timeline.after(20, note('c'))
  timeline.after(10, note('a'))
  timeline.cancel(timeline.after(5, note('never')))
  timeline.after(10, note('b'))
  runAll(timeline)
  expect(heard).toEqual(['a at 10', 'b at 10', 'c at 20'])
})

it.each([
  [true, ['message at 50', 'timer at 50']],
  [false, ['timer at 50', 'message at 50']],
])('a paused process notices nothing until it wakes up (messages first: %s)', (messagesFirst, expected) => {
  const { timeline, process, heard, note } = setUp()
  process.clock.after(10, note('timer'))
  process.receive(20, note('message'))
  process.pause()
  timeline.after(50, () => process.resume(messagesFirst))
  runAll(timeline)
  expect(heard).toEqual(expected)
})

it('a timer that is cancelled while its process is paused does not go off afterwards', () => {
  const { timeline, process, heard, note } = setUp()
  const cancel = process.clock.after(10, note('timer'))
  process.pause()
  timeline.after(50, () => {
    cancel()
    process.resume(false)
  })
  runAll(timeline)
  expect(heard).toEqual([])
})

it('nothing comes to a dead process, which others hear of', () => {
  const { timeline, process, heard, note } = setUp()
  process.onDeath(note('death'))
  process.clock.after(10, note('timer'))
  process.receive(10, note('message'))
  timeline.after(5, () => process.kill())
  runAll(timeline)
  process.clock.after(1, note('later'))
  expect(timeline.runNext()).toBe(false)
  expect(heard).toEqual(['death at 5'])
})

it('a clock that jumps changes what time it is, and no timer', () => {
  const { timeline, process, heard, note } = setUp()
  process.clock.after(10, note('timer'))
  process.jumpClock(-1000)
  expect(process.clock.now()).toBe(-1000)
  runAll(timeline)
  expect([heard, process.clock.now()]).toEqual([['timer at 10'], -990])
})

it('a process that goes round in circles while no time passes gets an error, until something happens', () => {
  const { timeline, process } = setUp()
  const circle = () => {
    for (let i = 0; i < 200_000; i++) process.clock.now()
  }
  expect(circle).toThrow('the time was asked for 100000 times while it stood still')
  timeline.after(1, () => {})
  timeline.runNext()
  expect(process.clock.now()).toBe(1)
})
