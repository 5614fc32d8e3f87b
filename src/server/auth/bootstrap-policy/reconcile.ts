import { deepEqual } from '../../../api/deep-equal.ts'
import { ApiError, isAlreadyExists, isConflict, isNotFound } from '../../../api/errors.ts'
import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  RbacV1Subject,
  Role,
  RoleBinding,
} from '../../../api/generated/types.ts'
import { cloneObject } from '../../../api/json/index.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { Registered } from '../../registry/registry.ts'
import type { ServerParts } from '../../requests/request.ts'
import { systemRequest } from '../../requests/system-request.ts'
import { createObject } from '../../verbs/create.ts'
import { uncoveredRules } from '../authorization/rule-coverage.ts'
import {
  autoUpdate,
  bootstrapBindings,
  bootstrapClusterBindings,
  bootstrapClusterRoles,
  bootstrapRoles,
} from './index.ts'

type AnyRole = ClusterRole | Role
type AnyBinding = ClusterRoleBinding | RoleBinding

/** Creates the missing bootstrap roles and bindings, and adds missing rules and subjects to existing ones. */
export async function reconcilePolicy(parts: ServerParts): Promise<void> {
  const wanted: KubeObject[] = [
    ...bootstrapClusterRoles,
    ...bootstrapRoles,
    ...bootstrapClusterBindings,
    ...bootstrapBindings,
  ]
  // Written concurrently: the store commits waiting writes in one transaction.
  await Promise.all(wanted.map((object) => ensure(parts, object)))
}

async function ensure(parts: ServerParts, wanted: KubeObject): Promise<void> {
  const target = parts.registry
    .all()
    .find((r) => r.apiVersion === wanted.apiVersion && r.resource.kind === wanted.kind)!
  const { namespace = '', name = '' } = wanted.metadata
  const stored = parts.objects.get(target, namespace, name)
  try {
    if (!stored) await createObject(systemRequest(parts, target, namespace, ''), cloneObject(wanted), false)
    else if (stored.object.metadata.annotations?.[autoUpdate] !== 'false')
      await complete(parts, target, stored.object, wanted)
  } catch (e) {
    // Another server on the same store may be creating the same objects.
    if (!isAlreadyExists(e) && !isConflict(e)) throw e
  }
}

async function complete(parts: ServerParts, target: Registered, stored: KubeObject, wanted: KubeObject): Promise<void> {
  const { namespace = '', name = '' } = wanted.metadata
  if ('roleRef' in wanted && !deepEqual((stored as AnyBinding).roleRef, (wanted as AnyBinding).roleRef)) {
    // A binding's roleRef is immutable, so the binding is replaced.
    await parts.access.delete(target.resource, namespace, name, {}).catch((e: unknown) => {
      if (!(e instanceof ApiError) || !isNotFound(e)) throw e
    })
    await createObject(systemRequest(parts, target, namespace, ''), cloneObject(wanted), false)
    return
  }
  await parts.access.update(target.resource, namespace, name, (copy, current) => completed(copy, wanted) ?? current)
}

/** Adds the parts of `wanted` that the object lacks; undefined if there are none. Additions of users are kept. */
export function completed<T extends KubeObject>(copy: T, wanted: KubeObject): T | undefined {
  const metadata = {
    ...copy.metadata,
    labels: { ...wanted.metadata.labels, ...copy.metadata.labels },
    annotations: { ...wanted.metadata.annotations, ...copy.metadata.annotations },
  }
  const next = {
    ...copy,
    metadata,
    ...('roleRef' in wanted
      ? missingSubjects(copy as unknown as AnyBinding, wanted as AnyBinding)
      : missingRules(copy as unknown as AnyRole, wanted as AnyRole)),
  }
  return deepEqual(next, copy) ? undefined : next
}

function missingRules(
  role: AnyRole,
  wanted: AnyRole,
): { rules?: PolicyRule[]; aggregationRule?: ClusterRole['aggregationRule'] } {
  const aggregation = 'aggregationRule' in wanted ? wanted.aggregationRule : undefined
  if (aggregation) {
    const own = (role as ClusterRole).aggregationRule?.clusterRoleSelectors ?? []
    const lacking = (aggregation.clusterRoleSelectors ?? []).filter(
      (selector) => !own.some((known) => deepEqual(known, selector)),
    )
    return lacking.length ? { aggregationRule: { clusterRoleSelectors: [...own, ...lacking] } } : {}
  }
  const missing = uncoveredRules(role.rules ?? [], wanted.rules ?? [])
  return missing.length ? { rules: [...(role.rules ?? []), ...missing] } : {}
}

function missingSubjects(binding: AnyBinding, wanted: AnyBinding): { subjects?: RbacV1Subject[] } {
  const own = binding.subjects ?? []
  const lacking = (wanted.subjects ?? []).filter((subject) => !own.some((known) => deepEqual(known, subject)))
  return lacking.length ? { subjects: [...own, ...lacking] } : {}
}
