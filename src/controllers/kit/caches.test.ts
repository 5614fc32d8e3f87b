import { expect, it } from 'vitest'
import type { LabelSelector, Pod } from '../../api/generated/types.ts'
import { pods, resourceName } from '../../client/index.ts'
import { Caches, type Informers, kitIndexes } from './caches.ts'

const controller = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'r', controller: true }]
const pod = (name: string, namespace: string, labels?: Record<string, string>, ownerReferences?: object[]): Pod =>
  ({ metadata: { name, namespace, labels, ownerReferences } }) as unknown as Pod
const bare = Array.from({ length: 100 }, (_, i) => pod(`bare-${i}`, 'ns', { app: 'bare', tier: 'x' }))
const all = [
  ...bare, pod('a', 'ns', { app: 'web', tier: 'x' }), pod('b', 'ns', { app: 'web' }), pod('c', 'ns'),
  pod('d', 'other', { app: 'web' }), pod('e', 'ns', { app: 'web', tier: 'x' }, controller),
]
let read = 0
const informer = {
  byIndex: (index: string, value: string) => {
    const found = all.filter((p) => kitIndexes[index]!(p).includes(value))
    read += found.length
    return found
  },
}
const caches = new Caches(new Map([[resourceName(pods), informer]]) as unknown as Informers)

it.each<[string, LabelSelector | undefined, number, string]>([
  ['all without a selector', undefined, 103, ''],
  ['all for an empty selector', {}, 103, ''],
  ['all for a selector of expressions', { matchExpressions: [{ key: 'app', operator: 'Exists' }] }, 103, ''],
  ['those with the label', { matchLabels: { app: 'web' } }, 2, 'a b'],
  ['those with the rarest label', { matchLabels: { tier: 'x', app: 'web' } }, 103, 'a b'],
  ['none for a label that none has', { matchLabels: { app: 'none', tier: 'x' } }, 0, ''],
])('Caches.orphans() finds %s, without a look at the others', (_, selector, most, names) => {
  read = 0
  const found = caches.orphans(pods, 'ns', selector).map(({ metadata }) => metadata.name)
  expect(read).toBeLessThanOrEqual(most)
  if (names || most === 0) expect(found.join(' ')).toBe(names)
  else expect(found).toHaveLength(102 + 1)
})
