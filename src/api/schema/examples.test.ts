import { describe, expect, test } from 'vitest'
import type { Json } from '../object.ts'
import { decodeObject } from './decode.ts'

const time = '2024-05-06T07:08:09Z'
const named = (name: string, more: object = {}) => ({ name, namespace: 'default', uid: 'a-b', resourceVersion: '7', creationTimestamp: time, ...more })
const container = {
  image: 'nginx:1.25',
  imagePullPolicy: 'IfNotPresent',
  name: 'web',
  ports: [{ containerPort: 80, protocol: 'TCP' }],
  readinessProbe: { failureThreshold: 3, httpGet: { path: '/', port: 'http', scheme: 'HTTP' }, periodSeconds: 10, successThreshold: 1, timeoutSeconds: 1 },
  resources: { limits: { cpu: '500m', memory: '1Gi' } },
  securityContext: { privileged: false, runAsUser: 0 },
  terminationMessagePath: '/dev/termination-log',
}
const template = {
  metadata: { labels: { app: 'web' } },
  spec: {
    containers: [container],
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    terminationGracePeriodSeconds: 30,
    volumes: [
      { emptyDir: {}, name: 'a' },
      { name: 'b', projected: { defaultMode: 420, sources: null } },
      { downwardAPI: { items: [{ path: 'c', resourceFieldRef: { divisor: '0', resource: 'limits.cpu' } }] }, name: 'c' },
    ],
  },
}

/** Objects as Kubernetes answers them: decoding must change nothing. */
const answers: Record<string, object> = {
  Deployment: {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: named('web', { generation: 2 }),
    spec: {
      progressDeadlineSeconds: 600,
      replicas: 0,
      selector: { matchLabels: { app: 'web' } },
      strategy: { rollingUpdate: { maxSurge: '25%', maxUnavailable: 0 }, type: 'RollingUpdate' },
      template,
    },
    status: { conditions: [{ lastTransitionTime: time, lastUpdateTime: time, message: 'm', reason: 'R', status: 'True', type: 'Available' }] },
  },
  Pod: {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: named('web-0', {
      finalizers: ['a/b'],
      ownerReferences: [{ apiVersion: 'apps/v1', blockOwnerDeletion: true, controller: true, kind: 'ReplicaSet', name: 'web', uid: 'c-d' }],
    }),
    spec: { ...template.spec, priority: 0, tolerations: [{ effect: 'NoExecute', operator: 'Exists', tolerationSeconds: 0 }] },
    status: {
      conditions: [{ lastProbeTime: null, lastTransitionTime: time, status: 'True', type: 'Ready' }],
      containerStatuses: [
        {
          image: '', imageID: '', lastState: { terminated: { exitCode: 0, finishedAt: null, startedAt: time } }, name: 'web', ready: false, restartCount: 0,
          started: false, state: { waiting: {} },
        },
      ],
      phase: 'Pending',
    },
  },
  Service: {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: named('web'),
    spec: { clusterIP: '10.0.0.1', ports: [{ port: 80, protocol: 'TCP', targetPort: 'http' }], selector: { app: 'web' }, type: 'ClusterIP' },
    status: { loadBalancer: {} },
  },
  StatefulSet: {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: named('db'),
    spec: {
      ordinals: { start: 0 },
      selector: {},
      serviceName: '',
      template,
      updateStrategy: {},
      volumeClaimTemplates: [
        { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'd' }, spec: { resources: { requests: { storage: '1Gi' } }, storageClassName: '' }, status: { phase: 'Pending' } },
      ],
    },
    status: { availableReplicas: 0, replicas: 0 },
  },
  DaemonSet: {
    metadata: named('agent'),
    spec: { selector: {}, template: { metadata: {}, spec: { containers: null } }, updateStrategy: { rollingUpdate: { maxSurge: 0 } } },
    status: { currentNumberScheduled: 0, desiredNumberScheduled: 0, numberMisscheduled: 0, numberReady: 0 },
  },
  CronJob: {
    metadata: named('nightly'),
    spec: { jobTemplate: { metadata: {}, spec: { template } }, schedule: '@daily', suspend: false, timeZone: '' },
    status: {},
  },
  PodDisruptionBudget: {
    metadata: named('web'),
    spec: { minAvailable: '50%' },
    status: { currentHealthy: 0, desiredHealthy: 0, disruptedPods: { a: time }, disruptionsAllowed: 0, expectedPods: 0 },
  },
  V2HorizontalPodAutoscaler: {
    metadata: named('web'),
    spec: {
      maxReplicas: 3,
      metrics: [{ resource: { name: 'cpu', target: { averageUtilization: 80, type: 'Utilization' } }, type: 'Resource' }],
      scaleTargetRef: { kind: 'Deployment', name: 'web' },
    },
    status: { currentMetrics: null, desiredReplicas: 0 },
  },
  CoreV1Event: {
    metadata: named('e'),
    eventTime: '2024-05-06T07:08:09.000001Z',
    firstTimestamp: null,
    involvedObject: { kind: 'Pod', name: 'web-0' },
    lastTimestamp: time,
    reportingComponent: '',
    reportingInstance: '',
    source: {},
  },
  Ingress: {
    metadata: named('web'),
    spec: { ingressClassName: '', rules: [{ http: { paths: [{ backend: { service: { name: 's', port: {} } }, pathType: 'Prefix' }] } }] },
    status: { loadBalancer: {} },
  },
  NetworkPolicy: { metadata: named('deny'), spec: { ingress: [{}], podSelector: {}, policyTypes: ['Ingress'] } },
  EndpointSlice: { metadata: named('web'), addressType: 'IPv4', endpoints: [{ addresses: ['10.1.0.1'], conditions: { ready: false } }], ports: [{ name: '' }] },
  ClusterRole: { metadata: named('all'), rules: [{ apiGroups: [''], verbs: ['*'] }] },
  Node: {
    metadata: named('n', { labels: { a: '' } }),
    spec: { taints: [{ effect: 'NoSchedule', key: 'k' }] },
    status: {
      capacity: { cpu: '4', memory: '16Gi' },
      daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
      nodeInfo: {
        architecture: '', bootID: '', containerRuntimeVersion: '', kernelVersion: '', kubeProxyVersion: '', kubeletVersion: '', machineID: '',
        operatingSystem: '', osImage: '', systemUUID: '',
      },
    },
  },
}

describe('decodeObject() changes nothing in what Kubernetes answers', () => {
  test.each(Object.entries(answers))('%s', (type, answer) => {
    const { object, problems } = decodeObject(type, answer as Json)
    expect(object).toEqual(answer)
    expect(problems).toEqual([])
  })
})
