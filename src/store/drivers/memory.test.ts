import { describe, expect, it } from 'vitest'
import type { Clock } from '../../base/clock.ts'
import type { Turns } from '../../base/turns.ts'
import { VirtualClock } from '../../base/virtual-clock.ts'
import type { Store } from '../store.ts'
import { openMemoryStore } from './memory.ts'

/** A machine on which a turn is spent after ten commits. */
function busyMachine(): Clock {
  let asked = 0
  const turns: Turns = {
    get isSpent() {
      return ++asked % 10 === 0
    },
    next: () => Promise.reject(new Error('a commit waits for nobody’s slice')),
  }
  return { now: () => 1000, after: () => () => {}, turns }
}

/** Writes one after the other, each as soon as the one before is answered: what a controller of the same process does. */
async function chain(store: Store, writes: number): Promise<void> {
  let expected = 0
  for (let i = 0; i < writes; i++) {
    const result = await store.write({ key: '/a', expected, value: Buffer.from('x') })
    if (result.ok) expected = result.revision
  }
}

/** The number of event loop turns until `work` is done. */
async function turnsOf(work: Promise<void>): Promise<number> {
  let turns = 0
  let isDone = false
  const count = () => {
    turns++
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  await work
  isDone = true
  return turns
}

describe('a memory store', () => {
  it('lets I/O have its turn, whoever writes without a pause', async () => {
    expect(await turnsOf(chain(openMemoryStore({ clock: busyMachine() }), 1000))).toBeGreaterThanOrEqual(99)
  })

  it('takes microtasks only where time stands still', async () => {
    expect(await turnsOf(chain(openMemoryStore({ clock: new VirtualClock() }), 1000))).toBe(0)
  })
})
