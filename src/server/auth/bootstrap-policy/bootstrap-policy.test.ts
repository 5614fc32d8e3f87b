import { describe, expect, it } from 'vitest'
import type { ClusterRole, ClusterRoleBinding, PolicyRule } from '../../../api/generated/types.ts'
import { labelSelectorMatches } from '../../../api/selectors/label-selector.ts'
import { ServerTrial } from '../../server-trial.ts'
import type { UserInfo } from '../../objects/objects.ts'
import type { ResourceAttempt } from '../authorize.ts'
import { RbacAuthorizer } from '../authorization/rbac-authorizer.ts'
import { RbacIndex } from '../authorization/rbac-index.ts'
import { autoUpdate, bootstrapBindings, bootstrapClusterBindings, bootstrapClusterRoles, bootstrapRoles } from './index.ts'
import { completed } from './reconcile.ts'

/** The rules of a role with those that it takes from others, as the aggregation controller would write them. */
function rulesOf(role: ClusterRole, seen: readonly string[] = []): PolicyRule[] {
  const selectors = role.aggregationRule?.clusterRoleSelectors
  if (!selectors) return role.rules ?? []
  const others = bootstrapClusterRoles.filter(({ metadata }) => !seen.includes(metadata.name!) && metadata.name !== role.metadata.name)
  return others.filter(({ metadata }) => selectors.some((s) => labelSelectorMatches(s, metadata.labels))).flatMap((other) => rulesOf(other, [...seen, role.metadata.name!]))
}

/** Bindings of a test, by which people have the roles for people: in the whole cluster, or in the namespace blue. */
const people: [user: string, role: string, namespace: string][] = [['ann', 'admin', 'blue'], ['ed', 'edit', 'blue'], ['vi', 'view', 'blue'], ['root', 'cluster-admin', ''], ['everywhere', 'view', '']]
const roleRef = (name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name })

function makeIndex(): RbacIndex {
  const index = new RbacIndex()
  for (const role of bootstrapClusterRoles) index.setRole('ClusterRole', '', role.metadata.name!, rulesOf(role))
  for (const role of bootstrapRoles) index.setRole('Role', role.metadata.namespace!, role.metadata.name!, role.rules ?? [])
  for (const binding of bootstrapClusterBindings) index.setBinding('ClusterRoleBinding', undefined, binding)
  for (const binding of bootstrapBindings) index.setBinding('RoleBinding', undefined, binding)
  for (const [name, role, namespace] of people) {
    const binding = { metadata: { name: `${name}-${role}`, ...(namespace ? { namespace } : {}) }, roleRef: roleRef(role), subjects: [{ kind: 'User', name }] }
    index.setBinding(namespace ? 'RoleBinding' : 'ClusterRoleBinding', undefined, binding as ClusterRoleBinding)
  }
  return index
}

const is = (list: readonly string[] | undefined, ...texts: string[]) => (list ?? []).some((text) => texts.includes(text))

/** Walks the roles as they are written, without any index: what the table is checked against. */
function naively(user: UserInfo, { verb, path: { group, namespace, plural, subresource, name } }: ResourceAttempt): boolean {
  const resource = subresource ? `${plural}/${subresource}` : plural
  const resources = subresource ? [resource, `*/${subresource}`, '*'] : [resource, '*']
  const gives = (rule: PolicyRule) =>
    is(rule.verbs, verb, '*') && is(rule.apiGroups, group, '*') && is(rule.resources, ...resources) && (!rule.resourceNames?.length || rule.resourceNames.includes(name))
  const mine = (subjects: { kind: string; name: string; namespace?: string }[] = [], home = '') =>
    subjects.some((s) => {
      if (s.kind === 'Group') return user.groups.includes(s.name)
      return user.name === (s.kind === 'User' ? s.name : `system:serviceaccount:${s.namespace ?? home}:${s.name}`)
    })
  const clusterRole = (wanted: string) => rulesOf(bootstrapClusterRoles.find(({ metadata }) => metadata.name === wanted)!)
  const bound = bootstrapClusterBindings.filter(({ subjects }) => mine(subjects)).flatMap((b) => clusterRole(b.roleRef.name))
  const local = bootstrapBindings.filter(({ metadata, subjects }) => metadata.namespace === namespace && mine(subjects, namespace))
    .flatMap((b) => bootstrapRoles.find(({ metadata }) => metadata.namespace === namespace && metadata.name === b.roleRef.name)!.rules ?? [])
  const own = people.filter(([who, , where]) => who === user.name && (where === '' || where === namespace)).flatMap(([, role]) => clusterRole(role))
  return [...bound, ...local, ...own].some(gives)
}

