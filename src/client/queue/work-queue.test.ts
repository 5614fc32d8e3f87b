import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MetricsRegistry } from '../../base/metrics.ts'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { QueueShutDownError, WorkQueue, resyncPriority } from './work-queue.ts'
import type { WorkQueueOptions } from './work-queue.ts'

function setUp(options: Partial<WorkQueueOptions> = {}) {
  const clock = new VirtualClock()
  return { clock, queue: new WorkQueue('test', { clock, ...options }) }
}

/** The keys that can be had right now, each done at once. */
async function takeAll(queue: WorkQueue): Promise<string[]> {
  const keys: string[] = []
  while (queue.length > 0) {
    const key = await queue.get()
    keys.push(key)
    queue.done(key)
    if (keys.length > 10_000) throw new Error(`the queue hands out without end: ${keys.slice(-3).join(', ')}`)
  }
  return keys
}

describe('WorkQueue hands out', () => {
  it('a key that was added many times once', async () => {
    const { queue } = setUp()
    for (let i = 0; i < 5; i++) queue.add('a')
    queue.add('b')
    queue.add('a')
    expect(await takeAll(queue)).toEqual(['a', 'b'])
  })

  it('a key that was added while it was worked on again, but only after done, and behind the others', async () => {
    const { queue } = setUp()
    queue.add('a')
    const key = await queue.get()
    queue.add('a')
    queue.add('a')
    queue.add('b')
    expect(queue.length).toBe(1)
    queue.done(key)
    expect(await takeAll(queue)).toEqual(['b', 'a'])
  })

  it('keys to waiting workers in the order in which they asked', async () => {
    const { queue } = setUp()
    const got: string[] = []
    const workers = ['first', 'second'].map(async (name) => got.push(`${name} ${await queue.get()}`))
    queue.add('a')
    queue.add('b')
    await Promise.all(workers)
    expect(got).toEqual(['first a', 'second b'])
  })

  it('nothing for a done that nobody owes', async () => {
    const { queue } = setUp()
    queue.done('a')
    queue.add('a')
    queue.done('a')
    expect(await takeAll(queue)).toEqual(['a'])
  })

  it('keys that are not strings', async () => {
    const clock = new VirtualClock()
    const queue = new WorkQueue<number>('numbers', { clock })
    queue.add(7)
    expect(await queue.get()).toBe(7)
  })
})

