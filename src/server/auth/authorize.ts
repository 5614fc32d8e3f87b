import type { PolicyRule } from '../../api/generated/types.ts'
import { type ApiError, forbiddenError } from '../../api/errors.ts'
import type { UserInfo } from '../objects/objects.ts'
import { type AttemptSelectors, fieldRequirements } from './authorization/selectors.ts'

/** An action on a resource: the part of a resolved request that decides whether it is allowed. */
export interface ResourceAttempt {
  readonly verb: string
  readonly path: { group: string; version: string; namespace: string; plural: string; subresource: string; name: string }
  /** The query of a request. Its selectors are parsed only by an authorizer that judges by them. */
  readonly query?: URLSearchParams
  /** Selectors of an access review, which has no query. */
  readonly selectors?: AttemptSelectors
}

/** A request for a path that is no resource. The verb is the method in lower case. */
export interface PathAttempt {
  readonly verb: string
  readonly url: string
}

export type Attempt = ResourceAttempt | PathAttempt

/** Whether an attempt is allowed, and why. Neither allowed nor denied means that no authorizer had an opinion. */
export interface Decision {
  allowed: boolean
  denied?: boolean
  reason?: string
  /** What went wrong while the decision was made; access reviews report it. */
  error?: string
}

/** The rules that an authorizer knows to apply to a user in one namespace. */
export interface KnownRules {
  rules: readonly PolicyRule[]
  /** The authorizer may allow more than these rules say. */
  incomplete?: boolean
  errors?: readonly string[]
}

/** Decides who may do what. It answers a promise only where it has to ask another process. */
export interface Authorizer {
  authorize(user: UserInfo, attempt: Attempt): Decision | Promise<Decision>
  /** Absent for an authorizer that cannot list its rules. */
  rulesFor?(user: UserInfo, namespace: string): KnownRules
}

const yes: Decision = { allowed: true }
const no: Decision = { allowed: false }

/** Members of this group may do everything, whatever the roles say. */
export const privilegedGroup = 'system:masters'

const everything: PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

/** `AlwaysAllow`: every user who is let in may do everything. */
export const allowEverything: Authorizer = { authorize: () => yes, rulesFor: () => ({ rules: everything }) }

/** `AlwaysDeny`: for tests. */
export const denyEverything: Authorizer = { authorize: () => no, rulesFor: () => ({ rules: [] }) }

export const isPathAttempt = (attempt: Attempt): attempt is PathAttempt => 'url' in attempt

/** The namespace that a resource attempt is judged in: a namespace object is judged within itself, as in Kubernetes. */
export const namespaceOf = ({ path }: ResourceAttempt): string =>
  path.namespace === '' && path.plural === 'namespaces' && path.group === '' ? path.name : path.namespace

/**
 * The name that a resource attempt is judged by. A list or watch of the field selector `metadata.name=a` is judged by the name a,
 * so that a rule with resourceNames allows it.
 */
export function nameOf({ verb, path, query }: ResourceAttempt): string {
  if (path.name !== '' || !query || (verb !== 'list' && verb !== 'watch')) return path.name
  const selector = query.get('fieldSelector')
  if (!selector) return ''
  const name = fieldRequirements(selector).find(({ key, operator }) => key === 'metadata.name' && operator === 'In')?.values?.[0] ?? ''
  return /^\.{1,2}$|[/%]/.test(name) ? '' : name
}

/** Kubernetes' sentence about an attempt that is not allowed. */
export function refusalOf(user: UserInfo, attempt: Attempt, { reason }: Decision): string {
  const who = `User ${JSON.stringify(user.name)} cannot ${attempt.verb}`
  const sentence = escaped(isPathAttempt(attempt) ? `${who} path ${JSON.stringify(attempt.url)}` : `${who} ${resourcePhrase(attempt)}`)
  return reason ? `${sentence}: ${reason}` : sentence
}

function resourcePhrase(attempt: ResourceAttempt): string {
  const { group, plural, subresource } = attempt.path
  const namespace = namespaceOf(attempt)
  const resource = subresource ? `${plural}/${subresource}` : plural
  const where = namespace ? `in the namespace ${JSON.stringify(namespace)}` : 'at the cluster scope'
  return `resource ${JSON.stringify(resource)} in API group ${JSON.stringify(group)} ${where}`
}

/** Browsers must not take a part of the sentence for markup. */
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** The 403 that Kubernetes answers to an attempt that is not allowed. */
export function forbiddenAttempt(user: UserInfo, attempt: Attempt, decision: Decision): ApiError {
  const why = refusalOf(user, attempt, decision)
  if (isPathAttempt(attempt)) return forbiddenError({ group: '', resource: '' }, '', why)
  return forbiddenError({ group: attempt.path.group, resource: attempt.path.plural }, nameOf(attempt), why)
}
