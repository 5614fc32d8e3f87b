import { describe, expect, it, test } from 'vitest'
import { silentLogger } from '../../../base/logger.ts'
import { VirtualClock } from '../../../base/virtual-clock.ts'
import type { Appliers, ApplyContext, Pace } from '../definition.ts'
import { Momentum, applyStep, atPace, eachOf } from './apply.ts'

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)

/** Items that end when they are told to. */
function held() {
  const open = new Map<number, { resolve: () => void; reject: (why: Error) => void }>()
  return {
    run: (n: number) => new Promise<void>((resolve, reject) => open.set(n, { resolve, reject })),
    underWay: () => [...open.keys()],
    async end(n: number, why?: Error) {
      const { resolve, reject } = open.get(n)!
      open.delete(n)
      if (why) reject(why)
      else resolve()
      await new Promise(setImmediate)
    },
  }
}

/** The number of items in flight after each round, if all of a round succeed. */
async function widths(count: number, pace: Pace, startWidth?: number): Promise<{ widths: number[]; width: number }> {
  const { run, underWay, end } = held()
  const all = atPace(numbers(count), pace, run, startWidth)
  const found: number[] = []
  while (underWay().length > 0) {
    found.push(underWay().length)
    if (found.length > count) throw new Error(`${count} items are begun more than once`)
    await Promise.all(underWay().map((n) => end(n)))
  }
  return { widths: found, width: (await all).width }
}

test('eachOf() runs all items, no more than 256 at a time, and throws the first failure at the end', async () => {
  const { run, underWay, end } = held()
  const all = eachOf(numbers(600), run).then(() => 'done', (error: Error) => error.message)
  let begun = 0
  while (underWay().length > 0 && begun < 600) {
    const some = underWay()
    expect(some.length).toBeLessThanOrEqual(256)
    begun += some.length
    await Promise.all(some.map((n) => end(n, n % 100 === 7 ? new Error(`no ${n}`) : undefined)))
  }
  expect([begun, await all]).toEqual([600, 'no 7'])
})

describe('atPace()', () => {
  test.each<[Pace, number, number[]]>([
    ['one by one', 3, [1, 1, 1]],
    ['slow start', 10, [1, 2, 4, 3]],
    ['slow start', 1, [1]],
    ['slow start', 0, []],
    ['all at once', 5, [5]],
    ['all at once', 600, [256, 256, 88]],
  ])('%s, %i items: %j', async (pace, count, expected) => {
    expect((await widths(count, pace)).widths).toEqual(expected)
  })

  test.each<[Pace, number, number, number[], number]>([
    ['slow start', 4, 11, [4, 7], 8],
    ['slow start', 4, 12, [4, 8], 9],
    ['slow start', 8, 5, [5], 8],
    ['slow start', 1, 1, [1], 2],
    ['one by one', 4, 2, [1, 1], 1],
    ['all at once', 4, 9, [9], 256],
  ])('%s from %i on, %i items: %j, and then %i', async (pace, startWidth, count, expected, width) => {
    expect(await widths(count, pace, startWidth)).toEqual({ widths: expected, width })
  })

  it('slow start does not wait for the slowest', async () => {
    const { run, underWay, end } = held()
    void atPace(numbers(100), 'slow start', run)
    await end(0)
    expect(underWay()).toEqual([1, 2])
    await end(2)
    await end(3)
    expect(underWay()).toEqual([1, 4, 5, 6])
  })

  it('slow start begins nothing more after a failure, and waits for what is under way', async () => {
    const { run, underWay, end } = held()
    const all = atPace(numbers(10), 'slow start', run)
    await end(0)
    await end(1)
    expect(underWay()).toEqual([2, 3, 4])
    await end(3, new Error('quota'))
    await end(2)
    expect(underWay()).toEqual([4])
    await end(4)
    const { done, failed, skipped } = await all
    expect({ done, failed: failed.map((f) => [f.item, f.error.message]), skipped }).toEqual({ done: [0, 1, 2, 4], failed: [[3, 'quota']], skipped: [5, 6, 7, 8, 9] })
  })

  it('slow start makes one attempt if everything is refused', async () => {
    let attempts = 0
    const { skipped } = await atPace(numbers(1000), 'slow start', async () => {
      attempts++
      throw new Error('quota')
    })
    expect(attempts).toBe(1)
    expect(skipped).toHaveLength(999)
  })

  const failing = (...bad: number[]) => async (n: number) => {
    if (bad.includes(n)) throw new Error(`${n} failed`)
  }

  it('one by one stops at the first that fails', async () => {
    const { done, failed, skipped } = await atPace(numbers(4), 'one by one', failing(1))
    expect({ done, failed: failed.map((f) => f.error.message), skipped }).toEqual({ done: [0], failed: ['1 failed'], skipped: [2, 3] })
  })

  it.each<[string, (n: number) => Promise<void>]>([
    ['later', failing(0, 2)],
    [
      'at once',
      (n) => {
        if (n === 0 || n === 2) throw new Error(`${n} failed`)
        return Promise.resolve()
      },
    ],
  ])('all at once tries all, if some fail %s', async (_, run) => {
    const { done, failed, skipped } = await atPace(numbers(4), 'all at once', run)
    expect({ done, failed: failed.map((f) => f.item), skipped }).toEqual({ done: [1, 3], failed: [0, 2], skipped: [] })
  })
})

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