describe('WorkQueue.get()', () => {
  it('rejects when its signal is aborted, and the key goes to the next one', async () => {
    const { queue } = setUp()
    const abort = new AbortController()
    const first = queue.get(abort.signal)
    const second = queue.get(new AbortController().signal)
    abort.abort(new Error('enough'))
    await expect(first).rejects.toThrow('enough')
    queue.add('a')
    expect(await second).toBe('a')
  })

  it('rejects for a signal that is aborted already, and takes no key', async () => {
    const { queue } = setUp()
    queue.add('a')
    await expect(queue.get(AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late')
    expect(queue.length).toBe(1)
  })

  it('lets as many workers wait with one signal as there are', async () => {
    const { queue } = setUp()
    const warnings: string[] = []
    const onWarning = (warning: Error) => warnings.push(warning.message)
    process.on('warning', onWarning)
    const abort = new AbortController()
    const got = Array.from({ length: 50 }, () => queue.get(abort.signal))
    for (let i = 0; i < 50; i++) queue.add(`key-${i}`)
    expect(new Set(await Promise.all(got)).size).toBe(50)
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', onWarning)
    expect(warnings).toEqual([])
  })

  it('keeps a key that was handed over, if the signal is aborted right after', async () => {
    const { queue } = setUp()
    const abort = new AbortController()
    const got = queue.get(abort.signal)
    queue.add('a')
    abort.abort()
    expect(await got).toBe('a')
  })
})

describe('WorkQueue delays', () => {
  it('a key until its time, with one timer for all', async () => {
    const { clock, queue } = setUp()
    queue.addAfter('late', 300)
    queue.addAfter('early', 100)
    queue.addAfter('middle', 200)
    expect([clock.pending, queue.delayedLength]).toEqual([1, 3])
    await clock.advance(99)
    expect(await takeAll(queue)).toEqual([])
    await clock.advance(1)
    expect(await takeAll(queue)).toEqual(['early'])
    expect(clock.pending).toBe(1)
    await clock.advance(200)
    expect(await takeAll(queue)).toEqual(['middle', 'late'])
    expect(clock.pending).toBe(0)
  })

  it('a key by the earlier of two delays, once', async () => {
    const { clock, queue } = setUp()
    queue.addAfter('a', 500)
    queue.addAfter('a', 100)
    queue.addAfter('a', 900)
    await clock.advance(100)
    expect(await takeAll(queue)).toEqual(['a'])
    await clock.advance(1000)
    expect(await takeAll(queue)).toEqual([])
  })

  it('a key, and says for how long', async () => {
    const { clock, queue } = setUp()
    queue.addAfter('a', 500)
    await clock.advance(100)
    queue.add('a')
    expect([queue.dueInMs('a'), queue.dueInMs('b')]).toEqual([400, undefined])
    await clock.advance(400)
    expect(queue.dueInMs('a')).toBeUndefined()
  })

  it.each([[0], [-5], [NaN]])('nothing by %d', async (delayMs) => {
    const { queue } = setUp()
    queue.addAfter('a', delayMs)
    expect(await takeAll(queue)).toEqual(['a'])
  })

  it('a key no longer when the machine’s clock is set back', async () => {
    const clock = new VirtualClock()
    let offsetMs = 0
    const queue = new WorkQueue('test', { clock: { now: () => clock.now() + offsetMs, after: (ms, fn) => clock.after(ms, fn) } })
    queue.addAfter('a', 100)
    queue.addAfter('b', 150)
    offsetMs = -3_600_000
    await clock.advance(100)
    expect(await takeAll(queue)).toEqual(['a'])
    await clock.advance(50)
    expect(await takeAll(queue)).toEqual(['b'])
  })
})

describe('WorkQueue.addRateLimited()', () => {
  it.each([
    [1, 5],
    [2, 10],
    [8, 640],
    [18, 655_360],
    [19, 1_000_000],
    [40, 1_000_000],
    [2000, 1_000_000],
  ])('makes retry %d of a key wait %d ms', async (nth, wantedMs) => {
    const { clock, queue } = setUp({ qps: 1e9, burst: 1e9 })
    for (let i = 1; i < nth; i++) queue.addRateLimited('a')
    await clock.advance(2_000_000)
    await takeAll(queue)
    queue.addRateLimited('a')
    await clock.advance(wantedMs - 1)
    expect(await takeAll(queue)).toEqual([])
    await clock.advance(1)
    expect(await takeAll(queue)).toEqual(['a'])
  })

  it('starts small again after forget, and keeps keys apart', async () => {
    const { clock, queue } = setUp()
    for (let i = 0; i < 8; i++) queue.addRateLimited('a')
    await clock.advance(10_000)
    await takeAll(queue)
    expect([queue.requeues('a'), queue.requeues('b')]).toEqual([8, 0])
    queue.forget('a')
    expect(queue.requeues('a')).toBe(0)
    queue.addRateLimited('a')
    queue.addRateLimited('b')
    await clock.advance(5)
    expect(await takeAll(queue)).toEqual(['a', 'b'])
  })

  it('lets 100 keys retry at once, and 10 a second from then on', async () => {
    const { clock, queue } = setUp()
    for (let i = 0; i < 130; i++) queue.addRateLimited(`key-${i}`)
    await clock.advance(5)
    expect((await takeAll(queue)).length).toBe(100)
    await clock.advance(995)
    expect((await takeAll(queue)).length).toBe(10)
    await clock.advance(1000)
    expect((await takeAll(queue)).length).toBe(10)
  })

  it('makes a back-off longer by chance where jitter is asked for', async () => {
    const { clock, queue } = setUp({ jitter: 1, baseDelayMs: 100, random: { next: () => 0.5, uuid: () => '' } })
    queue.addRateLimited('a')
    await clock.advance(149)
    expect(queue.length).toBe(0)
    await clock.advance(1)
    expect(queue.length).toBe(1)
  })
})

describe('WorkQueue is fair:', () => {
  it('a key that is added all the time does not keep others waiting', async () => {
    const { queue } = setUp()
    queue.add('busy')
    for (const key of ['a', 'b', 'c']) queue.add(key)
    const got: string[] = []
    for (let i = 0; i < 8; i++) {
      const key = await queue.get()
      got.push(key)
      queue.add('busy')
      queue.done(key)
    }
    expect(got).toEqual(['busy', 'a', 'b', 'c', 'busy', 'busy', 'busy', 'busy'])
  })

  it('changes overtake resyncs, and a change overtakes with what was a resync before', async () => {
    const { queue } = setUp()
    for (const key of ['r1', 'r2', 'r3']) queue.add(key, { priority: resyncPriority })
    queue.add('change')
    queue.add('r3')
    queue.add('change', { priority: resyncPriority })
    expect(await takeAll(queue)).toEqual(['change', 'r3', 'r1', 'r2'])
  })

  it('the priority of a delayed key is kept, and the higher one counts while it is worked on', async () => {
    const { clock, queue } = setUp()
    queue.addAfter('low', 10, { priority: resyncPriority })
    await clock.advance(10)
    queue.add('high')
    expect(await takeAll(queue)).toEqual(['high', 'low'])

    queue.add('x')
    const x = await queue.get()
    queue.add('x', { priority: resyncPriority })
    queue.add('x', { priority: 5 })
    queue.add('y')
    queue.done(x)
    expect(await takeAll(queue)).toEqual(['x', 'y'])
  })

  it('a resync with n older keys before it is handed out within 8·(n + 1) turns, under any load of changes', async () => {
    const { queue } = setUp()
    const resyncs = Array.from({ length: 5 }, (_, i) => `resync-${i}`)
    for (const key of resyncs) queue.add(key, { priority: resyncPriority })
    const turns = new Map<string, number>()
    for (let turn = 1; turn <= 60; turn++) {
      queue.add(`change-${turn}-a`)
      queue.add(`change-${turn}-b`)
      const key = await queue.get()
      queue.done(key)
      turns.set(key, turn)
    }
    expect(resyncs.map((k) => turns.get(k))).toEqual([8, 16, 24, 32, 40])
  })

  it('whatever is added and done, no key is handed out twice at once, none is lost and none waits past its bound', async () => {
    const step = fc.record({
      kind: fc.constantFrom('add' as const, 'add' as const, 'get' as const, 'get' as const, 'done' as const),
      key: fc.integer({ min: 0, max: 30 }).map((n) => `k${n}`),
      priority: fc.constantFrom(0, 0, 1, resyncPriority),
    })
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 400 }), async (steps) => {
      const { queue } = setUp()
      const processing: string[] = []
      const again = new Set<string>()
      /** Waiting keys with the turn by which each must have been handed out. */
      const waiting = new Map<string, number>()
      let turn = 0
      const wait = (key: string) => waiting.set(key, turn + 8 * (waiting.size + 1))
      const done = (key: string) => {
        queue.done(key)
        processing.splice(processing.indexOf(key), 1)
        if (again.delete(key)) wait(key)
      }
      const get = async () => {
        const key = await queue.get()
        turn++
        expect(processing).not.toContain(key)
        expect(waiting.get(key)).toBeGreaterThanOrEqual(turn)
        waiting.delete(key)
        processing.push(key)
      }
      for (const { kind, key, priority } of steps) {
        if (kind === 'add') {
          queue.add(key, { priority })
          if (processing.includes(key)) again.add(key)
          else if (!waiting.has(key)) wait(key)
        } else if (kind === 'get' && queue.length > 0) await get()
        else if (kind === 'done' && processing[0]) done(processing[0])
        expect(queue.length).toBe(waiting.size)
      }
      for (let left = 10 * steps.length + 10; queue.length > 0 || processing[0]; left--) {
        if (left === 0) throw new Error('the queue hands out more than was added')
        if (queue.length > 0) await get()
        else done(processing[0]!)
      }
      expect([waiting.size, again.size]).toEqual([0, 0])
    }), { numRuns: 50 })
  })
})

