import { expect, it } from 'vitest'
import { SeededRandom } from '../../base/seeded-random.ts'
import { compileLabelSelector } from '../../client/index.ts'
import { type Member, memberOf } from './member.ts'
import { revisionsOf } from './observe.ts'
import { emptyOrdinals, ordinalsReader } from './ordinals.ts'
import { type PodState, nowMs, samplePod, sampleRevision, sampleSet } from './sample.ts'

const states: readonly PodState[] = ['ready', 'unready', 'pending', 'going', 'failed', 'young']

it('ordinals are the same however their pods have come and gone', () => {
  const random = new SeededRandom(7)
  const set = sampleSet({ image: 'b', replicas: 12, partition: 3, spec: { ordinals: { start: 2 }, minReadySeconds: 10 } })
  const history = [sampleRevision('a', 1, sampleSet({ image: 'a' })), sampleRevision('b', 2, sampleSet({ image: 'b' }))]
  const revisions = revisionsOf({ ...set, status: { ...set.status, currentRevision: 'a' } }, history)
  const basis = { set, matches: compileLabelSelector(set.spec.selector), update: revisions.update.name, claimOf: () => undefined }
  const { sumOf } = ordinalsReader(basis, revisions)
  const kept = emptyOrdinals(set, revisions)
  const members = new Map<number, Member>()
  for (let i = 0; i < 3000; i++) {
    const ordinal = random.below(18)
    const before = members.get(ordinal)
    if (before) kept.remove(before)
    members.delete(ordinal)
    if (random.below(3) === 0) continue
    const labels = random.below(8) === 0 ? { labels: {} } : {}
    const member = memberOf(basis, samplePod(ordinal, random.pick(['a', 'b']), random.pick(states), { metadata: labels }), nowMs)!
    members.set(ordinal, member)
    kept.add(member)
    const anew = emptyOrdinals(set, revisions)
    for (const each of members.values()) anew.add(each)
    expect(sumOf!(kept)).toEqual(sumOf!(anew))
    const taken = new Set([...members].flatMap(([at, { role }]) => (role === 'misfit' ? [] : [at])))
    const free = Array.from({ length: 12 }, (_, at) => at + 2).filter((at) => !taken.has(at))
    expect([[...kept.missingOrdinals()], kept.missing, kept.firstMissing]).toEqual([free, free.length, free[0]])
    for (let first = 0; first < 15; first++) expect(kept.isMissingFrom(first)).toBe(free.some((o) => o >= first))
  }
})
