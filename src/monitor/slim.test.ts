import { describe, expect, it } from 'vitest'
import type { Deployment, PersistentVolumeClaim, Pod } from '../api/generated/types.ts'
import { storageClassOf } from '../api/kinds/volumes/storage-classes.ts'
import { deadlineAnnotation } from '../api/kinds/workloads/rollout-clock.ts'
import { causeOfPod } from '../api/explain/index.ts'
import { condition, ended, podOf, podWith, readyPod, waiting } from '../api/explain/sample.ts'
import { PodLabels } from './pod-labels.ts'
import { viewOf } from './sandbox/sandbox-view.ts'
import { namedObjects } from './sandbox/user-objects.ts'
import { podSlimmer, slimClaim, slimWorkload } from './slim.ts'

const groups = ['label:app', 'annotation:team']

const pod = (more: { metadata?: object; spec?: object; status?: object } = {}): Pod =>
  ({
    metadata: { name: 'p', namespace: 'n', uid: 'u', resourceVersion: '7', labels: { app: 'web', other: 'x' }, annotations: { team: 'a', notes: 'long' }, managedFields: [{}], ...more.metadata },
    spec: { containers: [{ name: 'main', image: 'app' }], runtimeClassName: 'vm', volumes: [{ name: 'a', emptyDir: {} }, { name: 'b', persistentVolumeClaim: { claimName: 'c' } }], ...more.spec },
    status: {
      phase: 'Running',
      startTime: '2026-01-01T00:00:01Z',
      podIP: '10.0.0.1',
      conditions: ['PodReadyToStartContainers', 'Ready', 'PodScheduled'].map((type, i) => ({ type, status: 'True', lastTransitionTime: `2026-01-01T00:00:0${i + 2}Z`, message: 'm' })),
      containerStatuses: [{ name: 'main', ready: true, restartCount: 0, image: 'app', imageID: 'i', state: { running: { startedAt: '2026-01-01T00:00:05Z' } } }],
      ...more.status,
    },
  }) as unknown as Pod

const claims = new Map([['n/c', { metadata: {}, spec: { storageClassName: 'fast' } }], ['n/p-e', { metadata: {}, spec: { storageClassName: 'slow' } }]])

describe('podSlimmer() keeps all that is told of a pod', () => {
  const lacking = {
    type: 'PodReadyToStartContainers', status: 'False', lastTransitionTime: '2026-01-01T00:00:02Z',
    reason: 'ConfigMapNotFound', message: 'm',
  }
  const ended = { terminated: { exitCode: 1, startedAt: '2026-01-01T00:00:03Z', finishedAt: '2026-01-01T00:00:04Z' } }
  it.each<[string, Pod]>([
    ['that runs', pod()],
    ['that nobody has taken', pod({ status: { phase: 'Pending', startTime: undefined, conditions: [], containerStatuses: undefined } })],
    ['without a status', { ...pod(), status: undefined } as unknown as Pod],
    ['that waits for a config map', pod({ status: { conditions: [lacking] } })],
    ['that is going', pod({ metadata: { deletionTimestamp: '2026-01-01T01:00:30Z', deletionGracePeriodSeconds: 30 } })],
    ['whose container was restarted', pod({ status: { containerStatuses: [{ restartCount: 1, state: { running: {} }, lastState: ended }] } })],
    ['whose container waits to be restarted', pod({ status: { containerStatuses: [{ restartCount: 3, state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: ended }] } })],
    ['whose containers have ended', pod({ status: { phase: 'Succeeded', containerStatuses: [{ restartCount: 0, state: ended }], initContainerStatuses: [{ restartCount: 0, state: ended }] } })],
    ['with a claim made for it', pod({ spec: { volumes: [{ name: 'e', ephemeral: { volumeClaimTemplate: { spec: {} } } }] } })],
  ])('%s', (_, whole) => {
    const slim = podSlimmer(groups)(whole)
    const labels = new PodLabels(groups, (key) => claims.get(key) as PersistentVolumeClaim | undefined)
    expect(viewOf(slim)).toEqual(viewOf(whole))
    expect(labels.of(slim)).toEqual(labels.of(whole))
    const { name, namespace, uid, resourceVersion } = whole.metadata
    expect(slim.metadata).toMatchObject({ name, namespace, uid, resourceVersion })
  })

  it('and little else', () => {
    const text = JSON.stringify(podSlimmer(groups)(pod()))
    for (const left of ['image', 'managedFields', 'podIP', 'message', 'other', 'notes']) expect(text).not.toContain(left)
  })
})

