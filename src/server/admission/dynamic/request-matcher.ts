import { type ApiError, notFound } from '../../../api/errors.ts'
import type { LabelSelector, Namespace, NamedRuleWithOperations } from '../../../api/generated/types.ts'
import type { KubeObject } from '../../../api/object.ts'
import { type LabelMatcher, type Labels, compileLabelSelector } from '../../../api/selectors/label-selector.ts'
import type { Registered } from '../../registry/registry.ts'
import type { AdmissionRequest } from '../admission.ts'
import { type Asked, type RuleHit, hitFor, hitsOf } from './match-rules.ts'

/** The match criteria of a webhook (its `rules` as resourceRules), a policy or a binding. */
export interface MatchCriteria {
  /** Absent or empty matches every resource, as in a binding. */
  resourceRules?: readonly NamedRuleWithOperations[] | undefined
  excludeResourceRules?: readonly NamedRuleWithOperations[] | undefined
  matchPolicy?: string | undefined
  namespaceSelector?: LabelSelector | undefined
  objectSelector?: LabelSelector | undefined
}

/** The rules that match an operation on a kind, apart from names and labels. */
export interface KindMatch {
  hits: readonly RuleHit[]
  excluded: readonly RuleHit[]
}

/** The version that the matching rule names, or the error of matching. */
export type Match = { as: Registered; error?: undefined } | { as?: undefined; error: ApiError }

/** Compiles a selector; undefined if it selects everything. */
function compileSelector(selector: LabelSelector | undefined): LabelMatcher | undefined {
  const isEmpty = !Object.keys(selector?.matchLabels ?? {}).length && !selector?.matchExpressions?.length
  return isEmpty ? undefined : compileLabelSelector(selector)
}

const isOfNamespaces = ({ resource }: AdmissionRequest) => resource.plural === 'namespaces' && resource.group === ''

/** The namespace of a request in admission: that of a Namespace object is its own name. */
export const admissionNamespace = (request: AdmissionRequest): string => {
  if (!isOfNamespaces(request)) return request.resource.namespaced ? request.namespace : ''
  return request.name || (request.object?.metadata.name ?? '')
}

const labelsOf = (object: KubeObject | undefined): Labels | 'none' =>
  object?.metadata ? object.metadata.labels : 'none'

/** Matches requests by rules and selectors. With matchPolicy Equivalent, rules for an equivalent version match too. */
export class RequestMatcher {
  readonly #criteria: MatchCriteria
  readonly #namespaces: LabelMatcher | undefined
  readonly #objects: LabelMatcher | undefined

  constructor(criteria: MatchCriteria) {
    this.#criteria = criteria
    this.#namespaces = compileSelector(criteria.namespaceSelector)
    this.#objects = compileSelector(criteria.objectSelector)
  }

  /** Matches an operation on a kind; undefined if no such request can match. */
  forKind(asked: Asked): KindMatch | undefined {
    const { resourceRules, excludeResourceRules, matchPolicy } = this.#criteria
    const isExact = matchPolicy !== 'Equivalent'
    const excluded = hitsOf(excludeResourceRules, isExact, asked)
    if (excluded.some(({ names }) => names === undefined)) return undefined
    const hits = resourceRules?.length
      ? hitsOf(resourceRules, isExact, asked)
      : [{ names: undefined, as: asked.target }]
    return hits.length ? { hits, excluded } : undefined
  }

  match(request: AdmissionRequest): Match | undefined {
    const { target, registry } = request.origin!
    const known = this.forKind({ target, registry, subresource: request.subresource, operation: request.operation })
    return known && this.matchIn(known, request)
  }

  /** Matches a request whose kind matched before. */
  matchIn({ hits, excluded }: KindMatch, request: AdmissionRequest): Match | undefined {
    const isSelected = this.#isInNamespace(request)
    if (isSelected === false || !this.#hasLabels(request)) return undefined
    if (hitFor(excluded, request.name)) return undefined
    const hit = hitFor(hits, request.name)
    if (!hit) return undefined
    return isSelected === true ? { as: hit.as } : { error: isSelected }
  }

  /** A cluster-scoped request matches every namespace selector. A missing namespace is an error. */
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

  /** True if the selector matches the new or the old object. */
  #hasLabels({ object, old }: AdmissionRequest): boolean {
    const selected = this.#objects
    if (!selected) return true
    return [labelsOf(object), labelsOf(old)].some((labels) => labels !== 'none' && selected(labels))
  }
}
