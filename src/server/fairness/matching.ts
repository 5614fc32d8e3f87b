import type {
  FlowSchema,
  FlowcontrolV1Subject,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
} from '../../api/generated/types.ts'
import type { UserInfo } from '../objects/objects.ts'

/** The properties of a request that are known before it is authorized. */
export interface FlowRequest {
  readonly user: UserInfo
  /** Kubernetes' verb; for a non-resource path, the method in lower case. */
  readonly verb: string
  /** The path of a non-resource request. */
  readonly url: string
  readonly isResource: boolean
  readonly group: string
  /** `pods`, `pods/status` */
  readonly resource: string
  /** '' for requests across namespaces and cluster-scoped kinds. */
  readonly namespace: string
}

const has = (list: readonly string[] | undefined, value: string): boolean =>
  list !== undefined && (list.includes(value) || list.includes('*'))

function matchesSubject(subject: FlowcontrolV1Subject, { name, groups }: UserInfo): boolean {
  const { kind, user, group, serviceAccount } = subject
  if (kind === 'User') return user?.name === '*' || user?.name === name
  if (kind === 'Group') return group !== undefined && (group.name === '*' || groups.includes(group.name))
  if (kind !== 'ServiceAccount' || !serviceAccount) return false
  const prefix = `system:serviceaccount:${serviceAccount.namespace}:`
  return serviceAccount.name === '*' ? name.startsWith(prefix) : name === prefix + serviceAccount.name
}

const matchesResource = (rule: ResourcePolicyRule, request: FlowRequest): boolean =>
  has(rule.verbs, request.verb) &&
  has(rule.apiGroups, request.group) &&
  has(rule.resources, request.resource) &&
  (request.namespace === '' ? rule.clusterScope === true : has(rule.namespaces, request.namespace))

const matchesUrl = (pattern: string, url: string): boolean =>
  pattern === url || (pattern.endsWith('*') && url.startsWith(pattern.slice(0, -1)))

const matchesPath = (rule: NonResourcePolicyRule, { verb, url }: FlowRequest): boolean =>
  has(rule.verbs, verb) && rule.nonResourceURLs.some((pattern) => matchesUrl(pattern, url))

function matchesRules(rules: PolicyRulesWithSubjects, request: FlowRequest): boolean {
  if (!rules.subjects.some((subject) => matchesSubject(subject, request.user))) return false
  return request.isResource
    ? (rules.resourceRules ?? []).some((rule) => matchesResource(rule, request))
    : (rules.nonResourceRules ?? []).some((rule) => matchesPath(rule, request))
}

/** True if the schema matches the request. */
export const matchesSchema = ({ spec }: FlowSchema, request: FlowRequest): boolean =>
  (spec.rules ?? []).some((rules) => matchesRules(rules, request))

/** Sorts schemas by precedence, then by name. */
export const inOrder = (schemas: readonly FlowSchema[]): FlowSchema[] =>
  schemas.toSorted(
    (a, b) =>
      a.spec.matchingPrecedence - b.spec.matchingPrecedence ||
      ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1),
  )

/** The distinguisher of a request's flow within its schema. Requests of one flow queue behind each other. */
export function distinguisherOf({ spec }: FlowSchema, { user, namespace }: FlowRequest): string {
  const method = spec.distinguisherMethod?.type
  return method === 'ByUser' ? user.name : method === 'ByNamespace' ? namespace : ''
}
