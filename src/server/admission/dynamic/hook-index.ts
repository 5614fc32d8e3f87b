import type { Registered } from '../../registry/registry.ts'
import type { AdmissionRequest } from '../admission.ts'
import type { KindMatch, Match, RequestMatcher } from './request-matcher.ts'

/** A webhook or policy, as far as finding it is concerned. */
export interface Hook {
  readonly matcher: RequestMatcher
}

/** A hook whose rules are about an operation on a kind. */
interface Candidate<H> {
  hook: H
  kind: KindMatch
}

/** A hook that a request has to pass. */
export interface Found<H> {
  hook: H
  match: Match
}

const none: readonly never[] = []

const exempt = new Set([
  'mutatingadmissionpolicies', 'mutatingadmissionpolicybindings', 'mutatingwebhookconfigurations',
  'validatingadmissionpolicies', 'validatingadmissionpolicybindings', 'validatingwebhookconfigurations',
])

/** Webhooks and policies never judge webhooks and policies: a wrong one could not be taken away again. */
export const isExempt = ({ resource }: AdmissionRequest): boolean =>
  resource.group === 'admissionregistration.k8s.io' && exempt.has(resource.plural)

/**
 * Webhooks or policies in the order in which they are asked, found by kind and operation: a request is compared with the selectors of those
 * only whose rules are about it. What rules say of a kind is computed once, until kinds come or go. The index itself never changes.
 */
export class HookIndex<H extends Hook> {
  readonly #hooks: readonly H[]
  #byKind = new Map<Registered, Map<string, readonly Candidate<H>[]>>()
  #generation = -1

  constructor(hooks: readonly H[]) {
    this.#hooks = hooks
  }

  get isEmpty(): boolean {
    return this.#hooks.length === 0
  }

  /** True if there are hooks whose rules are about requests of this sort. */
  concerns(request: AdmissionRequest): boolean {
    return this.#hooks.length > 0 && !isExempt(request) && this.#candidates(request).length > 0
  }

  /** The hooks that a request matches, in order. */
  find(request: AdmissionRequest): readonly Found<H>[] {
    return this.concerns(request) ? [...this.each(request)] : none
  }

  /** The same one after the other: each is compared with the request as it is by then. */
  *each(request: AdmissionRequest): Iterable<Found<H>> {
    for (const { hook, kind } of this.#candidates(request)) {
      const match = hook.matcher.matchIn(kind, request)
      if (match) yield { hook, match }
    }
  }

  #candidates({ origin, subresource, operation }: AdmissionRequest): readonly Candidate<H>[] {
    const { target, registry } = origin!
    if (this.#generation !== registry.generation) {
      this.#byKind = new Map()
      this.#generation = registry.generation
    }
    let known = this.#byKind.get(target)
    if (!known) this.#byKind.set(target, (known = new Map()))
    const key = `${operation} ${subresource}`
    let candidates = known.get(key)
    if (!candidates) {
      const asked = { target, registry, subresource, operation }
      candidates = this.#hooks.flatMap((hook) => {
        const kind = hook.matcher.forKind(asked)
        return kind ? [{ hook, kind }] : []
      })
      known.set(key, candidates)
    }
    return candidates
  }
}