it.each<[string, object]>([
  ['a config map', { configMap: { name: 'x', items: [] } }],
  ['a secret', { secret: { secretName: 'x' } }],
  ['a claim', { persistentVolumeClaim: { claimName: 'x' } }],
  ['several sources', { projected: { sources: [{ configMap: { name: 'x' } }, { secret: { name: 'y' } }, { downwardAPI: {} }] } }],
  ['the secret of a driver', { csi: { driver: 'd', nodePublishSecretRef: { name: 'x' } } }],
  ['the secret of an older driver', { azureFile: { shareName: 's', secretName: 'x' } }],
])('podSlimmer() keeps the name of %s, whether the pod is ready or not', (_, source) => {
  for (const status of [{}, { conditions: [] }]) {
    const whole = pod({ spec: { volumes: [{ name: 'v', ...source }] }, status })
    expect(namedObjects(whole).length).toBeGreaterThan(0)
    expect(namedObjects(podSlimmer(groups)(whole))).toEqual(namedObjects(whole))
  }
})

it('podSlimmer() keeps one spec for all pods of a template that are not ready', () => {
  const slim = podSlimmer(groups)
  const unready = (name: string, image = 'app') =>
    slim(pod({ metadata: { name }, spec: { nodeName: 'n1', containers: [{ name: 'main', image, readinessProbe: { periodSeconds: 5 } }] }, status: { conditions: [] } }))
  const [a, b, other] = [unready('a'), unready('b'), unready('c', 'other')]
  expect(a.spec).toBe(b.spec)
  expect(other.spec).not.toEqual(a.spec)
  expect(a.metadata.name).not.toBe(b.metadata.name)
})

it('what belongs to the server of this process is left as it is', () => {
  const frozen = Object.freeze(pod())
  expect(podSlimmer([])(frozen)).toBe(frozen)
  expect(slimWorkload(frozen)).toBe(frozen)
})

it('slimClaim() keeps the class, wherever it is said', () => {
  const claim = (metadata: object, spec: object) => ({ metadata, spec: { resources: { requests: { storage: '1Gi' } }, ...spec } }) as unknown as PersistentVolumeClaim
  for (const one of [claim({}, { storageClassName: 'fast' }), claim({ annotations: { 'volume.beta.kubernetes.io/storage-class': 'tape', other: 'x' } }, {}), claim({}, {})]) {
    expect(storageClassOf(slimClaim(one))).toBe(storageClassOf(one))
    expect(JSON.stringify(slimClaim(one))).not.toContain('1Gi')
  }
})

it('slimWorkload() drops templates, and keeps the deadline of an annotation', () => {
  const deadline = { [deadlineAnnotation]: '60' }
  const slim = slimWorkload({ metadata: { name: 'd', generation: 2, labels: { a: 'b' }, annotations: { ...deadline, other: 'x' } }, spec: { replicas: 2, template: { spec: {} } }, status: { replicas: 1 } } as unknown as Deployment)
  expect(slim).toEqual({ metadata: { name: 'd', generation: 2, annotations: deadline }, spec: { replicas: 2 }, status: { replicas: 1 } })
})

describe('podSlimmer() keeps what explains a pod', () => {
  const probe = { containers: [{ name: 'main', image: 'app:1', readinessProbe: { tcpSocket: { port: 80 } }, env: [{ name: 'A' }] }] }
  it.each<[string, Pod]>([
    ['that is ready', readyPod()],
    ['whose image cannot be pulled', podWith(waiting('ErrImagePull', 'no such image'))],
    ['that crashes', podWith(waiting('CrashLoopBackOff'), { restartCount: 3, lastState: ended(1) })],
    ['whose probe fails', podWith({ running: {} }, {}, { spec: probe, status: { phase: 'Running' } })],
    ['that no node takes', podOf({ spec: { nodeName: undefined }, status: { conditions: [condition('PodScheduled', 'False', 2, { reason: 'Unschedulable', message: '0/3 nodes' })] } })],
    ['that waits for a gate', podOf({ spec: { nodeName: undefined, schedulingGates: [{ name: 'g' }] }, status: { conditions: [condition('PodScheduled', 'False', 2, { reason: 'SchedulingGated' })] } })],
    ['whose sandbox fails', podOf({ status: { conditions: [condition('PodReadyToStartContainers', 'False', 2, { reason: 'NetworkNotReady', message: 'no address' })] } })],
    ['that is held by a finalizer', podOf({ metadata: { deletionTimestamp: '2025-01-01T00:00:00Z', deletionGracePeriodSeconds: 0, finalizers: ['f'] } })],
  ])('%s', (_, one) => {
    const nowMs = Date.parse('2026-01-01T00:01:00Z')
    expect(causeOfPod(podSlimmer([])(one), { nowMs })).toEqual(causeOfPod(one, { nowMs }))
  })
})
