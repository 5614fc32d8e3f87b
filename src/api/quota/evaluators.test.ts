import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../object.ts'
import { evaluatorOf, isInScope, totalUsage } from './index.ts'

const nowMs = Date.UTC(2026, 0, 1, 0, 10)
const container = (requests: object = {}, limits: object = {}, name = 'c') => ({ name, image: 'i', resources: { requests, limits } })
const pod = (spec: object, more: object = {}) => ({ metadata: { name: 'p' }, spec: { containers: [container()], ...spec }, status: {}, ...more }) as unknown as KubeObject
const usage = (plural: string, object: KubeObject, group = '') => evaluatorOf(group, plural)!.usage(object, nowMs)

describe('usage() of pods', () => {
  const rows: [what: string, pod: KubeObject, expected: Record<string, string>][] = [
    ['one that asks for nothing is counted', pod({}), { 'count/pods': '1', pods: '1' }],
    [
      'requests go by two names, limits by one',
      pod({ containers: [container({ cpu: '1', memory: '1Gi', 'ephemeral-storage': '2Gi' }, { cpu: '2', memory: '1Gi' })] }),
      {
        'count/pods': '1',
        pods: '1',
        cpu: '1',
        'requests.cpu': '1',
        memory: '1Gi',
        'requests.memory': '1Gi',
        'ephemeral-storage': '2Gi',
        'requests.ephemeral-storage': '2Gi',
        'limits.cpu': '2',
        'limits.memory': '1Gi',
      },
    ],
    [
      'containers add up',
      pod({ containers: [container({ cpu: '100m' }), container({ cpu: '250m' })] }),
      { 'count/pods': '1', pods: '1', cpu: '350m', 'requests.cpu': '350m' },
    ],
    [
      'an init container counts where it needs more than all others together',
      pod({ containers: [container({ cpu: '1', memory: '1Gi' })], initContainers: [container({ cpu: '3', memory: '512Mi' })] }),
      { 'count/pods': '1', pods: '1', cpu: '3', 'requests.cpu': '3', memory: '1Gi', 'requests.memory': '1Gi' },
    ],
    [
      'a sidecar counts with the containers',
      pod({ containers: [container({ cpu: '1' })], initContainers: [{ ...container({ cpu: '500m' }), restartPolicy: 'Always' }] }),
      { 'count/pods': '1', pods: '1', cpu: '1500m', 'requests.cpu': '1500m' },
    ],
    [
      'running it costs, too: limits only where there are any',
      pod({ containers: [container({ cpu: '1' }, { memory: '1Gi' })], overhead: { cpu: '100m', memory: '64Mi' } }),
      { 'count/pods': '1', pods: '1', cpu: '1100m', 'requests.cpu': '1100m', memory: '64Mi', 'requests.memory': '64Mi', 'limits.memory': '1088Mi' },
    ],
    [
      'what the pod asks for as a whole stands for its containers',
      pod({ containers: [container({ cpu: '1' })], resources: { requests: { cpu: '4' }, limits: { cpu: '5' } } }),
      { 'count/pods': '1', pods: '1', cpu: '4', 'requests.cpu': '4', 'limits.cpu': '5' },
    ],
    [
      'huge pages go by two names, extended resources by one',
      pod({ containers: [container({ 'hugepages-2Mi': '4Mi', 'example.com/gpu': '2' }, { 'hugepages-2Mi': '4Mi', 'example.com/gpu': '2' })] }),
      { 'count/pods': '1', pods: '1', 'hugepages-2Mi': '4Mi', 'requests.hugepages-2Mi': '4Mi', 'requests.example.com/gpu': '2' },
    ],
    ['one that has finished is only an object', pod({ containers: [container({ cpu: '1' })] }, { status: { phase: 'Succeeded' } }), { 'count/pods': '1' }],
    ['one that has failed is only an object', pod({}, { status: { phase: 'Failed' } }), { 'count/pods': '1' }],
    [
      'one that is being deleted counts for as long as it may take, and as long again',
      pod({}, { metadata: { name: 'p', deletionTimestamp: '2026-01-01T00:09:30Z', deletionGracePeriodSeconds: 30 } }),
      { 'count/pods': '1', pods: '1' },
    ],
    [
      'and no longer',
      pod({}, { metadata: { name: 'p', deletionTimestamp: '2026-01-01T00:09:29Z', deletionGracePeriodSeconds: 30 } }),
      { 'count/pods': '1' },
    ],
    [
      'one that was made smaller counts with what it still holds',
      pod(
        { containers: [container({ cpu: '1' })] },
        { status: { containerStatuses: [{ name: 'c', allocatedResources: { cpu: '2' }, resources: { requests: { cpu: '3' } } }] } },
      ),
      { 'count/pods': '1', pods: '1', cpu: '3', 'requests.cpu': '3' },
    ],
    [
      'one that cannot get what it asks for counts with what it has',
      pod(
        { containers: [container({ cpu: '9' })] },
        {
          status: {
            containerStatuses: [{ name: 'c', allocatedResources: { cpu: '2' } }],
            conditions: [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }],
          },
        },
      ),
      { 'count/pods': '1', pods: '1', cpu: '2', 'requests.cpu': '2' },
    ],
  ]
  it.each(rows)('%s', (_, object, expected) => expect(usage('pods', object)).toEqual(expected))
})

