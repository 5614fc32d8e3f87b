import { describe, expect, it } from 'vitest'
import type { Pod, PodDisruptionBudget } from '../../api/generated/types.ts'
import { type Observed, disruptedOf } from './observe.ts'
import { type Scale, expectationOf } from './expected.ts'
import { newsOf, status } from './status.ts'
import { plan } from './plan.ts'

const now = '2026-01-01T01:00:00Z'
const then = '2026-01-01T00:00:00Z'
const nowMs = Date.parse(now)
const secondsAgo = (s: number) => new Date(nowMs - s * 1000).toISOString().replace('.000', '')

const pod = (name: string, over: { ready?: boolean; going?: boolean; owner?: string | undefined } = {}): Pod => {
  const { ready = true, going = false, owner = 'set' } = 'owner' in over ? { ...over, owner: over.owner ?? '' } : over
  return {
    metadata: {
      name,
      ...(going ? { deletionTimestamp: now } : {}),
      ...(owner ? { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: owner, controller: true }] } : {}),
    },
    status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  } as unknown as Pod
}
const some = (n: number, over?: Parameters<typeof pod>[1]) => Array.from({ length: n }, (_, i) => pod(`p${i}`, over))

const budget = (spec: object, over: object = {}): PodDisruptionBudget =>
  ({
    metadata: { name: 'b', namespace: 'ns', generation: 2 },
    spec: { selector: { matchLabels: { a: 'b' } }, ...spec },
    status: { observedGeneration: 1, disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0, ...over },
  }) as PodDisruptionBudget

const observed = (b: PodDisruptionBudget, pods: Pod[], scales: Record<string, Scale | undefined> = { set: { uid: 'set', replicas: pods.length } }): Observed => ({
  budget: b,
  pods,
  scales: new Map(Object.entries(scales)),
  unknown: [],
  nowMs,
})

describe('status() counts', () => {
  it.each<[string, object, Pod[], number | undefined, [allowed: number, healthy: number, desired: number, expected: number]]>([
    ['a number to stay', { minAvailable: 2 }, some(3), undefined, [1, 3, 2, 3]],
    ['a number to stay that there is not', { minAvailable: 5 }, some(3), undefined, [0, 3, 5, 3]],
    ['a share to stay, rounded up', { minAvailable: '30%' }, some(4), 4, [2, 4, 2, 4]],
    ['a share of what is wanted, not of what is there', { minAvailable: '50%' }, some(4), 10, [0, 4, 5, 10]],
    ['a number to go', { maxUnavailable: 1 }, some(4), 4, [1, 4, 3, 4]],
    ['a share to go, rounded up', { maxUnavailable: '30%' }, some(4), 4, [2, 4, 2, 4]],
    ['more to go than there are', { maxUnavailable: 10 }, some(4), 4, [4, 4, 0, 4]],
    ['none to go', { maxUnavailable: 0 }, some(4), 4, [0, 4, 4, 4]],
    ['no rule', {}, some(4), 4, [0, 4, 0, 0]],
    ['no pods: nothing is allowed when the first come', { minAvailable: 0 }, [], undefined, [0, 0, 0, 0]],
    ['pods that are not ready', { maxUnavailable: 1 }, [...some(2), pod('x', { ready: false })], 3, [0, 2, 2, 3]],
    ['pods that are going', { maxUnavailable: 1 }, [...some(2), pod('x', { going: true })], 3, [0, 2, 2, 3]],
  ])('%s', (_, spec, pods, replicas, counts) => {
    const next = status(observed(budget(spec), pods, replicas === undefined ? {} : { set: { uid: 'set', replicas } }))
    expect([next.disruptionsAllowed, next.currentHealthy, next.desiredHealthy, next.expectedPods]).toEqual(counts)
    expect(next.observedGeneration).toBe(2)
    const condition = counts[0] > 0 ? { status: 'True', reason: 'SufficientPods' } : { status: 'False', reason: 'InsufficientPods' }
    expect(next.conditions).toEqual([{ type: 'DisruptionAllowed', ...condition, message: '', observedGeneration: 2, lastTransitionTime: now }])
  })

  it('what several managers want, each once', () => {
    const pods = [...some(2), pod('x', { owner: 'old' }), pod('y', { owner: 'other' })]
    const deployment = { uid: 'd', replicas: 3 }
    const seen = observed(budget({ maxUnavailable: 1 }), pods, { set: deployment, old: deployment, other: { uid: 'o', replicas: 2 } })
    expect(status(seen).expectedPods).toBe(5)
  })
})

