import { expect, it } from 'vitest'
import { compileLabelSelector } from '../../client/index.ts'
import { KnownMembers } from './known-members.ts'
import { type Member, memberOf } from './member.ts'
import { nowMs, samplePod, sampleSet } from './sample.ts'

const set = sampleSet()

const read = (pod: ReturnType<typeof samplePod>): Member => memberOf(set, compileLabelSelector(set.spec.selector), pod, nowMs)!
const pods = Array.from({ length: 30 }, (_, i) => samplePod(i, 'a', 'ready'))

const knownOf = (known: readonly Member[], now: typeof pods) => {
  const members = new KnownMembers(known)
  return now.map((pod) => members.next(pod)?.ordinal)
}
const ordinals = pods.map((_, i) => i)

it.each<[string, typeof pods, (number | undefined)[]]>([
  ['all are the same', pods, ordinals],
  ['one is another object by now', pods.with(3, { ...pods[3]! }), ordinals.with(3, undefined as never)],
  ['one has gone', pods.toSpliced(3, 1), ordinals.toSpliced(3, 1)],
  ['one went and came back', [...pods.toSpliced(3, 1), { ...pods[3]! }], [...ordinals.toSpliced(3, 1), undefined]],
  ['the last came first', [pods[29]!, ...pods.slice(0, 29)], [undefined, ...ordinals.slice(0, 29)]],
  ['none is left', [], []],
])('%s', (_, now, expected) => {
  expect(knownOf(pods.map(read), now)).toEqual(expected)
})

it('reads a pod again that is ready and not yet available', () => {
  const known = { ...read(pods[0]!), isAvailable: false }
  expect(knownOf([known, read(pods[1]!)], pods.slice(0, 2))).toEqual([undefined, 1])
})