describe('usage() of other kinds', () => {
  const service = (spec: object) => ({ metadata: { name: 's' }, spec }) as unknown as KubeObject
  const claim = (spec: object, status: object = {}, annotations: object = {}) => ({ metadata: { name: 'c', annotations }, spec, status }) as unknown as KubeObject
  const ports = [{ port: 1 }, { port: 2, nodePort: 30000 }]
  const services = (lb: string, nodePorts: string) => ({ 'count/services': '1', services: '1', 'services.loadbalancers': lb, 'services.nodeports': nodePorts })
  const size = (storage: string) => ({ resources: { requests: { storage } } })
  const gold = 'gold.storageclass.storage.k8s.io/'
  const rows: [what: string, plural: string, object: KubeObject, expected: Record<string, string>, group?: string][] = [
    ['a service inside the cluster', 'services', service({ type: 'ClusterIP', ports }), services('0', '0')],
    ['a service on nodes', 'services', service({ type: 'NodePort', ports }), services('0', '2')],
    ['a service behind a load balancer is on nodes, too', 'services', service({ type: 'LoadBalancer', ports }), services('1', '2')],
    ['unless it does not want to be', 'services', service({ type: 'LoadBalancer', ports, allocateLoadBalancerNodePorts: false }), services('1', '1')],
    ['a claim without a class', 'persistentvolumeclaims', claim(size('2Gi')), { 'count/persistentvolumeclaims': '1', persistentvolumeclaims: '1', 'requests.storage': '2Gi' }],
    [
      'a claim of a class counts for its class, too',
      'persistentvolumeclaims',
      claim({ ...size('2Gi'), storageClassName: 'gold' }),
      {
        'count/persistentvolumeclaims': '1',
        persistentvolumeclaims: '1',
        'requests.storage': '2Gi',
        [`${gold}persistentvolumeclaims`]: '1',
        [`${gold}requests.storage`]: '2Gi',
      },
    ],
    [
      'a claim that had grown already counts with what it got',
      'persistentvolumeclaims',
      claim(size('1Gi'), { allocatedResources: { storage: '3Gi' } }),
      { 'count/persistentvolumeclaims': '1', persistentvolumeclaims: '1', 'requests.storage': '3Gi' },
    ],
    ['storage is counted in whole bytes', 'persistentvolumeclaims', claim(size('1500m')), { 'count/persistentvolumeclaims': '1', persistentvolumeclaims: '1', 'requests.storage': '2' }],
    ['an object of core that has had a name of its own before', 'secrets', service({}), { 'count/secrets': '1', secrets: '1' }],
    ['an object of core that has not', 'endpoints', service({}), { 'count/endpoints': '1' }],
    ['an object of a group', 'deployments', service({}), { 'count/deployments.apps': '1' }, 'apps'],
  ]
  it.each(rows)('%s', (_, plural, object, expected, group) => expect(usage(plural, object, group)).toEqual(expected))

  it('events are not held to quotas', () => {
    expect([evaluatorOf('', 'events'), evaluatorOf('events.k8s.io', 'events')]).toEqual([undefined, undefined])
  })
})

