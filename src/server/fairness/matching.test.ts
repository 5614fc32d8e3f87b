import { describe, expect, it } from 'vitest'
import type { FlowSchema } from '../../api/generated/types.ts'
import { flowControlObjects } from '../resources/flowcontrol/bootstrap-objects.ts'
import { type FlowRequest, distinguisherOf, inOrder, matchesSchema } from './matching.ts'

const schemas = inOrder(flowControlObjects.filter((o): o is FlowSchema => o.kind === 'FlowSchema'))
const everybody = 'system:authenticated'

const request = (name: string, groups: string[], more: Partial<FlowRequest> = {}): FlowRequest => ({
  user: { name, groups: [...groups, everybody] },
  verb: 'get',
  url: '',
  isResource: true,
  group: '',
  resource: 'pods',
  namespace: 'default',
  ...more,
})
const lease = { group: 'coordination.k8s.io', resource: 'leases' }
const path = (url: string, verb = 'get') => ({ isResource: false, resource: '', namespace: '', url, verb })
const account = (namespace: string, name: string, more: Partial<FlowRequest> = {}) =>
  request(`system:serviceaccount:${namespace}:${name}`, ['system:serviceaccounts', `system:serviceaccounts:${namespace}`], more)
const nobody = { name: 'system:anonymous', groups: ['system:unauthenticated'] }

describe('the schemas that every cluster has', () => {
  it.each<[string, FlowRequest, string]>([
    ['an administrator', request('admin', ['system:masters']), 'exempt'],
    ['anybody', request('jane', []), 'global-default'],
    ['anybody, for a cluster-wide kind', request('jane', [], { resource: 'nodes', namespace: '' }), 'global-default'],
    ['anybody, for discovery', request('jane', [], path('/apis')), 'global-default'],
    ['a probe', { ...request('x', []), user: nobody, ...path('/livez') }, 'probes'],
    ['a path below a probe', { ...request('x', []), user: nobody, ...path('/livez/ping') }, 'global-default'],
    ['a probe by another method', { ...request('x', []), user: nobody, ...path('/livez', 'post') }, 'global-default'],
    ['a node', request('system:node:a', ['system:nodes']), 'system-nodes'],
    ['a node about itself', request('system:node:a', ['system:nodes'], { resource: 'nodes/status', namespace: '' }), 'system-node-high'],
    ['the heartbeat of a node', request('system:node:a', ['system:nodes'], { ...lease, verb: 'update' }), 'system-node-high'],
    ['the scheduler', request('system:kube-scheduler', []), 'kube-scheduler'],
    ['the scheduler that wants to lead', request('system:kube-scheduler', [], { ...lease, verb: 'update' }), 'system-leader-election'],
    ['the scheduler that lists leases', request('system:kube-scheduler', [], { ...lease, verb: 'list' }), 'kube-scheduler'],
    ['the controllers', request('system:kube-controller-manager', []), 'kube-controller-manager'],
    ['the controllers, of endpoints', request('system:kube-controller-manager', [], { resource: 'endpoints', verb: 'update' }), 'endpoint-controller'],
    ['an account of kube-system', account('kube-system', 'dns'), 'kube-system-service-accounts'],
    ['an account', account('shop', 'web'), 'service-accounts'],
    ['an account whose namespace begins alike', account('kube-systems', 'dns'), 'service-accounts'],
  ])('take %s for one of %s', (_, asked, name) => {
    expect(schemas.find((schema) => matchesSchema(schema, asked))?.metadata.name).toBe(name === 'never' ? undefined : name)
  })
})

describe('a schema', () => {
  const one = (rules: FlowSchema['spec']['rules'], more: Partial<FlowSchema['spec']> = {}): FlowSchema => ({
    metadata: { name: 'one' },
    spec: { matchingPrecedence: 100, priorityLevelConfiguration: { name: 'l' }, rules: rules!, ...more },
    status: {},
  })
  const jane = [{ kind: 'User', user: { name: 'jane' } }]
  const pods = { verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['default'] }

  it.each<[string, FlowSchema, Partial<FlowRequest>, boolean]>([
    ['no rules', one([]), {}, false],
    ['its verb, group, resource and namespace', one([{ subjects: jane, resourceRules: [pods] }]), {}, true],
    ['another verb', one([{ subjects: jane, resourceRules: [pods] }]), { verb: 'list' }, false],
    ['another group', one([{ subjects: jane, resourceRules: [pods] }]), { group: 'apps' }, false],
    ['a subresource that it does not name', one([{ subjects: jane, resourceRules: [pods] }]), { resource: 'pods/status' }, false],
    ['another namespace', one([{ subjects: jane, resourceRules: [pods] }]), { namespace: 'shop' }, false],
    ['all namespaces, where it has no cluster scope', one([{ subjects: jane, resourceRules: [pods] }]), { namespace: '' }, false],
    ['all namespaces', one([{ subjects: jane, resourceRules: [{ ...pods, clusterScope: true }] }]), { namespace: '' }, true],
    ['everybody', one([{ subjects: [{ kind: 'User', user: { name: '*' } }], resourceRules: [pods] }]), {}, true],
    ['a path below', one([{ subjects: jane, nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['/a/*'] }] }]), path('/a/b'), true],
    ['a path beside', one([{ subjects: jane, nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['/a/*'] }] }]), path('/ab'), false],
    ['a subject of no kind', one([{ subjects: [{ kind: 'Robot' }], resourceRules: [pods] }]), {}, false],
  ])('with %s: %#', (_, schema, more, isMatched) => {
    expect(matchesSchema(schema, request('jane', [], more))).toBe(isMatched)
  })

  it.each([
    ['ByUser', 'jane'], ['ByNamespace', 'default'], [undefined, ''],
  ])('tells flows apart %s', (type, text) => {
    expect(distinguisherOf(one([], type ? { distinguisherMethod: { type } } : {}), request('jane', []))).toBe(text)
  })

  it('is tried in order of precedence, then of names', () => {
    const named = (name: string, matchingPrecedence: number) => ({ ...one([], { matchingPrecedence }), metadata: { name } })
    expect(inOrder([named('c', 2), named('b', 1), named('a', 2)]).map(({ metadata }) => metadata.name)).toEqual(['b', 'a', 'c'])
  })
})
