import { expect, it } from 'vitest'
import type { LabelSelector, Pod } from '../../../api/generated/types.ts'
import type { Caches } from '../caches.ts'
import { byNode, podsByLabel, podsOnNode, selectedPods } from './pod-indexes.ts'

const pod = (name: string, namespace: string, labels: Record<string, string>, nodeName?: string): Pod => ({ metadata: { name, namespace, labels }, spec: { nodeName } }) as unknown as Pod
const all = [pod('a', 'ns', { app: 'web', tier: 'x' }, 'n1'), pod('b', 'ns', { app: 'web', tier: 'y' }), pod('c', 'ns', {}), pod('d', 'other', { app: 'web', tier: 'x' })]
const looked: string[] = []
const caches = {
  byIndex: (_: unknown, index: string, value: string) => {
    looked.push(value)
    return all.filter((p) => [podsByLabel, byNode].find((i) => i.name === index)!.valuesOf(p).includes(value))
  },
} as unknown as Caches

it.each<[string, LabelSelector | undefined, string]>([
  ['no selector selects none', undefined, ''],
  ['an empty one all of its namespace', {}, 'abc'],
  ['by one label', { matchLabels: { app: 'web' } }, 'ab'],
  ['by several', { matchLabels: { app: 'web', tier: 'y' } }, 'b'],
  ['by expressions', { matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] }, 'c'],
  ['by both', { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'tier', operator: 'In', values: ['x'] }] }, 'a'],
])('selectedPods(): %s', (_, selector, names) => {
  expect(selectedPods(caches, 'ns', selector).map((p) => p.metadata.name).join('')).toBe(names)
})

it('selectedPods() does not look at the whole namespace for a selector with labels', () => {
  looked.length = 0
  selectedPods(caches, 'ns', { matchLabels: { app: 'web' } })
  expect(looked).toEqual(['ns app=web'])
})

it('podsOnNode() finds pods by their node', () => {
  expect(podsOnNode(caches, 'n1').map((p) => p.metadata.name)).toEqual(['a'])
})
