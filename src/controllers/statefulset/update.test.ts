import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Pod } from '../../api/generated/types.ts'
import { plan } from './plan.ts'
import { type PodState, type SetOver, inWords, samplePod, sampleSeen, sampleSet } from './sample.ts'

const states: Record<string, PodState> = { r: 'ready', y: 'young', u: 'unready', p: 'pending', f: 'failed', g: 'going' }

/** One letter an ordinal, by `states`: a capital is a pod of the new revision, `-` is no pod. */
const podsOf = (letters: string): Pod[] =>
  [...letters].flatMap((letter, i) => {
    const state = states[letter.toLowerCase()]
    return state ? [samplePod(i, letter in states ? 'a' : 'b', state)] : []
  })

type Policy = 'OrderedReady' | 'Parallel'

/** The ordinals whose pods are deleted, in order; with `?` those that are deleted only if they have not changed. */
function deleted(letters: string, policy: Policy, isOn: boolean, minReadySeconds: number, over: SetOver = {}): string {
  const set = sampleSet({ replicas: letters.length, policy, image: 'b', spec: { minReadySeconds }, ...over })
  const words = plan(sampleSeen({ set, pods: podsOf(letters), honoursMaxUnavailable: isOn })).actions.map(inWords)
  const deletes = words.filter((word) => word.startsWith('delete'))
  return deletes.map((word) => word.replace('delete web-', '').replace(' if unchanged', '?')).join(' ')
}

/** The deleted pods in order and in parallel, with the gate enabled and disabled. */
type Deleted = [on: string, onParallel: string, off: string, offParallel: string]
type Row = [what: string, letters: string, maxUnavailable: number | string, ...Deleted]

describe.each<[number, Row[]]>([
  [0, [
    ['all are ready', 'rrrr', 1, '3', '3', '3', '3'],
    ['all are ready, and two may go', 'rrrr', 2, '3 2', '3 2', '3', '3'],
    ['all became ready just now: that is enough', 'yyyy', 2, '3 2', '3 2', '3', '3'],
    ['one is not ready: it goes first in parallel', 'ruRr', 1, '', '1?', '', '1?'],
    ['one is not ready and two may go', 'rurr', 2, '', '1? 3', '', '1?'],
    ['none is ready', 'uuuu', 1, '', '3? 2? 1? 0?', '', '3?'],
    ['none has started', 'pppp', 2, '', '3? 2? 1? 0?', '', '3?'],
    ['one is under way, and others are not ready', 'uurU', 2, '', '1? 0?', '', ''],
    ['one is missing, and another is not ready', 'ur-R', 1, '', '0?', '', ''],
    ['one goes, and another is not ready', 'urrg', 1, '', '0?', '', ''],
    ['one has ended, and another is not ready', 'urrf', 1, '', '3 0?', '', '3'],
    ['a new one is not ready', 'rrrU', 1, '', '', '', ''],
    ['a new one is not ready and two may go', 'rrrU', 2, '', '2', '', ''],
  ]],
  [10, [
    ['all are available', 'rrrr', 1, '3', '3', '3', '3'],
    ['all are ready and none is available yet', 'yyyy', 1, '', '', '', ''],
    ['all are ready and none is available yet, and all may go', 'yyyy', '100%', '', '', '', ''],
    ['the highest is not available yet', 'rrry', 1, '', '', '', ''],
    ['the highest is not available yet, and two may go', 'rrry', 2, '', '3', '', ''],
    ['the lowest is not available yet, and two may go', 'yrrr', 2, '', '3', '', ''],
    ['two are not available yet, and three may go', 'rryy', 3, '', '3', '', ''],
    ['one is not ready, others are not available yet', 'uyyy', 1, '', '0?', '', '0?'],
    ['one is not ready, another is not available yet, and three may go', 'uryr', 3, '', '0? 3', '', '0?'],
    ['none is ready', 'uuuu', 1, '', '3? 2? 1? 0?', '', '3?'],
    ['a new one is not available yet', 'rrrY', 1, '', '', '', ''],
    ['a new one is not available yet and two may go', 'rrrY', 2, '', '2', '', ''],
    ['a new one is not available yet, an old one is not ready', 'rurY', 1, '', '1?', '', ''],
  ]],
])('minReadySeconds %i:', (minReadySeconds, rows) => {
  it.each(rows)('%s', (_, letters, maxUnavailable, ...expected) => {
    const goes = (policy: Policy, isOn: boolean) => deleted(letters, policy, isOn, minReadySeconds, { maxUnavailable })
    const told = [true, false].flatMap((isOn) => [goes('OrderedReady', isOn), goes('Parallel', isOn)])
    expect(told).toEqual(expected)
  })
})

describe('maxUnavailable as a percentage of five', () => {
  // 30% of 5 is 1.5, which is 1: who rounded up would take two.
  it.each<[string, string]>([
    ['1%', '4'],
    ['20%', '4'],
    ['30%', '4'],
    ['39%', '4'],
    ['40%', '4 3'],
    ['59%', '4 3'],
    ['60%', '4 3 2'],
    ['99%', '4 3 2 1'],
    ['100%', '4 3 2 1 0'],
  ])('%s takes %s', (maxUnavailable, expected) => {
    const goes = (policy: Policy) => deleted('rrrrr', policy, true, 0, { maxUnavailable })
    expect([goes('OrderedReady'), goes('Parallel')]).toEqual([expected, expected])
  })
})

it('a set of the largest number of replicas is updated without visiting every ordinal', () => {
  const most = 2 ** 31 - 1
  const goes = (partition: number) => deleted('ur', 'Parallel', false, 0, { replicas: most, partition })
  expect([goes(0), goes(most - 1)]).toEqual(['', ''])
})

it('a pod that is ready never goes beyond maxUnavailable, whatever the others are', () => {
  const letter = fc.constantFrom(...'ryupfgRYUPFG-')
  const letters = fc.array(letter, { minLength: 1, maxLength: 7 }).map((list) => list.join(''))
  const policies = fc.constantFrom<Policy>('OrderedReady', 'Parallel')
  const [seconds, budgets] = [fc.constantFrom(0, 10), fc.integer({ min: 1, max: 8 })]
  fc.assert(
    fc.property(letters, policies, fc.boolean(), seconds, budgets, (all, policy, isOn, minReadySeconds, budget) => {
      const most = isOn ? budget : 1
      const going = deleted(all, policy, isOn, minReadySeconds, { maxUnavailable: budget }).split(' ').filter(Boolean)
      const isOne = (of: string, one: string) => of.includes(one.toLowerCase())
      const stateOf = (ordinal: string) => all[Number.parseInt(ordinal)]!
      const taken = going.filter((o) => isOne('ry', stateOf(o)))
      const idle = [...all].filter((one) => !isOne('ry', one)).length
      expect(taken.length).toBeLessThanOrEqual(Math.max(0, most - idle))
      // While the gate is off, nothing but what has ended goes together.
      if (!isOn) expect(going.filter((o) => !isOne('f', stateOf(o))).length).toBeLessThanOrEqual(1)
    }),
    { numRuns: 500 },
  )
})
