import { describe, expect, it } from 'vitest'
import type { Node } from '../../api/generated/types.ts'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { PodInfo } from '../cluster/pod-info.ts'
import type { FilterPlugin } from '../plugins/plugin.ts'
import { type PodSketch, samplePod, sampleWorld } from '../plugins/sample-world.ts'
import { SchedulingQueue, backoffMs } from './scheduling-queue.ts'
import type { ClusterEvent } from './unschedulable-pods.ts'

/** Nodes help pods that it rejected, if they are called `good`. */
const picky: FilterPlugin = { name: 'Picky', filter: () => undefined, hears: ['NodeAdd'], helps: (event) => event.kind === 'NodeAdd' && event.node.metadata.name === 'good' }
const nodeCame = (name: string): ClusterEvent => ({ kind: 'NodeAdd', node: { metadata: { name } } as Node })
const byPicky = new Set(['Picky'])

function makeQueue() {
  const clock = new VirtualClock()
  let wakes = 0
  const queue = new SchedulingQueue({ clock, plugins: [picky], world: sampleWorld(), onActive: () => wakes++ })
  const add = (name: string, sketch: PodSketch = {}) => queue.add(new PodInfo(samplePod(name, sketch)))
  const next = () => queue.pop()?.info.key.replace('default/', '')
  return { clock, queue, add, next, wakes: () => wakes }
}

describe('SchedulingQueue', () => {
  it('gives the important pods first, then those that wait longest', () => {
    const { clock, add, next } = makeQueue()
    add('first')
    clock.advance(10)
    add('second')
    add('important', { spec: { priority: 10 } })
    expect([next(), next(), next(), next()]).toEqual(['important', 'first', 'second', undefined])
  })

  it('keeps a pod that no node is right for until something happens that helps it', () => {
    const { queue, add, next } = makeQueue()
    add('web')
    queue.reject(queue.pop()!, byPicky)
    expect(next()).toBeUndefined()
    queue.wake(nodeCame('bad'))
    queue.wake({ kind: 'NodeDelete', node: { metadata: { name: 'good' } } as Node })
    expect(next()).toBeUndefined()
    queue.wake(nodeCame('good'))
    expect(next()).toBe('web')
  })

  it('tries a pod again after whatever happens, if nobody knows what would help it', () => {
    const { queue, add, next } = makeQueue()
    add('web')
    queue.reject(queue.pop()!, new Set())
    queue.wake(nodeCame('bad'))
    expect(next()).toBe('web')
  })

  it('lets others go first while a pod has to wait after a failure', () => {
    const { queue, add, next } = makeQueue()
    add('failing', { spec: { priority: 10 } })
    queue.reject(queue.pop()!, byPicky)
    queue.wake(nodeCame('good'))
    add('other')
    expect(queue.sizes).toEqual({ active: 1, backoff: 1, unschedulable: 0, gated: 0 })
    expect([next(), next()]).toEqual(['other', 'failing'])
  })

  it('waits after an error, however idle it is', () => {
    const { clock, queue, add, next, wakes } = makeQueue()
    add('web')
    queue.retry(queue.pop()!)
    expect(next()).toBeUndefined()
    const before = wakes()
    clock.advance(999)
    expect(next()).toBeUndefined()
    clock.advance(1)
    expect([wakes() - before, next()]).toEqual([1, 'web'])
  })

  it.each([[0, 0], [1, 1000], [2, 2000], [3, 4000], [4, 8000], [5, 10_000], [100, 10_000]])('lets a pod that was tried %i times wait %i ms', (attempts, ms) => {
    expect(backoffMs(attempts)).toBe(ms)
  })

  it('tries pods again that nothing has helped for five minutes', () => {
    const { clock, queue, add, next } = makeQueue()
    add('web')
    queue.reject(queue.pop()!, byPicky)
    clock.advance(5 * 60_000 - 1)
    expect(next()).toBeUndefined()
    clock.advance(1)
    expect(next()).toBe('web')
  })

  it('has nothing to wait for when it is empty', () => {
    const { clock, queue, add } = makeQueue()
    add('web')
    queue.reject(queue.pop()!, byPicky)
    expect(clock.pending).toBe(1)
    queue.delete('uid-of-web')
    expect(clock.pending).toBe(0)
  })

  it('keeps pods with gates until the last one is gone', () => {
    const { queue, add, next } = makeQueue()
    add('web', { spec: { schedulingGates: [{ name: 'a' }] } })
    queue.wake(nodeCame('good'))
    expect([next(), queue.sizes.gated]).toEqual([undefined, 1])
    const before = queue.get('uid-of-web')!
    const pod = new PodInfo(samplePod('web', { metadata: { generation: 2 } }))
    queue.update(pod, { kind: 'TargetPodUpdate', before, pod })
    expect(next()).toBe('web')
  })

  it('gives nobody a pod that is gone', () => {
    const { queue, add, next } = makeQueue()
    add('web')
    const queued = queue.pop()!
    queue.delete('uid-of-web')
    queue.reject(queued, byPicky)
    queue.retry(queued)
    queue.wake(nodeCame('good'))
    expect([next(), queue.sizes]).toEqual([undefined, { active: 0, backoff: 0, unschedulable: 0, gated: 0 }])
  })

  it('does not wake a pod for which room is still being made', () => {
    const { queue, add, next } = makeQueue()
    add('web')
    queue.hold('uid-of-web')
    queue.reject(queue.pop()!, byPicky)
    queue.wake(nodeCame('good'))
    expect(next()).toBeUndefined()
    queue.release('uid-of-web', false)
    expect(next()).toBe('web')
  })

  it('does not wake it afterwards if nothing happened meanwhile', () => {
    const { queue, add, next } = makeQueue()
    add('web')
    queue.hold('uid-of-web')
    queue.reject(queue.pop()!, byPicky)
    queue.release('uid-of-web', false)
    expect(next()).toBeUndefined()
  })
})
