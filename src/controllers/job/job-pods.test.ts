import { expect, it } from 'vitest'
import type { Job, Pod } from '../../api/generated/types.ts'
import { SeededRandom } from '../../base/seeded-random.ts'
import { keyOf } from '../../client/index.ts'
import { FreeIndexes, IndexSet } from './indexes.ts'
import { JobPods, jobPodsReader } from './job-pods.ts'
import { type Member, memberOf } from './member.ts'
import { type SampleState, nowMs, sampleJob, samplePod } from './sample.ts'

const completions = 8
const plain = { completions, parallelism: 8 }
const indexed = { ...plain, completionMode: 'Indexed' }
const ignoring = { rules: [{ action: 'Ignore', onExitCodes: { operator: 'In', values: [42] } }] }
const failing = { rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } }] }

const states: readonly SampleState[] = [
  {}, { phase: 'Running', isReady: true }, { phase: 'Running', deletedFor: 1 }, { isTracked: false },
  { phase: 'Succeeded' }, { phase: 'Succeeded', isTracked: false },
  { phase: 'Failed', endedFor: 1 }, { phase: 'Failed', endedFor: 2, failures: 1 }, { phase: 'Failed', exitCode: 42 },
]

it.each<[name: string, spec: Parameters<typeof sampleJob>[0]]>([
  ['without indexes', plain],
  ['with a failure policy', { ...plain, podFailurePolicy: failing }],
  ['with indexes', indexed],
  ['with indexes that wait for pods to end', { ...indexed, podReplacementPolicy: 'Failed' }],
  ['with a limit for each index', { ...indexed, backoffLimitPerIndex: 1 }],
  [
    'with a limit for each index, and failures that do not count',
    { ...indexed, backoffLimitPerIndex: 1, podFailurePolicy: ignoring },
  ],
])('JobPods are the same as if they were sorted anew, whatever comes and goes: %s', (_, spec) => {
  const random = new SeededRandom(7)
  const members = new Map<string, Member>()
  let job: Job = sampleJob(spec)
  const kept = new JobPods(job)
  for (let step = 0; step < 250; step++) {
    if (random.below(10) === 0) job = sampleJob(spec, randomStatus(random))
    const name = `p${random.below(12)}`
    const key = `default/${name}`
    const before = members.get(key)
    if (before) kept.remove(key, before)
    members.delete(key)
    if (random.below(3) > 0) {
      const index = random.below(9) > 0 ? { index: random.below(completions + 1) } : {}
      const pod = samplePod(name, { ...random.pick(states), ...index })
      const member = memberOf({ job, matches: () => true }, pod, nowMs) as Member
      members.set(key, member)
      kept.add(key, member)
    }
    const { sumOf } = jobPodsReader({ job, matches: () => true })
    const anew = new JobPods(job).know(job.status)
    for (const [at, each] of members) anew.add(at, each)
    expect(sumOf!(kept)).toEqual(sumOf!(anew))
    if (spec?.completionMode) expect(kept.freeIndexes(3)).toEqual(freeOf(job, members).slice(0, 3))
  }
})

function randomStatus(random: SeededRandom): Job['status'] {
  const some = () => `${IndexSet.of(Array.from({ length: random.below(4) }, () => random.below(completions)))}`
  return { completedIndexes: some(), failedIndexes: some() }
}

/** Indexes that are not done and have no pod, one by one. */
function freeOf({ status, spec }: Job, members: ReadonlyMap<string, Member>): number[] {
  const read = (text: string | undefined) => IndexSet.parse(text, completions)
  const done = read(status?.completedIndexes).union(read(status?.failedIndexes))
  const takes = (member: Member) => member.isActive || member.fate === 'succeeded' || member.isFinal
    || (member.isGoing && (spec.podReplacementPolicy === 'Failed' || spec.podFailurePolicy !== undefined))
  const taken = new Set([...members.values()].filter(takes).map(({ index }) => index))
  const all = Array.from({ length: completions }, (_, index) => index)
  return all.filter((index) => !done.has(index) && !taken.has(index))
}

it('the last failed pod of an index waits until the index has another, or is done', () => {
  const job = sampleJob({ ...indexed, backoffLimitPerIndex: 3 })
  const pods = new JobPods(job)
  const add = (pod: Pod): Member => {
    const member = memberOf({ job, matches: () => true }, pod, nowMs) as Member
    pods.add(keyOf(pod), member)
    return member
  }
  const waiting = () => [...pods.predecessors.values()].map(({ key }) => key)
  const counted = () => [...pods.ended.failed.keys()]
  add(samplePod('a', { phase: 'Failed', index: 2, failures: 0 }))
  expect([waiting(), counted()]).toEqual([['default/a'], []])
  add(samplePod('b', { phase: 'Failed', index: 2, failures: 1 }))
  expect([waiting(), counted()]).toEqual([['default/b'], ['default/a']])
  const successor = add(samplePod('c', { phase: 'Running', index: 2, failures: 2 }))
  expect([waiting(), counted()]).toEqual([[], ['default/a', 'default/b']])
  pods.remove('default/c', successor)
  expect([waiting(), counted()]).toEqual([['default/b'], ['default/a']])
  pods.know({ completedIndexes: '0-3' })
  expect([waiting(), counted()]).toEqual([[], ['default/a', 'default/b']])
})

it('FreeIndexes looks at each index once, and again only when it may be free again', () => {
  const taken = new Set<number>()
  let looks = 0
  const free = new FreeIndexes(10_000, (index) => {
    looks++
    return taken.has(index)
  })
  for (let made = 0; made < 10_000; made++) {
    const [index] = free.first(1)
    taken.add(index!)
    free.change(index!)
  }
  expect([taken.size, free.first(1)]).toEqual([10_000, []])
  taken.delete(17)
  free.change(17)
  expect(free.first(5)).toEqual([17])
  expect(looks).toBeLessThan(30_000)
})
