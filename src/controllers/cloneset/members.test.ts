import { describe, expect, it } from 'vitest'
import type { Pod } from '../../api/generated/types.ts'
import { SeededRandom } from '../../base/seeded-random.ts'
import { compileLabelSelector } from '../../client/index.ts'
import { type Entry, basisOf, entryOf } from './member.ts'
import { Members, membersReader } from './members.ts'
import { plan } from './plan.ts'
import {
  type PodOver, type SetOver, inFewWords, nowMs, samplePod, samplePods, sampleSeen, sampleSet,
} from './sample.ts'
import { status } from './status.ts'

const odd: readonly Record<string, string>[] = [{ app: 'other' }, { 'apps.kruise.io/specified-delete': 'true' }]
const lifecycles = ['Normal', 'PreparingNormal', 'PreparingUpdate', 'Updating', 'Updated', 'PreparingDelete']

it('members are the same however their pods have come and gone', () => {
  const random = new SeededRandom(7)
  const lifecycle = { preDelete: { finalizersHandler: ['example.com/hook'] } }
  const set = sampleSet({ image: 'b', scale: { podsToDelete: ['a1', 'b2'] }, spec: { minReadySeconds: 10, lifecycle } })
  const basis = basisOf(set, compileLabelSelector(set.spec.selector), 'b', { claimOf: () => undefined })
  const { sumOf } = membersReader(basis)
  const kept = new Members()
  const entries = new Map<string, Entry>()
  for (let i = 0; i < 3000; i++) {
    const name = `${random.pick(['a', 'b'])}${random.below(9)}`
    const before = entries.get(name)
    if (before) kept.remove(before)
    entries.delete(name)
    if (random.below(3) === 0) continue
    const over: PodOver = {
      state: random.pick(['ready', 'unready', 'pending', 'young']),
      lifecycle: random.below(2) ? 'Normal' : random.pick(lifecycles),
      node: random.pick(['x', 'y']),
      ...(random.below(3) ? {} : { finalizers: ['example.com/hook'] }),
      ...(random.below(8) ? {} : { labels: random.pick(odd) }),
    }
    const pod = samplePod(name, over)
    if (random.below(6) === 0) pod.metadata.deletionTimestamp = '2026-01-01T01:00:20Z'
    const entry = entryOf(basis, pod, nowMs)!
    entries.set(name, entry)
    kept.add(entry)
    const anew = new Members()
    for (const each of entries.values()) anew.add(each)
    expect(sumOf!(kept)).toEqual(sumOf!(anew))
    const names = (members: Members) => members.candidates.first(20).map((active) => active.pod.metadata.name)
    expect(names(kept)).toEqual(names(anew))
  }
})

describe('a step of a large set looks at no pod but those that it acts on', () => {
  const updated = { 'controller-revision-hash': 'web-b' }
  const b = (over: SetOver['update'] = {}) => ({ image: 'b', update: { maxUnavailable: 1, ...over } })
  it.each<[string, SetOver, bad: PodOver[], expected: string[]]>([
    ['when there is nothing to do', {}, [], []],
    ['when one is not ready', {}, [{ state: 'unready' }], []],
    ['when as many as may be are unavailable', b(), [{ state: 'unready', labels: updated }], []],
    ['when one may be replaced', b(), [], ['delete a0', 'create b']],
    ['when one may be updated as it runs', b({ type: 'InPlaceIfPossible' }), [], ['update a0']],
    ['when one that is asked for may go', { scale: { podsToDelete: ['a7'] } }, [], ['delete a7', 'create a']],
    ['when one is wanted again', {}, [{ lifecycle: 'PreparingDelete' }], ['a0 is PreparingNormal']],
    ['when the next state of one is due', {}, [{ lifecycle: 'PreparingNormal' }], ['a0 is Normal']],
  ])('%s', (_, over, bad, expected) => {
    const count = 400
    const names = Array.from({ length: count }, (__, i) => `a${i}`)
    const touched = new Set<string>()
    const get = (pod: Pod, field: string | symbol): unknown => {
      touched.add(pod.metadata.name!)
      return Reflect.get(pod, field)
    }
    const pods = samplePods(names.join(' '), Object.fromEntries(bad.map((each, i) => [`a${i}`, each])))
    const watched = pods.map((pod) => new Proxy(pod, { get }))
    const seen = sampleSeen({ set: sampleSet({ replicas: count, ...over }), pods: watched })
    touched.clear()
    const { actions, wait } = plan(seen)
    status(seen, { done: actions, failed: [], skipped: [], wait })
    const looked = touched.size
    expect(inFewWords(actions)).toEqual(expected)
    expect(looked).toBeLessThanOrEqual(1)
  })
})
