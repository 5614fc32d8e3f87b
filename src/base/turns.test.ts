import { describe, expect, it } from 'vitest'
import { systemClock, turnsOf } from './clock.ts'
import { LoopTurns, type Turns, endlessTurn, everySteps, inSlices, shortSteps, sliceMs, stepByStep } from './turns.ts'
import { VirtualClock } from './virtual-clock.ts'

/** A loop of which each turn is taken by hand, and a clock that each step moves on. */
function scene() {
  let nowMs = 1000
  let due: (() => void)[] = []
  const turns = new LoopTurns(() => nowMs, (fn) => due.push(fn))
  return {
    turns,
    pass: (ms: number) => (nowMs += ms),
    /** The next turn, with all that follows from it at once. */
    turn: async () => {
      const now = due
      due = []
      for (const fn of now) fn()
      for (let i = 0; i < 20; i++) await Promise.resolve()
    },
    get isIdle() {
      return due.length === 0
    },
  }
}

describe('LoopTurns', () => {
  it('is spent once slices have taken their time, and anew in each turn', async () => {
    const { turns, pass, turn } = scene()
    expect(turns.isSpent).toBe(false)
    pass(sliceMs - 1)
    expect(turns.isSpent).toBe(false)
    pass(1)
    expect(turns.isSpent).toBe(true)
    await turn()
    expect(turns.isSpent).toBe(false)
  })

  it('does many steps in as many turns as they take, whatever a step takes', async () => {
    const loop = scene()
    const steps: number[] = []
    const done = inSlices(loop.turns, Array(100).keys(), (i) => {
      steps.push(i)
      loop.pass(1)
    })
    let turnsTaken = 0
    for (; !loop.isIdle && turnsTaken < 1000; turnsTaken++) {
      const before = steps.length
      await loop.turn()
      expect(steps.length - before).toBeLessThan(sliceMs + shortSteps)
    }
    await done
    expect(steps).toEqual([...Array(100).keys()])
    expect(turnsTaken).toBeGreaterThanOrEqual(6)
  })

  it('gives turns to flows in turn, so that who does much at once does not keep others waiting', async () => {
    const { turns, pass, turn } = scene()
    const log: string[] = []
    const flows = [...Array(20).fill('many'), 'few', 'few', undefined] as (string | undefined)[]
    for (const flow of flows) {
      void turns.next(flow).then(() => {
        log.push(flow ?? 'nobody')
        pass(sliceMs)
      })
    }
    for (let i = 0; i < 6; i++) await turn()
    expect(log).toEqual(['many', 'few', 'nobody', 'many', 'few', 'many'])
  })

  it('gives a turn to one at a time, so that many at once hold it no longer than one', async () => {
    const loop = scene()
    const steps = new Map<string, number>()
    let spentMs = 0
    const work = (name: string) =>
      inSlices(loop.turns, Array(100).keys(), () => {
        steps.set(name, (steps.get(name) ?? 0) + 1)
        loop.pass(1)
        spentMs++
      })
    const all = Promise.all(['a', 'b', 'c', 'd', 'e'].map(work))
    let longestMs = 0
    for (let i = 0; i < 200; i++) {
      spentMs = 0
      await loop.turn()
      longestMs = Math.max(longestMs, spentMs)
      if (i === 20) expect(Math.min(...steps.values())).toBeGreaterThan(20) // none starves
    }
    await all
    expect([...steps.values()]).toEqual([100, 100, 100, 100, 100])
    expect(longestMs).toBeLessThan(sliceMs + shortSteps + 5)
  })

  it('gives what one leaves of a turn to the next ones', async () => {
    const { turns, pass, turn } = scene()
    expect(turns.isSpent).toBe(false)
    pass(sliceMs)
    const served: number[] = []
    for (let i = 0; i < 10; i++) {
      void turns.next().then(() => {
        served.push(i)
        pass(sliceMs / 4)
      })
    }
    await turn()
    expect(served).toEqual([0, 1, 2, 3])
    await turn()
    await turn()
    expect(served).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  it('takes a clock that was set back for a spent turn', () => {
    const { turns, pass } = scene()
    expect(turns.isSpent).toBe(false)
    pass(-60_000)
    expect(turns.isSpent).toBe(true)
  })
})

describe('work of many steps', () => {
  const spent = (): Turns & { asked: number } => ({
    asked: 0,
    get isSpent() {
      this.asked++
      return true
    },
    next: () => new Promise((resolve) => setImmediate(resolve)),
  })

  it('does not wait before it has done a few', () => {
    const slices = everySteps(3, spent())
    expect([slices.isSpent, slices.isSpent, slices.isSpent, slices.isSpent]).toEqual([false, false, true, false])
  })

  it('is done at once as far as the turn goes, then in others', async () => {
    const seen: number[] = []
    await new Promise<void>((resolve) => {
      stepByStep(spent(), [...Array(40).keys()], (i) => seen.push(i), resolve)
      expect(seen).toHaveLength(shortSteps)
    })
    expect(seen).toEqual([...Array(40).keys()])
  })

  it('is done at once where the turn does not end', () => {
    let isDone = false
    stepByStep(endlessTurn, [...Array(1000).keys()], () => {}, () => (isDone = true))
    expect(isDone).toBe(true)
  })

  it('can be broken off', async () => {
    const seen: number[] = []
    const stop = stepByStep(spent(), [...Array(100).keys()], (i) => seen.push(i), () => seen.push(-1))
    stop()
    await new Promise((resolve) => setImmediate(resolve))
    expect(seen).toHaveLength(shortSteps)
  })
})

describe('turnsOf()', () => {
  it('lets I/O come between on the machine’s own loop', async () => {
    const order: string[] = []
    setImmediate(() => order.push('others'))
    await turnsOf(systemClock).next()
    expect(order).toEqual(['others'])
  })

  it('never waits where time stands still', () => expect(turnsOf(new VirtualClock())).toBe(endlessTurn))
})
