import { describe, expect, it } from 'vitest'
import { Patience } from './patience.ts'

describe('Patience', () => {
  let now = 5000
  const borne = (patience: Patience) => {
    let n = 0
    while (n < 5000 && patience.bear()) n++
    return n
  }

  it('bears a thousand at once, and a hundred more each second', () => {
    const patience = new Patience(() => now)
    expect(borne(patience)).toBe(1000)
    now += 1000
    // One was counted that was not borne.
    expect(borne(patience)).toBe(99)
  })

  it('bears no more after a long peace than at first', () => {
    const patience = new Patience(() => now)
    now += 3_600_000
    expect(borne(patience)).toBe(1000)
  })

  it('bears a hundred a second for ever', () => {
    const patience = new Patience(() => now)
    for (let i = 0; i < 10_000; i++, now += 10) expect(patience.bear()).toBe(true)
  })
})