describe('uses()', () => {
  it.each([
    ['pods', 'requests.example.com/gpu', true],
    ['pods', 'requests.deviceclass.resource.kubernetes.io/gpu', true],
    ['pods', 'requests.hugepages-1Gi', true],
    ['pods', 'limits.ephemeral-storage', true],
    ['pods', 'example.com/gpu', false],
    ['pods', 'requests.storage', false],
    ['pods', 'count/pods', true],
    ['pods', 'count/pods.apps', false],
    ['persistentvolumeclaims', 'any.storageclass.storage.k8s.io/requests.storage', true],
    ['persistentvolumeclaims', 'cpu', false],
    ['configmaps', 'configmaps', true],
    ['leases', 'leases', false],
  ])('%s, %s: %s', (plural, name, expected) => expect(evaluatorOf('', plural)!.uses(name)).toBe(expected))
})

describe('isInScope()', () => {
  const quota = (spec: object) => ({ metadata: { name: 'q' }, spec, status: {} })
  const selector = (scopeName: string, operator: string, values?: string[]) => ({ scopeSelector: { matchExpressions: [{ scopeName, operator, ...(values ? { values } : {}) }] } })
  const affinity = (term: object) => pod({ affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: { topologyKey: 'k', ...term } }] } } })
  const burstable = pod({ containers: [container({ cpu: '1' })] })
  const high = pod({ priorityClassName: 'high' })
  const rows: [what: string, spec: object, object: KubeObject, expected: boolean][] = [
    ['no scope holds all', {}, pod({}), true],
    ['BestEffort holds a pod without requests', { scopes: ['BestEffort'] }, pod({}), true],
    ['BestEffort holds no other', { scopes: ['BestEffort'] }, burstable, false],
    ['NotBestEffort is the opposite', { scopes: ['NotBestEffort'] }, burstable, true],
    ['Terminating holds a pod with a deadline', { scopes: ['Terminating'] }, pod({ activeDeadlineSeconds: 0 }), true],
    ['NotTerminating holds one without', { scopes: ['NotTerminating'] }, pod({}), true],
    ['several scopes hold what is in all of them', { scopes: ['Terminating', 'BestEffort'] }, pod({}), false],
    ['a priority class in the list', selector('PriorityClass', 'In', ['high', 'low']), high, true],
    ['a priority class that is not in the list', selector('PriorityClass', 'In', ['low']), high, false],
    ['a priority class outside of the list', selector('PriorityClass', 'NotIn', ['low']), high, true],
    ['no priority class is outside of any list', selector('PriorityClass', 'NotIn', ['low']), pod({}), true],
    ['any priority class', selector('PriorityClass', 'Exists'), high, true],
    ['no priority class', selector('PriorityClass', 'DoesNotExist'), high, false],
    ['affinity to pods of other namespaces', { scopes: ['CrossNamespacePodAffinity'] }, affinity({ namespaces: ['other'] }), true],
    ['affinity to pods of selected namespaces', { scopes: ['CrossNamespacePodAffinity'] }, affinity({ namespaceSelector: {} }), true],
    ['affinity to pods of its own namespace', { scopes: ['CrossNamespacePodAffinity'] }, affinity({}), false],
  ]
  it.each(rows)('%s', (_, spec, object, expected) => expect(isInScope(quota(spec), evaluatorOf('', 'pods')!, object)).toBe(expected))

  const claim = (names: { spec?: string; current?: string; target?: string }) =>
    ({
      metadata: { name: 'c' },
      spec: { volumeAttributesClassName: names.spec },
      status: { currentVolumeAttributesClassName: names.current, modifyVolumeStatus: { targetVolumeAttributesClassName: names.target } },
    }) as unknown as KubeObject
  it.each([
    ['the class a claim wants', { spec: 'fast' }, true],
    ['the class a claim has', { spec: 'slow', current: 'fast' }, true],
    ['the class a claim is getting', { target: 'fast' }, true],
    ['another class', { spec: 'slow' }, false],
    ['no class', {}, false],
  ])('VolumeAttributesClass: %s', (_, names, expected) => {
    expect(isInScope(quota(selector('VolumeAttributesClass', 'In', ['fast'])), evaluatorOf('', 'persistentvolumeclaims')!, claim(names))).toBe(expected)
  })

  it('kinds without scopes are in none', () => {
    expect(isInScope(quota({ scopes: ['BestEffort'] }), evaluatorOf('', 'secrets')!, pod({}))).toBe(false)
  })
})

