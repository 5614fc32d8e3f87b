import { type ApiError, notFound } from '../../../api/errors.ts'
import type { LabelSelector, Namespace, NamedRuleWithOperations } from '../../../api/generated/types.ts'
import type { KubeObject } from '../../../api/object.ts'
import { type LabelMatcher, type Labels, compileLabelSelector } from '../../../api/selectors/label-selector.ts'
import type { Registered } from '../../registry/registry.ts'
import type { AdmissionRequest } from '../admission.ts'
import { type Asked, type RuleHit, hitFor, hitsOf } from './match-rules.ts'

/** The match of a webhook (its `rules` as resourceRules), a policy or a binding. */
export interface MatchCriteria {
  /** Absent or empty: every resource, as in a binding. */
  resourceRules?: readonly NamedRuleWithOperations[] | undefined
  excludeResourceRules?: readonly NamedRuleWithOperations[] | undefined
  matchPolicy?: string | undefined
  namespaceSelector?: LabelSelector | undefined
  objectSelector?: LabelSelector | undefined
}

/** What rules say of an operation on a kind, names and labels aside. */
export interface KindMatch {
  hits: readonly RuleHit[]
  excluded: readonly RuleHit[]
}

/** A request that matches, and the version of its kind that the rule names; or why that cannot be told. */
export type Match = { as: Registered; error?: undefined } | { as?: undefined; error: ApiError }

/** A selector that is not undefined only where it leaves something out. */
function compileSelector(selector: LabelSelector | undefined): LabelMatcher | undefined {
  const isEmpty = !Object.keys(selector?.matchLabels ?? {}).length && !selector?.matchExpressions?.length
  return isEmpty ? undefined : compileLabelSelector(selector)
}

const isOfNamespaces = ({ resource }: AdmissionRequest) => resource.plural === 'namespaces' && resource.group === ''

/** The namespace that admission knows a request by: a Namespace is in itself. */
export const admissionNamespace = (request: AdmissionRequest): string => {
  if (!isOfNamespaces(request)) return request.resource.namespaced ? request.namespace : ''
  return request.name || (request.object?.metadata.name ?? '')
}

const labelsOf = (object: KubeObject | undefined): Labels | 'none' => (object?.metadata ? object.metadata.labels : 'none')

/** Judges requests by rules and selectors. Rules without a version of the request may match an equivalent one. */
export class RequestMatcher {
  readonly #criteria: MatchCriteria
  readonly #namespaces: LabelMatcher | undefined
  readonly #objects: LabelMatcher | undefined

  constructor(criteria: MatchCriteria) {
    this.#criteria = criteria
    this.#namespaces = compileSelector(criteria.namespaceSelector)
    this.#objects = compileSelector(criteria.objectSelector)
  }

  /** What the rules say of an operation on a kind; undefined where no request of that sort can match. */
  forKind(asked: Asked): KindMatch | undefined {
    const { resourceRules, excludeResourceRules, matchPolicy } = this.#criteria
    const isExact = matchPolicy !== 'Equivalent'
    const excluded = hitsOf(excludeResourceRules, isExact, asked)
    if (excluded.some(({ names }) => names === undefined)) return undefined
    const hits = resourceRules?.length ? hitsOf(resourceRules, isExact, asked) : [{ names: undefined, as: asked.target }]
    return hits.length ? { hits, excluded } : undefined
  }

  match(request: AdmissionRequest): Match | undefined {
    const { target, registry } = request.origin!
    const known = this.forKind({ target, registry, subresource: request.subresource, operation: request.operation })
    return known && this.matchIn(known, request)
  }

  /** The same for a request whose kind was judged before. */
  matchIn({ hits, excluded }: KindMatch, request: AdmissionRequest): Match | undefined {
    const isSelected = this.#isInNamespace(request)
    if (isSelected === false || !this.#hasLabels(request)) return undefined
    if (hitFor(excluded, request.name)) return undefined
    const hit = hitFor(hits, request.name)
    if (!hit) return undefined
    return isSelected === true ? { as: hit.as } : { error: isSelected }
  }

  /** Requests for what has no namespace are in every one. A namespace that is not there is an error. */
  #isInNamespace(request: AdmissionRequest): boolean | ApiError {
    if (!this.#namespaces) return true
    const isNamespace = isOfNamespaces(request)
    const name = admissionNamespace(request)
    if (name === '' && !isNamespace) return true
    const isWritten = request.subresource === '' && (request.operation === 'CREATE' || request.operation === 'UPDATE')
    if (isNamespace && isWritten) return this.#namespaces(request.object?.metadata.labels)
    const found = request.reader.get<Namespace>('', 'namespaces', '', name)
    return found ? this.#namespaces(found.metadata.labels) : notFound({ group: '', resource: 'namespaces' }, name)
  }

  /** The new object or the old one is selected. */
  #hasLabels({ object, old }: AdmissionRequest): boolean {
    const selected = this.#objects
    if (!selected) return true
    return [labelsOf(object), labelsOf(old)].some((labels) => labels !== 'none' && selected(labels))
  }
}
