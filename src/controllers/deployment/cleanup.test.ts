import { expect, it } from 'vitest'
import { surplusSets } from './cleanup.ts'
import { deployment, replicaSet } from './sample-deployments.ts'

const idle = [1, 2, 3].map((n) => replicaSet(n))

it.each<[string, number | undefined, ReturnType<typeof replicaSet>[], string]>([
  ['within the limit', 3, idle, ''],
  ['the oldest revision goes', 2, idle, 'web-1'],
  ['all go', 0, idle, 'web-1 web-2 web-3'],
  ['no limit', undefined, idle, ''],
  ['the limit that means none', 2147483647, idle, ''],
  ['not the oldest object, the lowest number', 2, [replicaSet(1, { annotations: { 'deployment.kubernetes.io/revision': '7' } }), ...idle.slice(1)], 'web-2'],
  ['one that is to have pods stays, and counts', 1, [replicaSet(1, { replicas: 2 }), ...idle.slice(1)], 'web-2'],
  ['one that still has pods stays', 2, [replicaSet(1, { status: { replicas: 1 } }), ...idle.slice(1)], ''],
  ['one that has not heard of its size stays', 2, [replicaSet(1, { metadata: { generation: 5 } }), ...idle.slice(1)], ''],
  ['one that is going does not count', 2, [replicaSet(1, { metadata: { deletionTimestamp: 'now' } }), ...idle.slice(1)], ''],
])('surplusSets(): %s', (_, revisionHistoryLimit, sets, expected) => {
  expect(surplusSets(deployment({ revisionHistoryLimit }), sets).map((set) => set.metadata.name).join(' ')).toBe(expected)
})
