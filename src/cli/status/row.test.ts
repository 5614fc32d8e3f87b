import { describe, expect, it } from 'vitest'
import { textOf } from '../terminal/line.ts'
import { condition, counts, sampleNow, sampleWorkload } from '../../insight/workload/sample.ts'
import { byAttention, isOwned, needsExplanation, rowOf } from '../../insight/workload/row.ts'
import { documentOf, statusTable } from './row.ts'

const stuck = rowOf(
  ...sampleWorkload(
    'Deployment',
    {},
    { ...counts(1), conditions: [condition('ReplicaFailure', 'True', 'FailedCreate')] },
    { name: 'stuck' },
  ),
  sampleNow,
)
const late = rowOf(
  ...sampleWorkload(
    'Deployment',
    { progressDeadlineSeconds: 600 },
    { ...counts(4, 1, 3, 3), conditions: [condition('Progressing', 'True', 'ReplicaSetUpdated', 60)] },
    { name: 'late' },
  ),
  sampleNow,
  [
    {
      what: 'ImagePull',
      weight: 'trouble',
      object: { kind: 'Pod', name: 'late-1' },
      text: 'cannot pull\nimage',
      since: '2026-01-01T00:09:30Z',
      help: '',
    },
  ],
)
const fine = rowOf(
  ...sampleWorkload(
    'StatefulSet',
    {},
    { ...counts(3), conditions: [condition('Available', 'True')] },
    { name: 'fine' },
  ),
  sampleNow,
)
const job = rowOf(
  ...sampleWorkload(
    'Job',
    {},
    { conditions: [condition('Failed', 'True', 'BackoffLimitExceeded', 30, 'Too often')] },
    { name: 'import' },
  ),
  sampleNow,
)

it('rows are in the order in which they need attention', () => {
  expect([fine, late, job, stuck].toSorted(byAttention).map(({ object }) => object.metadata.name)).toEqual([
    'stuck',
    'import',
    'late',
    'fine',
  ])
})

it('statusTable() has a line a workload, with the first cause and its time', () => {
  expect(statusTable([stuck, late, job, fine], false, sampleNow).map((line) => textOf(line).trimEnd())).toEqual([
    'WORKLOAD          STATE        READY  UP-TO-DATE  SINCE  DEADLINE  REASON',
    'deployment/stuck  Stuck        1/3    1           60s    -         ' +
      '1 of 3 replicas is updated, 1 of 3 is available',
    'deployment/late   Progressing  3/3    1           30s    9m        Pod late-1 cannot pull image',
    'job/import        Failed       -      -           30s    -         BackoffLimitExceeded: Too often',
    'statefulset/fine  Available    3/3    3           60s    -',
  ])
})

it.each([
  [120, 'WORKLOAD         STATE        READY  UP-TO-DATE  SINCE  DEADLINE  REASON'],
  [98, 'WORKLOAD         STATE        READY  UP-TO-DATE  SINCE  DEADLINE  REASON'],
  [88, 'WORKLOAD         STATE        READY  SINCE  DEADLINE  REASON'],
  [80, 'WORKLOAD         STATE        READY  SINCE  REASON'],
  [40, 'WORKLOAD         STATE        READY  REASON'],
])('statusTable() on a terminal of %i columns leaves room for the reason', (width, heads) => {
  expect(textOf(statusTable([late], false, sampleNow, width)[0]!)).toBe(heads)
})

it('statusTable() has a column of namespaces where there are several', () => {
  expect(textOf(statusTable([fine], true, sampleNow)[1]!)).toMatch(/^default    statefulset\/fine/)
})

it('only what is not where it should be has to be explained', () => {
  expect([stuck, late, fine, job].map(needsExplanation)).toEqual([true, true, false, true])
})

describe('isOwned()', () => {
  const owned = (kind: 'ReplicaSet' | 'Job', owner: string) => {
    const [workloadKind, object] = sampleWorkload(
      kind,
      {},
      {},
      { ownerReferences: [{ apiVersion: 'v1', kind: owner, name: 'x', uid: 'u', controller: true }] },
    )
    return isOwned({ kind: workloadKind, object })
  }
  it.each([
    ['ReplicaSet', 'Deployment', true],
    ['ReplicaSet', 'Rollout', false],
    ['Job', 'CronJob', true],
  ] as const)('a %s of a %s: %s', (kind, owner, expected) => expect(owned(kind, owner)).toBe(expected))
})

it('documentOf() is what programs read', () => {
  expect(documentOf(late)).toMatchObject({
    workload: { kind: 'Deployment', namespace: 'default', name: 'late' },
    state: 'Progressing',
    reason: 'ReplicaSetUpdated',
    deadline: '2026-01-01T00:19:00Z',
    replicas: { desired: 3, current: 4, updated: 1, ready: 3, available: 3 },
    causes: [
      { cause: 'ImagePull', weight: 'trouble', object: { kind: 'Pod', name: 'late-1' }, since: '2026-01-01T00:09:30Z' },
    ],
  })
})
