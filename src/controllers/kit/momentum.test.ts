import { expect, test } from 'vitest'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { Momentum } from './momentum.ts'

const owner = (uid: string, image: string, replicas = 1) => ({ metadata: { namespace: 'default', name: 'web', uid }, spec: { replicas, template: { image } } })

test.each<[string, ReturnType<typeof owner>, string, number, number]>([
  ['the same, more of it', owner('1', 'a', 9), 'CreatePod', 10_000, 64],
  ['another owner of the name', owner('2', 'a'), 'CreatePod', 0, 1],
  ['another template', owner('1', 'b'), 'CreatePod', 0, 1],
  ['another kind of action', owner('1', 'a'), 'CreateClaim', 0, 1],
  ['long after', owner('1', 'a'), 'CreatePod', 10_001, 1],
])('a slow start goes on where it got to: %s', async (_, next, kind, afterMs, width) => {
  const clock = new VirtualClock()
  const momentum = new Momentum(clock)
  momentum.keep(owner('1', 'a'), 'CreatePod', 64)
  await clock.advance(afterMs)
  expect(momentum.startWidth(next, kind)).toBe(width)
  momentum.forget('default/web')
  expect(momentum.startWidth(owner('1', 'a'), 'CreatePod')).toBe(1)
})