describe('status() that cannot be told', () => {
  const condition = { type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods', message: '', lastTransitionTime: then, observedGeneration: 1 }
  it.each<[string, Scale | undefined, string]>([
    ['because nobody is there', undefined, 'found no controllers for pod "p0"'],
    ['because the kind has no scale', { failure: 'jobs.batch does not implement the scale subresource' }, 'jobs.batch does not implement the scale subresource'],
  ])('%s allows nothing, and keeps the rest', (_, scale, message) => {
    const before = budget({ maxUnavailable: 1 }, { disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2, expectedPods: 3, conditions: [condition] })
    expect(status(observed(before, some(3), { set: scale }))).toEqual({
      ...before.status,
      disruptionsAllowed: 0,
      conditions: [{ ...condition, status: 'False', reason: 'SyncFailed', message, lastTransitionTime: now }],
    })
  })
})

describe('evictions that were granted', () => {
  const granted = { p0: secondsAgo(30), p1: secondsAgo(119), p2: secondsAgo(120), gone: secondsAgo(1), p3: secondsAgo(1) }
  const pods = [pod('p0'), pod('p1'), pod('p2'), pod('p3', { going: true }), pod('p4')]

  it('count until they are seen, for two minutes', () => {
    const { expected, overdue, recheckAtMs } = disruptedOf(pods, granted, nowMs)
    expect(Object.keys(expected)).toEqual(['p0', 'p1'])
    expect(overdue.map((p) => p.metadata.name)).toEqual(['p2'])
    expect(recheckAtMs).toBe(nowMs + 1000)
  })

  it('take from what is healthy', () => {
    const next = status(observed(budget({ minAvailable: 1 }, { disruptedPods: granted }), pods))
    expect([next.currentHealthy, next.disruptionsAllowed]).toEqual([2, 1]) // p2 and p4
    expect(next.disruptedPods).toEqual({ p0: granted.p0, p1: granted.p1 })
  })

  it('have the budget looked at again', () => {
    expect(plan(observed(budget({ minAvailable: 1 }, { disruptedPods: granted }), pods)).requeueAfterMs).toBe(1000)
    expect(plan(observed(budget({ minAvailable: 1 }), pods)).requeueAfterMs).toBeUndefined()
  })
})

describe('users are told', () => {
  it.each<[string, Observed, string[]]>([
    ['nothing if all is well', observed(budget({ maxUnavailable: 1 }), some(2)), []],
    ['that there are no pods', observed(budget({ minAvailable: 1 }), []), ['Normal NoPods b: No matching pods found']],
    ['why it cannot be counted', observed(budget({ maxUnavailable: 1 }), some(1), {}), [
      'Warning CalculateExpectedPodCountFailed b: Failed to calculate the number of expected pods: found no controllers for pod "p0"',
    ]],
    ['of pods that nothing manages', observed(budget({ maxUnavailable: 1 }), some(5, { owner: undefined })), [
      expect.stringMatching(/^Warning UnmanagedPods b: .*\(selector: a=b\): p0, p1, p2 and 2 more\./) as unknown as string,
    ]],
    ['of a pod that did not go', observed(budget({ minAvailable: 1 }, { disruptedPods: { p0: secondsAgo(121) } }), some(1)), [
      "Warning NotDeleted p0: Pod was expected by PDB ns/b to be deleted but it wasn't",
    ]],
  ])('%s', (_, seen, news) => {
    expect(newsOf(seen).map(({ type, reason, message, about }) => `${type} ${reason} ${(about ?? seen.budget).metadata.name}: ${message}`)).toEqual(news)
  })
})

it('expectationOf() does not ask for scales that it does not need', () => {
  expect(expectationOf({ minAvailable: 1 }, some(2), () => expect.fail())).toEqual({ expectedPods: 2, desiredHealthy: 1, unmanaged: [] })
})
