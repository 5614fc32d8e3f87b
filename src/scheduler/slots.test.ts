import { describe, expect, it } from 'vitest'
import { Slots } from './slots.ts'

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
