import { describe, expect, test } from 'vitest'
import { type ResourceType, clonesets, daemonsets, jobs, nodes, pods, replicasets, replicationcontrollers, statefulsets } from '../../client/index.ts'
import { slim, slimWithoutTemplates } from './slim.ts'

const pod = (isReady: boolean) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', uid: 'u', resourceVersion: '1', labels: { app: 'a' }, managedFields: [{}], annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}', kept: 'yes' } },
  spec: {
    nodeName: 'n', restartPolicy: 'Always', volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'c' } }, { name: 'tmp', emptyDir: {} }],
    containers: [{ name: 'm', image: 'i', env: [{ name: 'A', value: '1' }], readinessProbe: { httpGet: { path: '/', port: 80 } } }],
  },
  status: { phase: 'Running', conditions: [{ type: 'PodScheduled', status: 'True' }, { type: 'Ready', status: isReady ? 'True' : 'False' }], containerStatuses: [{ name: 'm', ready: isReady }] },
})

describe('slim()', () => {
  test('keeps of a pod that is not ready what explains why', () => {
    const { metadata, spec, status } = slim(pod(false) as never, pods) as any
    expect(metadata).toEqual({ name: 'a', uid: 'u', resourceVersion: '1', labels: { app: 'a' }, annotations: { kept: 'yes' } })
    expect(spec.containers).toEqual([{ name: 'm', image: 'i', readinessProbe: { httpGet: { path: '/', port: 80 } } }])
    expect(status.containerStatuses).toHaveLength(1)
    expect(status.conditions).toHaveLength(2)
  })

  test('keeps of a pod that is ready what it is counted and found by', () => {
    const { metadata, spec, status } = slim(pod(true) as never, pods) as any
    expect(metadata.labels).toEqual({ app: 'a' })
    expect(spec).toMatchObject({ nodeName: 'n', restartPolicy: 'Always', containers: [], volumes: [{ name: 'data' }] })
    expect(status).toEqual({ phase: 'Running', startTime: undefined, conditions: [{ type: 'Ready', status: 'True' }] })
  })

  test('leaves what is frozen as it is, and the template of a workload', () => {
    const frozen = Object.freeze(pod(true))
    expect(slim(frozen as never, pods)).toBe(frozen)
    const set = { metadata: { name: 's', managedFields: [{}] }, spec: { template: { spec: { containers: [{ name: 'm', env: [{}] }] } } } }
    expect(slim(set as never, statefulsets)).toEqual({ metadata: { name: 's' }, spec: set.spec })
  })
})

describe('slim() of a node', () => {
  test('keeps what decides whether it may run a pod, and whether it is lost', () => {
    const metadata = { name: 'n', labels: { zone: 'a' } }
    const decisive = { taints: [{ key: 'k', effect: 'NoSchedule' }], unschedulable: true }
    const conditions = [{ type: 'Ready', status: 'True' }]
    const node = { metadata, spec: { ...decisive, providerID: 'p' }, status: { conditions, images: [{ names: ['i'] }], nodeInfo: {} } }
    expect(slim(node as never, nodes)).toEqual({ metadata, spec: decisive, status: { conditions } })
    expect(slim({ metadata } as never, nodes)).toEqual({ metadata, spec: {}, status: {} })
  })
})

describe('slimWithoutTemplates()', () => {
  const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'm', image: 'i' }] } }
  const labels = { metadata: template.metadata, spec: { containers: [] } }
  const rows: [string, ResourceType, fields: object, template: object][] = [
    ['keeps the labels alone of the template of a ReplicaSet', replicasets, { replicas: 1 }, labels],
    ['keeps the labels alone of the template of a ReplicationController', replicationcontrollers, { replicas: 1, minReadySeconds: 5 }, labels],
    ['keeps the template of a StatefulSet', statefulsets, { serviceName: 's' }, template],
    ['keeps the template of a DaemonSet', daemonsets, { updateStrategy: {} }, template],
    ['keeps the template of a Job', jobs, { backoffLimit: 6 }, template],
    // It may have the same fields as a ReplicaSet.
    ['keeps the template of a CloneSet', clonesets, { replicas: 1 }, template],
  ]
  test.each(rows)('%s', (_, type, fields, kept) => {
    const object = { metadata: { name: 'w' }, spec: { template, selector: {}, ...fields } }
    expect(slimWithoutTemplates(object as never, type)).toEqual({ ...object, spec: { ...object.spec, template: kept } })
  })
})