describe('WorkQueue.shutDown()', () => {
  it('hands out what waits, takes nothing new, drops what is delayed, and resolves with the last done', async () => {
    const { clock, queue } = setUp()
    for (const key of ['a', 'b']) queue.add(key)
    const a = await queue.get()
    queue.add('a')
    queue.addAfter('late', 100)
    let isDown = false
    const down = queue.shutDown().then(() => (isDown = true))
    queue.add('new')
    queue.addAfter('new', 1)
    queue.addRateLimited('new')
    expect(clock.pending).toBe(0)
    const b = await queue.get()
    queue.done(a)
    queue.done(b)
    await Promise.resolve()
    expect([b, isDown]).toEqual(['b', false])
    queue.done(await queue.get())
    await down
    await expect(queue.get()).rejects.toBeInstanceOf(QueueShutDownError)
    await queue.shutDown()
  })

  it('drops what waits when asked to, and still waits for what is worked on', async () => {
    const { queue } = setUp()
    for (const key of ['a', 'b', 'c']) queue.add(key)
    const a = await queue.get()
    queue.add('a')
    let isDown = false
    const down = queue.shutDown({ drain: false }).then(() => (isDown = true))
    await expect(queue.get()).rejects.toThrow('work queue test is shut down')
    expect([queue.length, isDown]).toEqual([0, false])
    queue.done(a)
    await down
    expect(queue.length).toBe(0)
  })

  it('sends waiting workers home', async () => {
    const { queue } = setUp()
    const got = queue.get()
    await queue.shutDown()
    await expect(got).rejects.toBeInstanceOf(QueueShutDownError)
  })

  it('stops waiting when its signal is aborted', async () => {
    const { queue } = setUp()
    queue.add('a')
    const abort = new AbortController()
    const down = queue.shutDown({ signal: abort.signal })
    abort.abort(new Error('no time'))
    await expect(down).rejects.toThrow('no time')
    expect(await takeAll(queue)).toEqual(['a'])
  })
})

