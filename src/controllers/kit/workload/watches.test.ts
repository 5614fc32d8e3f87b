import { expect, it } from 'vitest'
import type { LabelSelector, Pod, ReplicaSet } from '../../../api/generated/types.ts'
import type { KubeObject } from '../../../api/object.ts'
import { replicasets } from '../../../client/index.ts'
import type { Caches } from '../caches.ts'
import { isMereBinding, keysSelecting, selectorIndex } from './watches.ts'

const set = (name: string, selector: LabelSelector | undefined, namespace = 'default') => ({ metadata: { name, namespace }, spec: { selector } }) as ReplicaSet

const sets = [
  set('app', { matchLabels: { app: 'web' } }),
  set('two', { matchLabels: { app: 'web', tier: 'front' } }),
  set('expression', { matchExpressions: [{ key: 'app', operator: 'In', values: ['web', 'db'] }] }),
  set('both', { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] }),
  set('elsewhere', { matchLabels: { app: 'web' } }, 'other'),
  set('all', {}),
  set('none', undefined),
]

const selecting = selectorIndex(replicasets, (s) => s.spec.selector)
let asked = 0
/** A cache that holds these sets. */
const cachesOf = (all: readonly ReplicaSet[]) =>
  ({
    of: () => ({
      size: all.length,
      byIndex: (name: string, value: string) => {
        expect(name).toBe(selecting.index.name)
        asked++
        return all.filter((s) => selecting.index.valuesOf(s as KubeObject).includes(value))
      },
    }),
  }) as unknown as Caches

it.each<[string, Record<string, string> | undefined, string[]]>([
  ['one label', { app: 'web' }, ['all', 'app', 'both', 'expression']],
  ['two labels', { app: 'web', tier: 'front' }, ['all', 'app', 'expression', 'two']],
  ['another value', { app: 'db' }, ['all', 'expression']],
  ['no labels', undefined, ['all']],
])('keysSelecting() finds who selects a pod with %s, by its labels alone', (_, labels, expected) => {
  asked = 0
  const keys = [...keysSelecting(selecting, cachesOf(sets), { metadata: { name: 'p', namespace: 'default', labels } })]
  expect(keys.sort()).toEqual(expected.map((name) => `default/${name}`))
  expect(asked).toBe(Object.keys(labels ?? {}).length + 1)
})

it('keysSelecting() looks for nobody where there is nobody', () => {
  asked = 0
  expect([...keysSelecting(selecting, cachesOf([]), { metadata: { name: 'p', namespace: 'default', labels: { app: 'web' } } })]).toEqual([])
  expect(asked).toBe(0)
})

const pod = (nodeName: string | undefined, over: { metadata?: object; status?: object } = {}): Pod =>
  ({ metadata: { name: 'web-0', labels: { app: 'web' }, ...over.metadata }, spec: { nodeName }, status: { phase: 'Pending', ...over.status } }) as unknown as Pod
const scheduled = { conditions: [{ type: 'PodScheduled', status: 'True' }] }

it.each<[string, Pod, Pod, boolean]>([
  ['it was given a node', pod(undefined), pod('n1', { status: scheduled }), true],
  ['it had one', pod('n1'), pod('n1', { status: scheduled }), false],
  ['it has none', pod(undefined), pod(undefined, { status: scheduled }), false],
  ['it runs, too', pod(undefined), pod('n1', { status: { phase: 'Running' } }), false],
  ['it is ready, too', pod(undefined), pod('n1', { status: { conditions: [{ type: 'Ready', status: 'True' }] } }), false],
  ['it goes', pod(undefined), pod('n1', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }), false],
  ['it has other labels', pod(undefined), pod('n1', { metadata: { labels: {} } }), false],
  ['it has another owner', pod(undefined), pod('n1', { metadata: { ownerReferences: [{ uid: 'u' }] } }), false],
])('isMereBinding(): %s', (_, before, after, expected) => {
  expect(isMereBinding(before, after)).toBe(expected)
})
