import { expect, it } from 'vitest'
import type { Pod } from '../../../api/generated/types.ts'
import { type KnownMember, KnownMembers } from './known-members.ts'

const pods = Array.from({ length: 30 }, (_, i) => ({ metadata: { name: `p${i}` } }) as Pod)
const places = pods.map((_, i) => i)

const read = (pod: Pod): KnownMember & { place: number } => ({ pod, isReady: true, isAvailable: true, place: Number(pod.metadata.name!.slice(1)) })

const knownOf = (known: readonly ReturnType<typeof read>[], now: readonly Pod[]) => {
  const members = new KnownMembers(known)
  return now.map((pod) => members.next(pod)?.place)
}

it.each<[string, Pod[], (number | undefined)[]]>([
  ['all are the same', pods, places],
  ['one is another object by now', pods.with(3, { ...pods[3]! }), places.with(3, undefined as never)],
  ['one has gone', pods.toSpliced(3, 1), places.toSpliced(3, 1)],
  ['one went and came back', [...pods.toSpliced(3, 1), { ...pods[3]! }], [...places.toSpliced(3, 1), undefined]],
  ['the last came first', [pods[29]!, ...pods.slice(0, 29)], [undefined, ...places.slice(0, 29)]],
  ['none is left', [], []],
])('%s', (_, now, expected) => {
  expect(knownOf(pods.map(read), now)).toEqual(expected)
})

it('reads a pod again that is ready and not yet available', () => {
  const known = { ...read(pods[0]!), isAvailable: false }
  expect(knownOf([known, read(pods[1]!)], pods.slice(0, 2))).toEqual([undefined, 1])
})
