import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '../../../api/generated/types.ts'
import { componentRoles } from './component-roles.ts'
import { controllerRules } from './controller-roles.ts'
import { ownBindings, ownControllerRules, ownNamespaceBindings, ownNamespaceRoles, ownRoles } from './own-roles.ts'
import {
  account,
  binding,
  clusterBinding,
  clusterRole,
  events,
  group,
  read,
  role,
  rule,
  user,
} from './policy-objects.ts'
import { userRoles } from './user-roles.ts'

export { nodeRules } from './component-roles.ts'
export { autoUpdate } from './policy-objects.ts'

const system = 'kube-system'
const authenticated = group('system:authenticated')
const controllerManager = user('system:kube-controller-manager')
const scheduler = user('system:kube-scheduler')

const prefixed = (prefix: string, rules: Readonly<Record<string, ClusterRole['rules']>>): ClusterRole[] =>
  Object.entries(rules).map(([name, own]) => clusterRole(`${prefix}${name}`, own ?? []))

const boundToAccounts = (prefix: string, rules: object): ClusterRoleBinding[] =>
  Object.keys(rules).map((name) => clusterBinding(`${prefix}${name}`, account(name)))

/** The cluster roles created at startup. */
export const bootstrapClusterRoles: readonly ClusterRole[] = [
  ...userRoles,
  ...componentRoles,
  ...prefixed('system:controller:', controllerRules),
  ...ownRoles,
  ...prefixed('coxswain:controller:', ownControllerRules),
]

/** The cluster role bindings created at startup. Nodes get their permissions from the node authorizer. */
export const bootstrapClusterBindings: readonly ClusterRoleBinding[] = [
  clusterBinding('cluster-admin', group('system:masters')),
  clusterBinding('system:monitoring', group('system:monitoring')),
  clusterBinding('system:discovery', authenticated),
  clusterBinding('system:basic-user', authenticated),
  clusterBinding('system:public-info-viewer', authenticated, group('system:unauthenticated')),
  clusterBinding('system:node-proxier', user('system:kube-proxy')),
  clusterBinding('system:kube-controller-manager', controllerManager),
  clusterBinding('system:kube-dns', account('kube-dns')),
  clusterBinding('system:kube-scheduler', scheduler),
  clusterBinding('system:volume-scheduler', scheduler),
  clusterBinding('system:node'),
  clusterBinding('system:service-account-issuer-discovery', group('system:serviceaccounts')),
  ...boundToAccounts('system:controller:', controllerRules),
  ...boundToAccounts('coxswain:controller:', ownControllerRules),
  ...ownBindings,
]

const leaderLocking = (name: string, subjects: Parameters<typeof binding>[2], ...more: ReturnType<typeof rule>[]) => ({
  role: role(system, name, [
    rule('watch', 'core', 'configmaps'),
    rule('get update', 'core', 'configmaps', name.replace('system::leader-locking-', '')),
    ...more,
  ]),
  binding: binding(system, name, subjects),
})
const leases = rule('get watch list create update', 'coordination.k8s.io', 'leases')
const lockings = [
  leaderLocking(
    'system::leader-locking-kube-controller-manager',
    [controllerManager, account('kube-controller-manager'), account('leader-election-controller')],
    leases,
  ),
  leaderLocking('system::leader-locking-kube-scheduler', [scheduler, account('kube-scheduler')]),
]
const signer = 'system:controller:bootstrap-signer'
const cleaner = 'system:controller:token-cleaner'
const cloud = 'system:controller:cloud-provider'
const authentication = 'extension-apiserver-authentication-reader'

/** The roles created at startup in system namespaces. */
export const bootstrapRoles: readonly Role[] = [
  role(system, authentication, [rule(read, 'core', 'configmaps', 'extension-apiserver-authentication')]),
  role(system, signer, [rule(read, 'core', 'secrets')]),
  role(system, cloud, [rule('create get list watch', 'core', 'configmaps')]),
  role(system, cleaner, [rule('get list watch delete', 'core', 'secrets'), events]),
  ...lockings.map((locking) => locking.role),
  role('kube-public', signer, [
    rule(read, 'core', 'configmaps'),
    rule('update', 'core', 'configmaps', 'cluster-info'),
    events,
  ]),
  ...ownNamespaceRoles,
]

export const bootstrapBindings: readonly RoleBinding[] = [
  binding(system, authentication, [controllerManager, scheduler], `system::${authentication}`),
  ...lockings.map((locking) => locking.binding),
  binding(system, signer, [account('bootstrap-signer')]),
  binding(system, cloud, [account('cloud-provider')]),
  binding(system, cleaner, [account('token-cleaner')]),
  binding('kube-public', signer, [account('bootstrap-signer')]),
  ...ownNamespaceBindings,
]
