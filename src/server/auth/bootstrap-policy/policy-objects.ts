import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  RbacV1Subject,
  Role,
  RoleBinding,
} from '../../../api/generated/types.ts'

export const read = 'get list watch'
export const write = 'create update patch delete deletecollection'
export const readWrite = `${read} ${write}`

const apiVersion = 'rbac.authorization.k8s.io/v1'
const apiGroup = 'rbac.authorization.k8s.io'
/** Reconciliation at startup adds missing rules and subjects unless this annotation is "false". */
export const autoUpdate = 'rbac.authorization.kubernetes.io/autoupdate'

const words = (text: string): string[] => text.split(' ').sort()

/** A resource rule. Verbs, groups (`core` is the unnamed one), resources and names are lists separated by spaces. */
export const rule = (verbs: string, groups: string, resources: string, names?: string): PolicyRule => ({
  verbs: words(verbs),
  apiGroups: words(groups)
    .map((group) => (group === 'core' ? '' : group))
    .sort(),
  resources: words(resources),
  ...(names ? { resourceNames: words(names) } : {}),
})

/** A rule for non-resource URLs. */
export const paths = (verbs: string, urls: string): PolicyRule => ({
  verbs: words(verbs),
  nonResourceURLs: words(urls),
})

/** The permission to write events of both groups. */
export const events: PolicyRule = rule('create update patch', 'core events.k8s.io', 'events')

const metadataOf = (name: string, labels: Record<string, string> = {}, namespace?: string) => ({
  name,
  ...(namespace ? { namespace } : {}),
  labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...labels },
  annotations: { [autoUpdate]: 'true' },
})

const aggregationLabel = (to: string) => `rbac.authorization.k8s.io/aggregate-to-${to}`
const labelsTo = (aggregateTo: readonly string[]) =>
  Object.fromEntries(aggregateTo.map((to) => [aggregationLabel(to), 'true']))

/** A cluster role, labelled for aggregation into the `aggregateTo` roles. */
export const clusterRole = (name: string, rules: PolicyRule[], aggregateTo: readonly string[] = []): ClusterRole => ({
  apiVersion,
  kind: 'ClusterRole',
  metadata: metadataOf(name, labelsTo(aggregateTo)),
  rules,
})

/** An aggregated cluster role. */
export const aggregated = (name: string, aggregateTo: readonly string[] = []): ClusterRole => ({
  ...clusterRole(name, [], aggregateTo),
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [aggregationLabel(name)]: 'true' } }] },
})

export const role = (namespace: string, name: string, rules: PolicyRule[]): Role => ({
  apiVersion,
  kind: 'Role',
  metadata: metadataOf(name, {}, namespace),
  rules,
})

export const user = (name: string): RbacV1Subject => ({ apiGroup, kind: 'User', name })
export const group = (name: string): RbacV1Subject => ({ apiGroup, kind: 'Group', name })
export const account = (name: string, namespace = 'kube-system'): RbacV1Subject => ({
  kind: 'ServiceAccount',
  name,
  namespace,
})

/** A cluster role binding with the same name as its role. */
export const clusterBinding = (roleName: string, ...subjects: RbacV1Subject[]): ClusterRoleBinding => ({
  apiVersion,
  kind: 'ClusterRoleBinding',
  metadata: metadataOf(roleName),
  roleRef: { apiGroup, kind: 'ClusterRole', name: roleName },
  ...(subjects.length ? { subjects } : {}),
})

/** A role binding for a role of the same namespace. */
export const binding = (
  namespace: string,
  roleName: string,
  subjects: RbacV1Subject[],
  name = roleName,
): RoleBinding => ({
  apiVersion,
  kind: 'RoleBinding',
  metadata: metadataOf(name, {}, namespace),
  roleRef: { apiGroup, kind: 'Role', name: roleName },
  subjects,
})
