import { tmpdir } from 'node:os'
import { expect, it } from 'vitest'
import { systemClock } from '../../base/clock.ts'
import { thisMachine } from './this-machine.ts'

it('this machine has something of everything, and has not less than what is left of it', async () => {
  const machine = thisMachine(tmpdir(), systemClock)
  const { cpuNanos, atMs: _, ...supplies } = await machine.look()
  for (const [name, { capacity, available }] of Object.entries(supplies)) {
    expect([name, available > 0, available <= capacity]).toEqual([name, true, true])
  }
  expect((await machine.look()).cpuNanos).toBeGreaterThanOrEqual(cpuNanos)
})