type Action = { kind: 'A' | 'B'; n: number }

const context = (signal = new AbortController().signal) => ({ owner: { metadata: {} }, nowMs: 0, logger: silentLogger, signal }) as unknown as ApplyContext<{ metadata: {} }>
const actions = (text: string): Action[] => [...text].map((kind, n) => ({ kind: kind as 'A' | 'B', n }))
const atRest = () => new Momentum(new VirtualClock())
const shown = (list: readonly Action[]) => list.map(({ kind, n }) => `${kind}${n}`).join(' ')

it('applyStep() keeps the order of kinds, each at its pace', async () => {
  const log: string[] = []
  const appliers: Appliers<{ metadata: {} }, Action> = {
    A: { pace: 'all at once', run: async (_ctx, { n }) => void log.push(`A${n}`) },
    B: async (_ctx, { n }) => void log.push(`B${n}`),
  }
  const outcome = await applyStep(context(), appliers, { actions: actions('AABBA'), wait: 'for nothing' }, atRest())
  expect(log.join(' ')).toBe('A0 A1 B2 B3 A4')
  expect(outcome).toMatchObject({ failed: [], skipped: [], wait: 'for nothing' })
  expect(outcome.done).toHaveLength(5)
})

it('applyStep() tries nothing behind a failure', async () => {
  const appliers: Appliers<{ metadata: {} }, Action> = {
    A: async () => {},
    B: async (_ctx, { n }) => {
      if (n === 2) throw new Error('no')
    },
  }
  const { done, failed, skipped } = await applyStep(context(), appliers, { actions: actions('ABBBAB') }, atRest())
  expect([shown(done), shown(failed.map((f) => f.action)), shown(skipped)]).toEqual(['A0 B1', 'B2', 'B3 A4 B5'])
})

it('applyStep() hands on what the appliers have answered', async () => {
  const appliers: Appliers<{ metadata: {} }, Action> = { A: async (_ctx, { n }) => `made ${n}`, B: async () => {} }
  const { done, answers } = await applyStep(context(), appliers, { actions: actions('AB') }, atRest())
  expect(done.map((action) => answers!.get(action))).toEqual(['made 0', undefined])
})

it('applyStep() begins nothing once it is to stop', async () => {
  const stop = new AbortController()
  const appliers: Appliers<{ metadata: {} }, Action> = { A: async () => stop.abort(), B: async () => {} }
  const { done, failed } = await applyStep(context(stop.signal), appliers, { actions: actions('AB') }, atRest())
  expect([shown(done), failed.length]).toEqual(['A0', 1])
})

it('applyStep() refuses a plan that nothing applies', async () => {
  await expect(applyStep(context(), {} as Appliers<{ metadata: {} }, Action>, { actions: actions('A') }, atRest())).rejects.toThrow('the plan has action A')
})

it('applyStep() goes on with a slow start where it has got to, and begins anew after a failure', async () => {
  const momentum = atRest()
  let [underWay, most] = [0, 0]
  let broken: number | undefined
  const appliers: Appliers<{ metadata: {} }, Action> = {
    A: {
      pace: 'slow start',
      async run(_ctx, { n }) {
        most = Math.max(most, ++underWay)
        await Promise.resolve()
        underWay--
        if (n === broken) throw new Error('no')
      },
    },
    B: async () => {},
  }
  const mostOf = async (text: string) => {
    most = 0
    await applyStep(context(), appliers, { actions: actions(text) }, momentum)
    return most
  }
  expect(await mostOf('AAA')).toBe(2)
  expect(await mostOf('AAAA')).toBe(3)
  broken = 3
  expect(await mostOf('AAAAAAAA')).toBe(4)
  expect(await mostOf('AAA')).toBe(2)
})