const everybody = 'system:authenticated'
const account = (name: string): UserInfo => ({ name: `system:serviceaccount:kube-system:${name}`, groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', everybody] })
const users: UserInfo[] = [
  ...people.map(([name]) => ({ name, groups: [everybody] })),
  { name: 'stranger', groups: [everybody] },
  { name: 'system:anonymous', groups: ['system:unauthenticated'] },
  { name: 'system:kube-scheduler', groups: [everybody] },
  { name: 'system:kube-controller-manager', groups: [everybody] },
  { name: 'coxswain:monitor', groups: [everybody] },
  { name: 'coxswain:dashboard', groups: [everybody] },
  { name: 'master', groups: ['system:masters'] },
  ...['deployment-controller', 'generic-garbage-collector', 'namespace-controller', 'statefulset-controller', 'disruption-controller', 'cloneset-controller'].map(account),
]
const verbs = ['get', 'list', 'create', 'update', 'delete', 'deletecollection', 'escalate', 'impersonate']
const resources: [group: string, resource: string, name?: string][] = [
  ['', 'pods'], ['', 'pods/log'], ['', 'pods/exec'], ['', 'pods/binding'], ['', 'secrets'], ['', 'configmaps', 'extension-apiserver-authentication'],
  ['', 'nodes'], ['', 'namespaces'], ['', 'serviceaccounts'], ['', 'serviceaccounts/token'], ['', 'resourcequotas'], ['', 'persistentvolumes'],
  ['apps', 'deployments'], ['apps', 'deployments/scale'], ['apps', 'deployments/status'], ['apps', 'replicasets'], ['apps.kruise.io', 'clonesets'],
  ['batch', 'jobs'], ['rbac.authorization.k8s.io', 'roles'], ['rbac.authorization.k8s.io', 'clusterroles'], ['coordination.k8s.io', 'leases', 'kube-scheduler'],
  ['authorization.k8s.io', 'selfsubjectaccessreviews'], ['metrics.k8s.io', 'pods'], ['example.com', 'things/scale'],
]

describe('the bootstrap policy', () => {
  const authorizer = new RbacAuthorizer(makeIndex())
  const table = users.flatMap((user) => verbs.flatMap((verb) => ['blue', 'red', 'kube-system', ''].flatMap((namespace) => resources.map(([group, text, name = '']): [UserInfo, ResourceAttempt] => {
    const [plural = '', subresource = ''] = text.split('/')
    return [user, { verb, path: { group, version: 'v1', namespace, plural, subresource, name } }]
  }))))

  it('allows exactly what a walk through its roles allows, to every identity', () => {
    const differing = table.filter(([user, attempt]) => authorizer.authorize(user, attempt).allowed !== naively(user, attempt))
    expect(differing.map(([user, { verb, path }]) => `${user.name} ${verb} ${path.group}/${path.plural}/${path.subresource} ${path.namespace}`)).toEqual([])
    const allowed = table.filter(([user, attempt]) => authorizer.authorize(user, attempt).allowed).length
    expect(table.length).toBeGreaterThan(10_000)
    expect(allowed).toBeGreaterThan(2000)
    expect(table.length - allowed).toBeGreaterThan(5000)
  })

  it.each<[string, string, string, string, string, boolean]>([
    ['ann', 'create', 'rbac.authorization.k8s.io', 'rolebindings', 'blue', true],
    ['ann', 'create', 'rbac.authorization.k8s.io', 'rolebindings', 'red', false],
    ['ann', 'update', '', 'resourcequotas', 'blue', false],
    ['ed', 'create', 'apps.kruise.io', 'clonesets', 'blue', true],
    ['ed', 'get', '', 'secrets', 'blue', true],
    ['ed', 'create', 'rbac.authorization.k8s.io', 'roles', 'blue', false],
    ['ed', 'create', '', 'endpoints', 'blue', false],
    ['vi', 'get', '', 'secrets', 'blue', false],
    ['vi', 'list', 'apps.kruise.io', 'clonesets', 'blue', true],
    ['vi', 'list', '', 'pods', '', false],
    ['stranger', 'create', 'authorization.k8s.io', 'selfsubjectrulesreviews', '', true],
    ['stranger', 'list', '', 'pods', 'blue', false],
  ])('%s: %s %s %s in %s is allowed: %s', (name, verb, group, plural, namespace, isAllowed) => {
    const attempt = { verb, path: { group, version: 'v1', namespace, plural, subresource: '', name: '' } }
    expect(authorizer.authorize({ name, groups: [everybody] }, attempt).allowed).toBe(isAllowed)
  })

  it.each<[string, UserInfo, string, boolean]>([
    ['/livez to anybody', { name: 'system:anonymous', groups: ['system:unauthenticated'] }, '/livez', true],
    ['/version to anybody', { name: 'system:anonymous', groups: ['system:unauthenticated'] }, '/version', true],
    ['/metrics not to anybody', { name: 'system:anonymous', groups: ['system:unauthenticated'] }, '/metrics', false],
    ['/api not to anybody', { name: 'system:anonymous', groups: ['system:unauthenticated'] }, '/api', false],
    ['/apis/apps/v1 to users', { name: 'stranger', groups: [everybody] }, '/apis/apps/v1', true],
    ['/metrics not to users', { name: 'stranger', groups: [everybody] }, '/metrics', false],
    ['/metrics to who monitors', { name: 'prometheus', groups: ['system:monitoring'] }, '/metrics', true],
    ['/livez/store to who monitors', { name: 'prometheus', groups: ['system:monitoring'] }, '/livez/store', true],
  ])('gives %s', (_, user, url, isAllowed) => expect(authorizer.authorize(user, { verb: 'get', url }).allowed).toBe(isAllowed))

  it('is made at start, and given back what it lacks, unless that is not wanted', async () => {
    const trial = await ServerTrial.open({ authorization: [{ type: 'RBAC' }] })
    const { access } = trial.parts
    expect(access.list('rbac.authorization.k8s.io', 'clusterroles', '')).toHaveLength(bootstrapClusterRoles.length)
    expect(access.list('rbac.authorization.k8s.io', 'clusterrolebindings', '')).toHaveLength(bootstrapClusterBindings.length)
    const role = bootstrapClusterRoles.find(({ metadata }) => metadata.name === 'system:kube-dns')!
    const extra = { verbs: ['get'], apiGroups: ['example.com'], resources: ['things'] }
    const changed = { ...role, rules: [extra, { ...role.rules![0]!, resources: ['services'] }] }
    expect(completed(changed, role)?.rules?.map(({ resources: r }) => r)).toEqual([['things'], ['services'], ['endpoints'], ['endpoints']])
    expect(completed({ ...role, rules: [...role.rules!, extra] }, role)).toBeUndefined()
    const labelled = { ...role, metadata: { ...role.metadata, annotations: {} } }
    expect(completed(labelled, role)?.metadata.annotations).toEqual({ [autoUpdate]: 'true' })
    const binding = bootstrapClusterBindings.find(({ metadata }) => metadata.name === 'system:discovery')!
    expect(completed({ ...binding, subjects: [] }, binding)?.subjects).toEqual(binding.subjects)
  })
})
