import { describe, expect, it } from 'vitest'
import type { Pod, Taint, Toleration } from '../../api/generated/types.ts'
import { type Observed, plan, runningClocks, toleratedMs } from './plan.ts'

const nowMs = Date.parse('2026-01-01T01:00:00Z')
const ago = (seconds: number) => new Date(nowMs - seconds * 1000).toISOString()

const a: Taint = { key: 'a', effect: 'NoExecute' }
const b: Taint = { key: 'b', effect: 'NoExecute' }
const some = (key: string, tolerationSeconds?: number): Toleration => ({ key, operator: 'Exists', ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }) })

describe('toleratedMs()', () => {
  const forever = Number.POSITIVE_INFINITY
  it.each<[string, Taint[], Toleration[], number]>([
    ['no taints', [], [], forever],
    ['a taint that is not tolerated', [a], [some('b')], 0],
    ['one of two that is not tolerated', [a, b], [some('a')], 0],
    ['a taint that is tolerated', [a], [some('a')], forever],
    ['for a while', [a], [some('a', 30)], 30_000],
    ['the shortest while of several taints', [a, b], [some('a', 30), some('b', 10)], 10_000],
    ['a while and for ever', [a, b], [some('a', 30), some('b')], 30_000],
    ['the first toleration that fits', [a], [some('a', 30), some('a', 10)], 30_000],
    ['for the most seconds there are', [a], [{ ...some('a'), tolerationSeconds: 2n ** 63n - 1n }], 2 ** 63 * 1000],
    ['less than no time', [a], [some('a', -5)], 0],
  ])('%s', (_, taints, tolerations, ms) => {
    expect(toleratedMs(taints, tolerations)).toBe(ms)
  })
})

const pod = (name: string, tolerations: Toleration[] = [], over: { startedAgo?: number; going?: boolean } = {}): Pod =>
  ({
    metadata: { name, uid: name, ...(over.going ? { deletionTimestamp: ago(0) } : {}) },
    spec: { tolerations },
    status: { startTime: ago(over.startedAgo ?? 3600) },
  }) as unknown as Pod

const observed = (taints: Taint[], pods: Pod[], clocks: Record<string, number> = {}): Observed => ({ taints, pods, clocks: new Map(Object.entries(clocks)), nowMs })
const added = (taint: Taint, secondsAgo: number): Taint => ({ ...taint, timeAdded: ago(secondsAgo) })

describe('plan()', () => {
  it.each<[string, Observed, string[], number | undefined]>([
    ['nobody goes without a taint', observed([], [pod('p')]), [], undefined],
    ['who does not tolerate goes', observed([a], [pod('p')]), ['Evict p'], undefined],
    ['who goes already is left', observed([a], [pod('p', [], { going: true })]), [], undefined],
    ['who tolerates for a while waits', observed([a], [pod('p', [some('a', 30)])]), [], 30_000],
    ['the next is waited for', observed([a], [pod('p', [some('a', 30)]), pod('q', [some('a', 10)]), pod('r', [some('a')])]), [], 10_000],
    ['a taint counts from when it was put there', observed([added(a, 20)], [pod('p', [some('a', 30)])]), [], 10_000],
    ['a taint that was there before the pod counts from when the pod came', observed([added(a, 20)], [pod('p', [some('a', 30)], { startedAgo: 5 })]), [], 25_000],
    ['a taint of tomorrow counts from now', observed([added(a, -20)], [pod('p', [some('a', 30)])]), [], 30_000],
    ['a clock goes on under another taint', observed([added(b, 0)], [pod('p', [some('b', 30)])], { p: nowMs - 20_000 }), [], 10_000],
    ['whose time is up goes', observed([a], [pod('p', [some('a', 30)])], { p: nowMs - 30_000 }), ['Evict p'], undefined],
    ['without the taint it is called off', observed([], [pod('p', [some('a', 30)])], { p: nowMs - 20_000 }), ['Cancel p'], undefined],
    ['also if it is tolerated now', observed([a], [pod('p', [some('a')])], { p: nowMs - 20_000 }), ['Cancel p'], undefined],
  ])('%s', (_, seen, actions, requeueAfterMs) => {
    const step = plan(seen)
    expect(step.actions.map((action) => `${action.kind} ${action.pod.metadata.name}`)).toEqual(actions)
    expect(step.requeueAfterMs).toBe(requeueAfterMs)
  })
})

it('runningClocks() keeps the clocks of those who have to go', () => {
  const seen = observed([added(a, 20)], [pod('p', [some('a', 30)]), pod('q', [some('a')]), pod('r'), pod('s', [some('a', 30)], { going: true })], { r: 5 })
  expect([...runningClocks(seen)]).toEqual([['p', nowMs - 20_000], ['r', 5]])
})
