import type {
  FlowSchema,
  FlowcontrolV1Subject,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
  ResourcePolicyRule,
} from '../../../api/generated/types.ts'

const apiVersion = 'flowcontrol.apiserver.k8s.io/v1'
/** Kubernetes updates annotated objects when a release changes their suggested spec. */
const annotations = { 'apf.kubernetes.io/autoupdate-spec': 'true' }

const level = (name: string, spec: PriorityLevelConfigurationSpec): PriorityLevelConfiguration => ({
  apiVersion,
  kind: 'PriorityLevelConfiguration',
  metadata: { name, annotations: { ...annotations } },
  spec,
  status: {},
})

/** A limited priority level with queues. `shares` is nominalConcurrencyShares. */
const queued = (name: string, shares: number, lendablePercent: number, queues: number, handSize: number) =>
  level(name, {
    type: 'Limited',
    limited: {
      nominalConcurrencyShares: shares,
      limitResponse: { type: 'Queue', queuing: { queues, handSize, queueLengthLimit: 50 } },
      lendablePercent,
    },
  })

/** The mandatory priority levels. Their specs are fixed. */
export const mandatoryLevels: readonly PriorityLevelConfiguration[] = [
  level('exempt', { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } }),
  level('catch-all', {
    type: 'Limited',
    limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' }, lendablePercent: 0 },
  }),
]

const suggestedLevels = [
  queued('system', 30, 33, 64, 6),
  queued('node-high', 40, 25, 64, 6),
  queued('leader-election', 10, 0, 16, 4),
  queued('workload-high', 40, 50, 128, 6),
  queued('workload-low', 100, 90, 128, 6),
  queued('global-default', 20, 50, 128, 6),
]

const groups = (...names: string[]): FlowcontrolV1Subject[] => names.map((name) => ({ kind: 'Group', group: { name } }))
const users = (...names: string[]): FlowcontrolV1Subject[] => names.map((name) => ({ kind: 'User', user: { name } }))
const systemAccount = (name: string): FlowcontrolV1Subject => ({
  kind: 'ServiceAccount',
  serviceAccount: { namespace: 'kube-system', name },
})

const everything: ResourcePolicyRule = {
  verbs: ['*'],
  apiGroups: ['*'],
  resources: ['*'],
  clusterScope: true,
  namespaces: ['*'],
}
const everyPath: NonResourcePolicyRule = { verbs: ['*'], nonResourceURLs: ['*'] }

/** A rule for all requests of these subjects. */
const all = (...subjects: FlowcontrolV1Subject[]): PolicyRulesWithSubjects => ({
  subjects,
  resourceRules: [everything],
  nonResourceRules: [everyPath],
})

/** Rules for leader election: leases and the older lock kinds. */
const election = (verbs: string[], namespaces: string[]): ResourcePolicyRule[] => [
  { verbs, apiGroups: [''], resources: ['endpoints', 'configmaps'], namespaces },
  { verbs, apiGroups: ['coordination.k8s.io'], resources: ['leases'], namespaces: ['*'] },
]

const electing = ['get', 'create', 'update']
const everybody = groups('system:unauthenticated', 'system:authenticated')

type Method = 'ByUser' | 'ByNamespace' | undefined

const schema = (
  name: string,
  levelName: string,
  matchingPrecedence: number,
  method: Method,
  rules: PolicyRulesWithSubjects,
): FlowSchema => ({
  apiVersion,
  kind: 'FlowSchema',
  metadata: { name, annotations: { ...annotations } },
  spec: {
    priorityLevelConfiguration: { name: levelName },
    matchingPrecedence,
    ...(method ? { distinguisherMethod: { type: method } } : {}),
    rules: [rules],
  },
  status: {},
})

/** The mandatory flow schemas: the catch-all and the exempt one. Their specs are fixed. */
export const mandatorySchemas: readonly FlowSchema[] = [
  schema('exempt', 'exempt', 1, undefined, all(...groups('system:masters'))),
  schema('catch-all', 'catch-all', 10_000, 'ByUser', all(...everybody)),
]

const suggestedSchemas: readonly FlowSchema[] = [
  schema('system-nodes', 'system', 500, 'ByUser', all(...groups('system:nodes'))),
  schema('system-node-high', 'node-high', 400, 'ByUser', {
    subjects: groups('system:nodes'),
    resourceRules: [
      { verbs: ['*'], apiGroups: [''], resources: ['nodes', 'nodes/status'], clusterScope: true, namespaces: ['*'] },
      { verbs: ['*'], apiGroups: ['coordination.k8s.io'], resources: ['leases'], namespaces: ['*'] },
    ],
  }),
  schema('probes', 'exempt', 2, undefined, {
    subjects: everybody,
    nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }],
  }),
  schema('system-leader-election', 'leader-election', 100, 'ByUser', {
    subjects: [...users('system:kube-controller-manager', 'system:kube-scheduler'), systemAccount('*')],
    resourceRules: [{ verbs: electing, apiGroups: ['coordination.k8s.io'], resources: ['leases'], namespaces: ['*'] }],
  }),
  schema('endpoint-controller', 'workload-high', 150, 'ByUser', {
    subjects: [
      ...users('system:kube-controller-manager'),
      systemAccount('endpoint-controller'),
      systemAccount('endpointslicemirroring-controller'),
    ],
    resourceRules: [{ verbs: electing, apiGroups: [''], resources: ['endpoints'], namespaces: ['*'] }],
  }),
  schema('workload-leader-election', 'leader-election', 200, 'ByUser', {
    subjects: [systemAccount('*')],
    resourceRules: election(electing, ['*']),
  }),
  schema(
    'kube-controller-manager',
    'workload-high',
    800,
    'ByNamespace',
    all(...users('system:kube-controller-manager')),
  ),
  schema('kube-scheduler', 'workload-high', 800, 'ByNamespace', all(...users('system:kube-scheduler'))),
  schema('kube-system-service-accounts', 'workload-high', 900, 'ByNamespace', all(systemAccount('*'))),
  schema('service-accounts', 'workload-low', 9000, 'ByUser', all(...groups('system:serviceaccounts'))),
  schema('global-default', 'global-default', 9900, 'ByUser', all(...everybody)),
]

/** The mandatory and suggested objects of Kubernetes. */
export const flowControlObjects = [...mandatoryLevels, ...suggestedLevels, ...mandatorySchemas, ...suggestedSchemas]