describe('unsaid()', () => {
  const unsaid = (names: string[], spec: object) => evaluatorOf('', 'pods')!.unsaid!(names, pod(spec))
  it.each([
    ['all that is held must be said, by every container', ['requests.cpu', 'limits.memory', 'pods'], { containers: [container({}, {}, 'b'), container({ cpu: '1' }, {}, 'a')] }, 'must specify limits.memory for: a,b; requests.cpu for: b'],
    ['init containers, too', ['cpu'], { containers: [container({ cpu: '1' })], initContainers: [container({}, {}, 'init')] }, 'must specify cpu for: init'],
    ['only of cpu and memory', ['requests.ephemeral-storage', 'requests.example.com/gpu'], {}, undefined],
    ['not where the pod says something as a whole', ['requests.cpu', 'limits.memory'], { resources: { requests: { cpu: '1' } } }, undefined],
  ])('%s', (_, names, spec, expected) => expect(unsaid(names, spec)).toBe(expected))
})

describe('concerns()', () => {
  const request = (operation: 'CREATE' | 'UPDATE', subresource: string, object: object, old?: object) =>
    ({ operation, subresource, object: pod(object), old: old && pod(old) }) as never
  it.each([
    ['a new pod', 'pods', request('CREATE', '', {}), true],
    ['a pod that gets other labels', 'pods', request('UPDATE', '', {}, {}), false],
    ['a pod that gets a deadline', 'pods', request('UPDATE', '', { activeDeadlineSeconds: 5 }, {}), true],
    ['a pod that is resized', 'pods', request('UPDATE', 'resize', {}, {}), true],
    ['the status of a pod', 'pods', request('UPDATE', 'status', {}, {}), false],
    ['a service that changes', 'services', request('UPDATE', '', {}, {}), true],
    ['a config map that changes', 'configmaps', request('UPDATE', '', {}, {}), false],
    ['a new config map', 'configmaps', request('CREATE', '', {}), true],
  ])('%s: %s', (_, plural, asked, expected) => expect(evaluatorOf('', plural)!.concerns(asked)).toBe(expected))
})

describe('mayDiffer()', () => {
  const evaluator = evaluatorOf('', 'pods')!
  const version = (metadata: object, status: object) => ({ metadata: { name: 'p', uid: 'u', generation: 1, ...metadata }, spec: {}, status }) as unknown as KubeObject
  it.each([
    ['becomes ready', version({}, { conditions: [{ type: 'Ready', status: 'True' }] }), false],
    ['starts to run', version({}, { phase: 'Running' }), false],
    ['finishes', version({}, { phase: 'Succeeded' }), true],
    ['is resized', version({ generation: 2 }, {}), true],
    ['is being deleted', version({ deletionTimestamp: '2026-01-01T00:00:00Z' }, {}), true],
    ['gets other resources from its node', version({}, { containerStatuses: [{ name: 'c', allocatedResources: { cpu: '1' } }] }), true],
  ])('a pod that %s: %s', (_, after, expected) => expect(evaluator.mayDiffer(version({}, {}), after)).toBe(expected))
})

describe('totalUsage()', () => {
  it('sums what is in scope, by the names that the kind uses, zero included', () => {
    const quota = { metadata: { name: 'q' }, spec: { scopes: ['NotBestEffort'] }, status: {} }
    const objects = [pod({}), pod({ containers: [container({ cpu: '1' })] }), pod({ containers: [container({ cpu: '500m' })] })]
    const names = ['pods', 'requests.cpu', 'limits.cpu', 'services']
    expect(totalUsage(quota, names, evaluatorOf('', 'pods')!, objects, nowMs)).toEqual({ pods: '2', 'requests.cpu': '1500m', 'limits.cpu': '0' })
  })
})
