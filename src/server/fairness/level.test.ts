import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { Level, type Refused, type Ticket } from './level.ts'

const limited = (queuing?: { queues: number; handSize: number; queueLengthLimit: number }) => ({
  metadata: { name: 'l', uid: 'u' },
  spec: { type: 'Limited', limited: { limitResponse: queuing ? { type: 'Queue', queuing } : { type: 'Reject' } } },
  status: {},
})

function scene(limit: number, queuing?: { queues: number; handSize: number; queueLengthLimit: number }) {
  const clock = new VirtualClock()
  const level = new Level('l', { clock, waitLimitMs: 15_000 })
  level.limit = limit
  level.configure(limited(queuing))
  const log: string[] = []
  const tickets = new Map<string, Ticket>()
  /** Asks for seats, and writes down what comes of it. */
  const enter = (name: string, seats = 1, signal?: AbortSignal) => {
    const took = (ticket: Ticket) => {
      log.push(name)
      tickets.set(name, ticket)
    }
    try {
      const entered = level.enter(name.split('-')[0]!, seats, signal && (() => signal))
      if (entered instanceof Promise) entered.then(took, (e: Refused) => log.push(`${name}: ${e.reason}`))
      else took(entered)
    } catch (e) {
      log.push(`${name}: ${(e as Refused).reason}`)
    }
  }
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve))
  return { clock, level, log, enter, settle, release: (name: string) => tickets.get(name)!.release() }
}

const queues = { queues: 64, handSize: 6, queueLengthLimit: 3 }

describe('a level', () => {
  it('lets in as many as there are seats, at once and without a promise', () => {
    const { level, enter, log } = scene(2)
    enter('a-1')
    enter('a-2')
    enter('a-3')
    expect([log, level.inUse]).toEqual([['a-1', 'a-2', 'a-3: concurrency-limit'], 2])
  })

  it('gives seats back once, however often that is said', () => {
    const { level, enter, release } = scene(2)
    enter('a', 2)
    release('a')
    release('a')
    expect(level.inUse).toBe(0)
  })

  it('lets in one request that wants more seats than there are, alone', async () => {
    const { enter, log, release, settle } = scene(3, queues)
    enter('a', 10)
    enter('b', 1)
    release('a')
    await settle()
    expect(log).toEqual(['a', 'b'])
  })

  it('has requests wait in order, and refuses what a queue has no room for', async () => {
    const { enter, log, release, settle } = scene(1, { queues: 1, handSize: 1, queueLengthLimit: 2 })
    for (const name of ['a-1', 'a-2', 'a-3', 'a-4']) enter(name)
    expect(log).toEqual(['a-1', 'a-4: queue-full'])
    release('a-1')
    await settle()
    release('a-2')
    await settle()
    expect(log).toEqual(['a-1', 'a-4: queue-full', 'a-2', 'a-3'])
  })

  it('refuses who has waited too long', async () => {
    const { clock, enter, log, level, settle } = scene(1, queues)
    enter('a-1')
    enter('a-2')
    clock.advance(15_000)
    await settle()
    expect([log, level.waiting, clock.pending]).toEqual([['a-1', 'a-2: time-out'], 0, 0])
  })

  it('forgets who has gone away', async () => {
    const { clock, enter, log, level, settle } = scene(1, queues)
    const abort = new AbortController()
    enter('a-1')
    enter('a-2', 1, abort.signal)
    abort.abort()
    await settle()
    expect([log, level.waiting, clock.pending]).toEqual([['a-1', 'a-2: cancelled'], 0, 0])
  })

  it('serves flows in turn: who asks for little does not wait behind who asks for much', async () => {
    const { enter, log, release, settle, clock } = scene(2, { ...queues, queueLengthLimit: 50 })
    enter('jane-0')
    enter('flood-0')
    for (let i = 1; i <= 20; i++) enter(`flood-${i}`)
    enter('jane-1')
    enter('jane-2')
    for (let i = 0; i < 14; i++) {
      clock.advance(10)
      release(log.at(-1)!)
      await settle()
    }
    expect(log.filter((name) => name.startsWith('jane'))).toEqual(['jane-0', 'jane-1', 'jane-2'])
    // The flood has six queues of its own.
    expect([log.indexOf('jane-1') < 9, log.indexOf('jane-2') < 16]).toEqual([true, true])
  })

  it('lets in the first request of a flow although others hold all seats, up to as many again', () => {
    const { enter, log, level } = scene(2, queues)
    for (const name of ['a-1', 'a-2', 'a-3', 'b-1', 'b-2', 'c-1', 'd-1']) enter(name)
    expect([log, level.inUse, level.waiting]).toEqual([['a-1', 'a-2', 'b-1', 'c-1'], 4, 3])
  })

  it('keeps half of its seats for requests that take one', async () => {
    const { enter, log, release, settle } = scene(10, queues)
    enter('a-list-1', 5)
    enter('a-list-2', 5)
    for (const name of ['a-1', 'a-2', 'a-3']) enter(name)
    expect(log).toEqual(['a-list-1', 'a-1', 'a-2', 'a-3'])
    release('a-list-1')
    await settle()
    expect(log.at(-1)).toBe('a-list-2')
  })

  it('charges a flow for what it takes, not for what it asks', async () => {
    const { enter, log, release, settle, clock } = scene(2, { queues: 512, handSize: 1, queueLengthLimit: 50 })
    enter('quick-0')
    enter('slow-0')
    for (let i = 1; i <= 20; i++) {
      enter(`slow-${i}`)
      enter(`quick-${i}`)
    }
    for (let i = 0; i < 20; i++) {
      const name = log.at(-1)!
      clock.advance(name.startsWith('slow') ? 100 : 5)
      release(name)
      await settle()
    }
    const [slow, quick] = ['slow', 'quick'].map((flow) => log.filter((name) => name.startsWith(flow)).length)
    expect(quick! / slow!).toBeGreaterThan(3)
  })

  it('remembers no more queues than are of use, of however many', async () => {
    const { enter, level, settle } = scene(1, { queues: 1_000_000, handSize: 6, queueLengthLimit: 3 })
    enter('a-0')
    enter('b-0')
    for (let i = 0; i < 5000; i++) {
      const abort = new AbortController()
      enter(`flow${i}-0`, 1, abort.signal)
      abort.abort()
    }
    await settle()
    expect(level.waiting).toBe(0)
    expect(level.queues).toBeLessThan(2000)
    for (let i = 0; i < 3000; i++) enter(`other${i}-0`)
    expect([level.waiting, level.queues >= 3000, level.queues < 10_000]).toEqual([3000, true, true])
  })

  it('tells the most seats that were wanted at one time', () => {
    const { level, enter, release } = scene(2, queues)
    enter('a', 2)
    enter('b', 3)
    expect([level.takePeak(), level.takePeak()]).toEqual([5, 5])
    release('a')
    expect([level.takePeak(), level.takePeak()]).toEqual([5, 3])
  })

  it('lets in who waits as soon as it gets more seats', async () => {
    const { level, enter, log, settle } = scene(1, queues)
    enter('a')
    enter('b')
    level.limit = 2
    level.dispatch()
    await settle()
    expect(log).toEqual(['a', 'b'])
  })
})
