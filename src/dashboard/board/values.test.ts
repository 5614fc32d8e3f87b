import { describe, expect, it } from 'vitest'
import type { Cause, CauseKind } from '../../api/explain/index.ts'
import { rowOf } from '../../insight/workload/row.ts'
import { sampleNow, sampleWorkload } from '../../insight/workload/sample.ts'
import { workloadColumns } from '../stream/columns.ts'
import { workloadValues } from './values.ts'

const cause = (what: CauseKind, text: string, kind = 'Pod'): Cause => ({ what, weight: 'trouble', object: { kind, name: 'web-0' }, text, help: '' })
const sentence = Object.keys(workloadColumns).indexOf('sentence')

describe('workloadValues()', () => {
  const lost = cause('NodeLost', 'is on node n1, which has stopped reporting')
  const crash = cause('CrashLoop', 'crashes')
  const claim = cause('ClaimPending', 'waits for claim data, which is not bound')
  const refusal = cause('CreateRefused', 'cannot be created: quota', 'StatefulSet')

  it.each<[string, Cause[], string[], string]>([
    ['everything', [lost, crash], ['Pod', 'Node'], 'Pod web-0 is on node n1, which has stopped reporting'],
    ['no nodes', [lost, crash], ['Pod'], 'Pod web-0 crashes'],
    ['no nodes, and no other cause', [lost], ['Pod'], ''],
    ['no pods', [lost, crash], ['Node'], ''],
    ['no claims', [claim], ['Pod', 'Node'], ''],
    ['claims', [claim], ['Pod', 'PersistentVolumeClaim'], 'Pod web-0 waits for claim data, which is not bound'],
    ['no events', [refusal], ['Pod'], ''],
    ['events', [refusal], ['Pod', 'Event'], 'StatefulSet web-0 cannot be created: quota'],
  ])('tells a viewer who may list %s', (_, causes, listed, expected) => {
    const [kind, object] = sampleWorkload('StatefulSet', { replicas: 1 })
    const row = { ...rowOf(kind, object, sampleNow), causes, message: '' }
    expect(workloadValues(row, (one) => listed.includes(one))[sentence]).toBe(expected)
  })

  it('tells a refusal that is in the conditions to everybody who may list pods', () => {
    const [kind, object] = sampleWorkload('Deployment', { replicas: 1 })
    const conditions = [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'quota' }]
    const row = { ...rowOf(kind, { ...object, status: { ...object.status, conditions } }, sampleNow), causes: [refusal] }
    expect(workloadValues(row, (one) => one === 'Pod')[sentence]).toBe('StatefulSet web-0 cannot be created: quota')
  })
})
