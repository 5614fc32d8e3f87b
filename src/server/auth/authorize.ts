import type { PolicyRule } from '../../api/generated/types.ts'
import { type ApiError, forbiddenError } from '../../api/errors.ts'
import type { UserInfo } from '../objects/objects.ts'
import { type AttemptSelectors, fieldRequirements } from './authorization/selectors.ts'

/** The attributes of a resource request that authorization uses. */
export interface ResourceAttempt {
  readonly verb: string
  readonly path: {
    group: string
    version: string
    namespace: string
    plural: string
    subresource: string
    name: string
  }
  /** The query of the request. Only an authorizer that uses selectors parses them. */
  readonly query?: URLSearchParams
  /** The selectors of an access review, which has no query. */
  readonly selectors?: AttemptSelectors
}

/** A request for a non-resource path. The verb is the HTTP method in lower case. */
export interface PathAttempt {
  readonly verb: string
  readonly url: string
}

export type Attempt = ResourceAttempt | PathAttempt

/** The result of authorization. Neither allowed nor denied means that no authorizer had an opinion. */
export interface Decision {
  allowed: boolean
  denied?: boolean
  reason?: string
  /** An evaluation error, which access reviews report. */
  error?: string
}

/** The rules that an authorizer can list for a user in one namespace. */
export interface KnownRules {
  rules: readonly PolicyRule[]
  /** True if the authorizer may allow more than these rules. */
  incomplete?: boolean
  errors?: readonly string[]
}

/** Authorizes requests. Returns a promise only if it calls another process. */
export interface Authorizer {
  authorize(user: UserInfo, attempt: Attempt): Decision | Promise<Decision>
  /** Absent if the authorizer cannot list its rules. */
  rulesFor?(user: UserInfo, namespace: string): KnownRules
}

const yes: Decision = { allowed: true }
const no: Decision = { allowed: false }

/** Members of this group are allowed everything, regardless of roles. */
export const privilegedGroup = 'system:masters'

const everything: PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

/** The `AlwaysAllow` authorizer: every authenticated user is allowed everything. */
export const allowEverything: Authorizer = { authorize: () => yes, rulesFor: () => ({ rules: everything }) }

/** The `AlwaysDeny` authorizer, for tests. */
export const denyEverything: Authorizer = { authorize: () => no, rulesFor: () => ({ rules: [] }) }

export const isPathAttempt = (attempt: Attempt): attempt is PathAttempt => 'url' in attempt

/** The namespace for authorization. As in Kubernetes, a Namespace object is in the namespace of its own name. */
export const namespaceOf = ({ path }: ResourceAttempt): string =>
  path.namespace === '' && path.plural === 'namespaces' && path.group === '' ? path.name : path.namespace

/**
 * The resource name for authorization. A list or watch with the field selector `metadata.name=a` has the name `a`, so
 * that a rule with resourceNames allows it.
 */
export function nameOf({ verb, path, query }: ResourceAttempt): string {
  if (path.name !== '' || !query || (verb !== 'list' && verb !== 'watch')) return path.name
  const selector = query.get('fieldSelector')
  if (!selector) return ''
  const name =
    fieldRequirements(selector).find(({ key, operator }) => key === 'metadata.name' && operator === 'In')
      ?.values?.[0] ?? ''
  return /^\.{1,2}$|[/%]/.test(name) ? '' : name
}

/** Kubernetes' message for a denied attempt. */
export function refusalOf(user: UserInfo, attempt: Attempt, { reason }: Decision): string {
  const who = `User ${JSON.stringify(user.name)} cannot ${attempt.verb}`
  const sentence = escaped(
    isPathAttempt(attempt) ? `${who} path ${JSON.stringify(attempt.url)}` : `${who} ${resourcePhrase(attempt)}`,
  )
  return reason ? `${sentence}: ${reason}` : sentence
}

function resourcePhrase(attempt: ResourceAttempt): string {
  const { group, plural, subresource } = attempt.path
  const namespace = namespaceOf(attempt)
  const resource = subresource ? `${plural}/${subresource}` : plural
  const where = namespace ? `in the namespace ${JSON.stringify(namespace)}` : 'at the cluster scope'
  return `resource ${JSON.stringify(resource)} in API group ${JSON.stringify(group)} ${where}`
}

/** Escapes HTML, so that browsers do not interpret parts of the message as markup. */
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** The 403 error of Kubernetes for a denied attempt. */
export function forbiddenAttempt(user: UserInfo, attempt: Attempt, decision: Decision): ApiError {
  const why = refusalOf(user, attempt, decision)
  if (isPathAttempt(attempt)) return forbiddenError({ group: '', resource: '' }, '', why)
  return forbiddenError({ group: attempt.path.group, resource: attempt.path.plural }, nameOf(attempt), why)
}
