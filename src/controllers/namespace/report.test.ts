import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../api/object.ts'
import { configmaps, deployments, pods } from '../../client/index.ts'
import { type KindReport, type Report, conditionsOf, isEmpty, secondsLeft } from './report.ts'

const some = (count: number, finalizers?: string[]): KubeObject[] => Array.from({ length: count }, (_, i) => ({ metadata: { name: String(i), ...(finalizers ? { finalizers } : {}) } }))

const kind = (type: KindReport['type'], remaining: KubeObject[], more: Partial<KindReport> = {}): KindReport => ({ type, remaining, graceSeconds: 0, error: undefined, ...more })

const rows: { name: string; report: Report; said: string[]; isEmpty?: boolean; seconds?: number }[] = [
  { name: 'nothing left', report: { discoveryError: undefined, kinds: [kind(pods, [])] }, said: [], isEmpty: true },
  {
    name: 'pods that end',
    report: { discoveryError: undefined, kinds: [kind(pods, some(2), { graceSeconds: 30 })] },
    said: ['NamespaceContentRemaining Some resources are remaining: pods. has 2 resource instances'],
    seconds: 30,
  },
  {
    name: 'finalizers',
    report: { discoveryError: undefined, kinds: [kind(deployments, some(1, ['b', 'a'])), kind(configmaps, some(2, ['a']))] },
    said: [
      'NamespaceContentRemaining Some resources are remaining: configmaps. has 2 resource instances, deployments.apps has 1 resource instances',
      'NamespaceFinalizersRemaining Some content in the namespace has finalizers remaining: a in 3 resource instances, b in 1 resource instances',
    ],
    seconds: 15,
  },
  {
    name: 'what should be gone',
    report: { discoveryError: undefined, kinds: [kind(deployments, some(1))] },
    said: [
      'NamespaceDeletionContentFailure Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: x for gvr: apps/v1, Resource=deployments',
      'NamespaceContentRemaining Some resources are remaining: deployments.apps has 1 resource instances',
    ],
  },
  {
    name: 'errors',
    report: { discoveryError: 'who knows', kinds: [kind(pods, [], { error: new Error('b') }), kind(configmaps, [], { error: new Error('a') })] },
    said: ['NamespaceDeletionDiscoveryFailure who knows', 'NamespaceDeletionContentFailure Failed to delete all resource types, 2 remaining: a, b'],
  },
]

describe('what is said of a namespace with', () => {
  it.each(rows)('$name', ({ report, said, isEmpty: empty = false, seconds = 0 }) => {
    const conditions = conditionsOf('x', report, undefined, 0)
    expect(conditions).toHaveLength(5)
    expect(conditions.filter((c) => c.status === 'True').map((c) => `${c.type} ${c.message}`)).toEqual(said)
    expect([isEmpty(report), secondsLeft(report)]).toEqual([empty, seconds])
  })

  it('an old condition keeps its time for as long as its status is the same', () => {
    const [waiting, more, done] = [rows[1]!.report, rows[2]!.report, rows[0]!.report]
    const first = conditionsOf('x', waiting, undefined, 0)
    const second = conditionsOf('x', more, first, 60_000)
    const third = conditionsOf('x', done, second, 120_000)
    const times = [first, second, third].map((conditions) => conditions.find((c) => c.type === 'NamespaceContentRemaining')!.lastTransitionTime)
    expect(times).toEqual(['1970-01-01T00:00:00Z', '1970-01-01T00:00:00Z', '1970-01-01T00:02:00Z'])
  })
})
