import { forbiddenError, notFound } from '../../api/errors.ts'
import { deepEqual } from '../../api/deep-equal.ts'
import type { ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { type Authorizer, type Decision, type ResourceAttempt, privilegedGroup } from '../auth/authorize.ts'
import type { RbacIndex } from '../auth/authorization/rbac-index.ts'
import { compactRules, quotedList, ruleText, uncoveredRules } from '../auth/authorization/rule-coverage.ts'
import type { UserInfo } from '../objects/objects.ts'
import type { AdmissionPlugin, AdmissionRequest } from './admission.ts'

const group = 'rbac.authorization.k8s.io'
const everything: PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

/** The authorizer and role index that the checks use. */
interface EscalationContext {
  authorizer: Authorizer
  rbac: RbacIndex
}

/**
 * Prevents privilege escalation: users may grant, by a role or binding, only permissions that they have, unless they
 * may `escalate` or `bind`. Kubernetes has this check in its storage layer and not in a plugin, so it always runs and
 * cannot be disabled.
 */
export const rbacEscalation = (context: () => EscalationContext): AdmissionPlugin => ({
  name: 'RbacEscalation',
  validate(request) {
    if (
      request.resource.group !== group ||
      request.subresource !== '' ||
      request.operation === 'DELETE' ||
      !request.object
    )
      return undefined
    if (request.user.groups.includes(privilegedGroup) || changesOnlyOwnership(request)) return undefined
    const { plural } = request.resource
    const attempt = plural.endsWith('bindings')
      ? bindAttempt(request.object as RoleBinding, request)
      : escalateAttempt(request)
    const judge = (decision: Decision) => {
      if (!decision.allowed) check(request, context().rbac)
    }
    const asked = context().authorizer.authorize(request.user, attempt)
    return asked instanceof Promise ? asked.then(judge) : judge(asked)
  },
})

/** An update of only finalizers and owners is always allowed, because deletion depends on it. */
function changesOnlyOwnership({ object, old }: AdmissionRequest): boolean {
  return old !== undefined && deepEqual(withoutOwnership(object!), withoutOwnership(old))
}

function withoutOwnership({ metadata, ...rest }: KubeObject): object {
  const {
    ownerReferences: _o,
    finalizers: _f,
    resourceVersion: _r,
    generation: _g,
    managedFields: _m,
    ...kept
  } = metadata
  return { ...rest, metadata: kept }
}

const attemptOn = (verb: string, plural: string, namespace: string, name: string): ResourceAttempt => ({
  verb,
  path: { group, version: 'v1', namespace, plural, subresource: '', name },
})

const escalateAttempt = ({ resource, namespace, name }: AdmissionRequest) =>
  attemptOn('escalate', resource.plural, namespace, name)

const bindAttempt = ({ roleRef }: RoleBinding | ClusterRoleBinding, { namespace }: AdmissionRequest) =>
  attemptOn('bind', roleRef.kind === 'ClusterRole' ? 'clusterroles' : 'roles', namespace, roleRef.name)

function check(request: AdmissionRequest, rbac: RbacIndex): void {
  const { object, old, namespace, resource } = request
  const refuse = (why: string) => {
    throw forbiddenError({ group, resource: resource.plural }, request.name, why)
  }
  if (resource.plural.endsWith('bindings')) {
    const { roleRef } = object as RoleBinding
    const rules = rbac.rulesOfRole(roleRef.kind, namespace, roleRef.name)
    if (!rules)
      throw notFound({ group, resource: roleRef.kind === 'ClusterRole' ? 'clusterroles' : 'roles' }, roleRef.name)
    const missing = missingText(request.user, rules, namespace, rbac)
    if (missing) refuse(missing)
    return
  }
  if ((object as ClusterRole).aggregationRule || (old as ClusterRole | undefined)?.aggregationRule) {
    if (missingText(request.user, everything, namespace, rbac))
      refuse('must have cluster-admin privileges to use an aggregationRule')
  }
  const missing = missingText(request.user, (object as Role).rules ?? [], namespace, rbac)
  if (missing) refuse(missing)
}

/** Kubernetes' message for permissions that the user lacks; '' if there are none. */
function missingText(user: UserInfo, wanted: readonly PolicyRule[], namespace: string, rbac: RbacIndex): string {
  const missing = uncoveredRules(rbac.rulesOf(user, namespace), wanted)
  if (missing.length === 0) return ''
  const texts = [...new Set(compactRules(missing).map(ruleText))].sort()
  const errors = rbac.errorsOf(user, namespace)
  const unresolved = errors.length ? `; resolution errors: [${errors.join(', ')}]` : ''
  const who = `user ${JSON.stringify(user.name)} (groups=${quotedList(user.groups)})`
  return `${who} is attempting to grant RBAC permissions not currently held:\n${texts.join('\n')}${unresolved}`
}