describe('WorkQueue metrics', () => {
  const lines = (registry: MetricsRegistry, name: string) =>
    registry.text().split('\n').filter((l) => l.startsWith(name) && !l.includes('_bucket'))

  it('tell depth, adds, retries, and how long keys waited and were worked on', async () => {
    const metrics = new MetricsRegistry()
    const { clock, queue } = setUp({ metrics })
    queue.add('a')
    queue.add('a')
    queue.add('b')
    await clock.advance(2000)
    const a = await queue.get()
    queue.add('a')
    await clock.advance(3000)
    const b = await queue.get()
    await clock.advance(1000)
    expect(lines(metrics, 'workqueue_depth')).toEqual(['workqueue_depth{name="test"} 1'])
    expect(lines(metrics, 'workqueue_longest_waiting_seconds')).toEqual(['workqueue_longest_waiting_seconds{name="test"} 4'])
    expect(lines(metrics, 'workqueue_adds_total')).toEqual(['workqueue_adds_total{name="test"} 3'])
    expect(lines(metrics, 'workqueue_unfinished_work_seconds')).toEqual(['workqueue_unfinished_work_seconds{name="test"} 5'])
    expect(lines(metrics, 'workqueue_longest_running_processor_seconds')).toEqual(['workqueue_longest_running_processor_seconds{name="test"} 4'])
    queue.done(a)
    queue.done(b)
    queue.addRateLimited('b')
    expect(lines(metrics, 'workqueue_retries_total')).toEqual(['workqueue_retries_total{name="test"} 1'])
    expect(lines(metrics, 'workqueue_queue_duration_seconds')).toEqual([
      'workqueue_queue_duration_seconds_sum{name="test"} 7',
      'workqueue_queue_duration_seconds_count{name="test"} 2',
    ])
    expect(lines(metrics, 'workqueue_work_duration_seconds')).toEqual([
      'workqueue_work_duration_seconds_sum{name="test"} 5',
      'workqueue_work_duration_seconds_count{name="test"} 2',
    ])
  })

  it('of several queues share a registry; the gauges of one go with it', async () => {
    const metrics = new MetricsRegistry()
    const clock = new VirtualClock()
    const one = new WorkQueue('one', { clock, metrics })
    const two = new WorkQueue('two', { clock, metrics })
    one.add('a')
    two.add('a')
    two.add('b')
    expect(lines(metrics, 'workqueue_depth')).toEqual(['workqueue_depth{name="one"} 1', 'workqueue_depth{name="two"} 2'])
    await one.shutDown({ drain: false })
    expect(lines(metrics, 'workqueue_depth')).toEqual(['workqueue_depth{name="two"} 2'])
    expect(lines(metrics, 'workqueue_adds_total')).toContain('workqueue_adds_total{name="one"} 1')
  })
})
