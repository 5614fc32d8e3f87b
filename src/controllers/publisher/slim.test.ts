import { describe, expect, test } from 'vitest'
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
    const { metadata, spec, status } = slim(pod(false) as never) as any
    expect(metadata).toEqual({ name: 'a', uid: 'u', resourceVersion: '1', labels: { app: 'a' }, annotations: { kept: 'yes' } })
    expect(spec.containers).toEqual([{ name: 'm', image: 'i', readinessProbe: { httpGet: { path: '/', port: 80 } } }])
    expect(status.containerStatuses).toHaveLength(1)
    expect(status.conditions).toHaveLength(2)
  })

  test('keeps of a pod that is ready what it is counted and found by', () => {
    const { metadata, spec, status } = slim(pod(true) as never) as any
    expect(metadata.labels).toEqual({ app: 'a' })
    expect(spec).toMatchObject({ nodeName: 'n', restartPolicy: 'Always', containers: [], volumes: [{ name: 'data' }] })
    expect(status).toEqual({ phase: 'Running', startTime: undefined, conditions: [{ type: 'Ready', status: 'True' }] })
  })

  test('leaves what is frozen as it is, and the template of a workload', () => {
    const frozen = Object.freeze(pod(true))
    expect(slim(frozen as never)).toBe(frozen)
    const set = { metadata: { name: 's', managedFields: [{}] }, spec: { template: { spec: { containers: [{ name: 'm', env: [{}] }] } } } }
    expect(slim(set as never)).toEqual({ metadata: { name: 's' }, spec: set.spec })
  })
})

describe('slimWithoutTemplates()', () => {
  const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'm', image: 'i' }] } }
  test('keeps the labels alone of the template of a ReplicaSet or a ReplicationController', () => {
    const spec = { replicas: 1, selector: { matchLabels: { app: 'a' } }, template }
    expect(slimWithoutTemplates({ metadata: { name: 'r' }, spec } as never)).toEqual({
      metadata: { name: 'r' }, spec: { ...spec, template: { metadata: template.metadata, spec: { containers: [] } } },
    })
  })

  test.each([['StatefulSet', { serviceName: 's', updateStrategy: {} }], ['DaemonSet', { updateStrategy: {}, revisionHistoryLimit: 10 }], ['Job', { backoffLimit: 6 }]])(
    'keeps the template of a %s whole',
    (_, fields) => {
      const object = { metadata: { name: 'w' }, spec: { template, selector: {}, ...fields } }
      expect(slimWithoutTemplates(object as never)).toEqual(object)
    },
  )
})
