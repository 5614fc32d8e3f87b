import { expect, test } from 'vitest'
import { ApiError } from '../../../api/errors.ts'
import { Logger } from '../../../base/logger.ts'
import { SeededRandom } from '../../../base/seeded-random.ts'
import { VirtualClock } from '../../../base/virtual-clock.ts'
import { KeyLoop } from './key-loop.ts'

test('KeyLoop says once that a permission is lacking, and processes all keys within seconds of the grant', async () => {
  const clock = new VirtualClock()
  const lines: string[] = []
  const logger = new Logger((line) => lines.push(line), 'info', {}, () => clock.now())
  let isAllowed = false
  const done = new Set<string>()
  const loop = new KeyLoop('bin', { workers: 2, clock, random: new SeededRandom(1), logger, metrics: undefined, signal: new AbortController().signal }, async (key) => {
    if (!isAllowed) throw new ApiError(403, 'Forbidden', `pods "${key}" is forbidden: User "u" cannot delete resource "pods" in API group "" in the namespace "n"`)
    done.add(key)
    return undefined
  })
  loop.start()
  for (let i = 0; i < 500; i++) loop.queue.add(`n/${i}`)
  await clock.pass(600_000)
  expect(lines).toHaveLength(1)
  expect(loop.problems()).toEqual(['bin: User "u" cannot delete resource "pods" in API group "": 500 objects wait for it'])
  isAllowed = true
  await clock.pass(5000)
  expect([done.size, loop.problems(), lines.length]).toEqual([500, [], 1])
  await loop.stop()
})
