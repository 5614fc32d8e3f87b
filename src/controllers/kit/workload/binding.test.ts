import { expect, it } from 'vitest'
import type { Pod } from '../../../api/generated/types.ts'
import { isMereBinding } from './binding.ts'

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
