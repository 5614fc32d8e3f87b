import type { MatchResources, ParamKind, ParamRef } from '../../../api/generated/types.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { ServerObjects } from '../../objects/objects.ts'
import type { AdmissionRequest } from '../admission.ts'
import { type Hook, LiveIndex, RequestMatcher, inOrderOfNames } from '../dynamic/index.ts'

interface PolicyObject extends KubeObject {
  spec: { failurePolicy?: string; matchConstraints?: MatchResources; paramKind?: ParamKind }
}

interface BindingObject extends KubeObject {
  spec: { policyName?: string; paramRef?: ParamRef; matchResources?: MatchResources }
}

/** A binding with its compiled matcher. */
export interface PolicyBinding<B> {
  readonly name: string
  readonly object: B
  readonly matcher: RequestMatcher
}

/** A policy with bindings. Its expressions are compiled on the first match. */
export interface PolicyHook<P, B, E> extends Hook {
  readonly name: string
  readonly object: P
  readonly bindings: readonly PolicyBinding<B>[]
  evaluator(): E
}

/**
 * The current policies with their bindings. A policy without a binding has no effect. Compiled expressions are kept
 * until the policy's spec changes.
 */
export function livePolicies<P extends PolicyObject, B extends BindingObject, E>(
  objects: ServerObjects,
  plurals: { policies: string; bindings: string },
  compile: (policy: P) => E,
): LiveIndex<PolicyHook<P, B, E>> {
  let compiled = new Map<string, E>()
  return new LiveIndex<PolicyHook<P, B, E>>(objects, [plurals.policies, plurals.bindings], () => {
    const kept = compiled
    compiled = new Map()
    const bindings = byPolicy(inOrderOfNames<B>(objects, plurals.bindings))
    return inOrderOfNames<P>(objects, plurals.policies).flatMap((object): PolicyHook<P, B, E>[] => {
      const { name = '', uid, generation } = object.metadata
      const bound = bindings.get(name)
      if (!bound) return []
      const form = `${uid} ${generation}`
      const known = kept.get(form)
      if (known) compiled.set(form, known)
      const evaluator = () => {
        let made = compiled.get(form)
        if (!made) compiled.set(form, (made = compile(object)))
        return made
      }
      return [
        {
          name,
          object,
          evaluator,
          matcher: new RequestMatcher(object.spec.matchConstraints ?? {}),
          bindings: bound.map(bindingOf),
        },
      ]
    })
  })
}

function byPolicy<B extends BindingObject>(bindings: readonly B[]): Map<string, B[]> {
  const found = new Map<string, B[]>()
  for (const binding of bindings) {
    const name = binding.spec.policyName ?? ''
    const others = found.get(name)
    if (others) others.push(binding)
    else found.set(name, [binding])
  }
  return found
}

const bindingOf = <B extends BindingObject>(object: B): PolicyBinding<B> => ({
  name: object.metadata.name ?? '',
  object,
  matcher: new RequestMatcher(object.spec.matchResources ?? {}),
})

const reviews = new Set([
  'authentication.k8s.io/selfsubjectreviews',
  'authentication.k8s.io/tokenreviews',
  'authorization.k8s.io/localsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectrulesreviews',
  'authorization.k8s.io/subjectaccessreviews',
])

/** Policies do not apply to access and token reviews, which a cluster needs to work. */
export const isReview = ({ resource }: AdmissionRequest): boolean => reviews.has(`${resource.group}/${resource.plural}`)
