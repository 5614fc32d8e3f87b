import { expect, it } from 'vitest'
import { silentLogger } from '../../base/logger.ts'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { applyStep } from './apply.ts'
import type { Appliers, ApplyContext } from './definition.ts'
import { Momentum } from './momentum.ts'

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
  await expect(applyStep(context(), {} as Appliers<{ metadata: {} }, Action>, { actions: actions('A') }, atRest())).rejects.toThrow('the plan asks for A')
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
