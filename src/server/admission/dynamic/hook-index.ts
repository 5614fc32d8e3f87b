import type { Registered } from '../../registry/registry.ts'
import type { AdmissionRequest } from '../admission.ts'
import type { KindMatch, Match, RequestMatcher } from './request-matcher.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { ServerObjects } from '../../objects/objects.ts'

/** The part of a webhook or policy that matching needs. */
export interface Hook {
  readonly matcher: RequestMatcher
}

/** A hook whose rules match an operation on a kind. */
interface Candidate<H> {
  hook: H
  kind: KindMatch
}

/** A hook that matches a request. */
export interface Found<H> {
  hook: H
  match: Match
}

const none: readonly never[] = []

const exempt = new Set([
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
  'mutatingwebhookconfigurations',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'validatingwebhookconfigurations',
])

/** Webhooks and policies never apply to webhook and policy configurations: a broken one could not be deleted. */
export const isExempt = ({ resource }: AdmissionRequest): boolean =>
  resource.group === 'admissionregistration.k8s.io' && exempt.has(resource.plural)

/**
 * Webhooks or policies in call order, indexed by kind and operation. A request is compared only with the selectors of
 * hooks whose rules match. Rule matches are cached per kind until kinds change. The index itself is immutable.
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

  /** True if the rules of any hook match the request. */
  concerns(request: AdmissionRequest): boolean {
    return this.#hooks.length > 0 && !isExempt(request) && this.#candidates(request).length > 0
  }

  /** The hooks that match a request, in order. */
  find(request: AdmissionRequest): readonly Found<H>[] {
    return this.concerns(request) ? [...this.each(request)] : none
  }

  /** As `find`, but lazily: each hook is compared with the request as earlier hooks have changed it. */
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

const group = 'admissionregistration.k8s.io'

/** Objects of one kind, sorted by name: the order in which Kubernetes calls webhooks and policies. */
export function inOrderOfNames<T extends KubeObject>(objects: ServerObjects, plural: string): T[] {
  const nameOf = ({ metadata: { name = '' } }: T) => name
  return objects.list<T>(group, plural, '').sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
}

/**
 * The current hooks. A configuration change applies to the next request, which rebuilds the index. Without any
 * configuration a request costs one comparison.
 */
export class LiveIndex<H extends Hook> {
  readonly #build: () => readonly H[]
  #index: HookIndex<H> | undefined

  /** `plurals` are the resources of admissionregistration.k8s.io that `build` reads. */
  constructor(objects: ServerObjects, plurals: readonly string[], build: () => readonly H[]) {
    this.#build = build
    for (const plural of plurals) objects.follow(group, plural, () => (this.#index = undefined))
  }

  get current(): HookIndex<H> {
    return (this.#index ??= new HookIndex(this.#build()))
  }
}
