import { describe, expect, it } from 'vitest'
import { FeatureGates } from '../../../api/feature-gates.ts'
import { samplePod } from '../../../api/kinds/pods/sample-pod.ts'
import type { Column, RuleContext } from '../../registry/resource.ts'
import { pods } from './pods.ts'

const ctx: RuleContext = { gates: FeatureGates.of(), now: Date.parse('2026-01-01T00:05:00Z') }
const columns = pods.columns as unknown as Column<unknown>[]

describe('pods', () => {
  it('shows a pod in a table', () => {
    const pod = samplePod(
      { nodeName: 'n1' },
      {
        metadata: { name: 'p', creationTimestamp: '2026-01-01T00:00:00Z' },
        status: { phase: 'Running', podIP: '10.0.0.1', nominatedNodeName: 'n2' },
      },
    )
    expect(columns.map((column) => column.cell(pod, ctx.now))).toEqual(
      ['p', '0/1', 'Running', '0', '5m', '10.0.0.1', 'n1', 'n2', '<none>'],
    )
  })

  it('describes every column', () => {
    for (const { description } of columns) expect(typeof description === 'string' ? description : description()).not.toBe('')
  })

  it.each([
    { phase: 'Running', reasons: [] },
    { phase: 'Succeeded', reasons: ['Succeeded'] },
    { phase: 'Failed', reasons: ['Failed'] },
  ])('marks the row of a pod that is $phase', ({ phase, reasons }) => {
    expect(pods.rowConditions!(samplePod({}, { status: { phase } })).map((c) => c.reason)).toEqual(reasons)
  })

  it('can be selected by what schedulers and nodes ask for', () => {
    const pod = samplePod(
      { nodeName: 'n1', hostNetwork: true, serviceAccountName: 'sa' },
      { status: { phase: 'Running', podIP: '10.0.0.1' } },
    )
    const values = Object.fromEntries(Object.entries(pods.selectableFields!).map(([field, of]) => [field, of(pod)]))
    expect(values).toEqual({
      'spec.nodeName': 'n1',
      'spec.host': 'n1',
      'spec.restartPolicy': 'Always',
      'spec.schedulerName': 'default-scheduler',
      'spec.serviceAccountName': 'sa',
      'spec.hostNetwork': 'true',
      'status.phase': 'Running',
      'status.podIP': '10.0.0.1',
      'status.podIPs': '',
      'status.nominatedNodeName': '',
    })
  })

  it('warns when a pod is made, and not when it is updated', () => {
    const pod = samplePod({ terminationGracePeriodSeconds: -1 })
    expect(pods.warnings!(pod, undefined, ctx)).toHaveLength(1)
    expect(pods.warnings!(pod, samplePod(), ctx)).toEqual([])
  })
})
