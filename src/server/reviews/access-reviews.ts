import { badRequest, invalidObject } from '../../api/errors.ts'
import type {
  LocalSubjectAccessReview, ResourceAttributes, SelfSubjectAccessReview, SelfSubjectRulesReview, SubjectAccessReview, SubjectAccessReviewSpec,
  SubjectAccessReviewStatus,
} from '../../api/generated/types.ts'
import type { ObjectMeta } from '../../api/object.ts'
import { type FieldError, invalid, required } from '../../api/validation/field-error.ts'
import { Path } from '../../api/validation/path.ts'
import type { UserInfo } from '../objects/objects.ts'
import type { Decision, Review, ReviewContext } from './review.ts'

const group = 'authorization.k8s.io'
const specPath = Path.of('spec')

type Attempts = Pick<SubjectAccessReviewSpec, 'resourceAttributes' | 'nonResourceAttributes'>

const internalPath = (attributes: Attempts['nonResourceAttributes']) =>
  attributes ? { Path: attributes.path ?? '', Verb: attributes.verb ?? '' } : null

function validateAttempts({ resourceAttributes, nonResourceAttributes }: Attempts): FieldError[] {
  const value = internalPath(nonResourceAttributes)
  if (resourceAttributes && nonResourceAttributes) {
    return [invalid(specPath.child('nonResourceAttributes'), value, 'cannot be specified in combination with resourceAttributes')]
  }
  if (resourceAttributes || nonResourceAttributes) return []
  return [invalid(specPath.child('resourceAttributes'), value, 'exactly one of nonResourceAttributes or resourceAttributes must be specified')]
}

function validateSelectors(attributes: ResourceAttributes | undefined): FieldError[] {
  return (['fieldSelector', 'labelSelector'] as const).flatMap((field) => {
    const selector = attributes?.[field]
    const path = specPath.child('resourceAttributes', field)
    if (!selector) return []
    const [isRaw, hasRequirements] = [Boolean(selector.rawSelector), Boolean(selector.requirements?.length)]
    if (isRaw && hasRequirements) {
      return [invalid(path.child('rawSelector'), selector.rawSelector, 'may not specified at the same time as requirements')]
    }
    if (isRaw || hasRequirements) return []
    return [required(path.child('requirements'), `when ${path} is specified, requirements or rawSelector is required`)]
  })
}

function validateSubject({ user, groups }: SubjectAccessReviewSpec): FieldError[] {
  return user || groups?.length ? [] : [invalid(specPath.child('user'), '', 'at least one of user or group must be specified')]
}

/** A question has no name: whatever else its metadata says is a mistake. */
function validateEmptyMeta({ managedFields: _m, ...meta }: ObjectMeta, isLocal: boolean): FieldError[] {
  const { namespace: _n, ...rest } = meta
  const isEmpty = Object.values(isLocal ? rest : meta).every((value) => value === undefined || value === '')
  return isEmpty ? [] : [invalid(Path.of('metadata'), meta, isLocal ? 'must be empty except for namespace' : 'must be empty')]
}

function refuse(errors: FieldError[]): void {
  // Kubernetes has forgotten the kind of a question by the time it is judged.
  if (errors.length) throw invalidObject({ group, kind: '' }, '', errors)
}

function ask(user: UserInfo, { resourceAttributes, nonResourceAttributes }: Attempts, { decide }: ReviewContext): SubjectAccessReviewStatus {
  const decision: Decision = resourceAttributes
    ? decide(user, { kind: 'resource', attributes: resourceAttributes })
    : decide(user, { kind: 'path', attributes: nonResourceAttributes ?? {} })
  return { allowed: decision.allowed, ...(decision.denied && { denied: true }), ...(decision.reason && { reason: decision.reason }) }
}

function subjectOf({ user = '', groups = [], uid, extra }: SubjectAccessReviewSpec): UserInfo {
  return { name: user, groups, ...(uid && { uid }), ...(extra && { extra }) }
}

const review = (kind: string, namespaced: boolean, run: Review['run']): Review => ({
  group,
  version: 'v1',
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced,
  run,
})

/** May I? */
export const selfSubjectAccessReview = review('SelfSubjectAccessReview', false, (body, context) => {
  const { metadata, spec } = body as SelfSubjectAccessReview
  refuse([...validateAttempts(spec), ...validateSelectors(spec.resourceAttributes), ...validateEmptyMeta(metadata, false)])
  return { ...body, status: ask(context.user, spec, context) }
})

/** May they? */
export const subjectAccessReview = review('SubjectAccessReview', false, (body, context) => {
  const { metadata, spec } = body as SubjectAccessReview
  refuse([...validateAttempts(spec), ...validateSubject(spec), ...validateSelectors(spec.resourceAttributes), ...validateEmptyMeta(metadata, false)])
  return { ...body, status: ask(subjectOf(spec), spec, context) }
})

/** May they, in this namespace? */
export const localSubjectAccessReview = review('LocalSubjectAccessReview', true, (body, context) => {
  const { metadata, spec } = body as LocalSubjectAccessReview
  const { resourceAttributes, nonResourceAttributes } = spec
  const errors = [...validateAttempts(spec), ...validateSubject(spec), ...validateSelectors(resourceAttributes), ...validateEmptyMeta(metadata, true)]
  if (resourceAttributes && (resourceAttributes.namespace ?? '') !== context.namespace) {
    errors.push(invalid(specPath.child('resourceAttributes', 'namespace'), resourceAttributes.namespace ?? '', 'must match metadata.namespace'))
  }
  if (nonResourceAttributes) {
    errors.push(invalid(specPath.child('nonResourceAttributes'), internalPath(nonResourceAttributes), 'disallowed on this kind of request'))
  }
  refuse(errors)
  return { ...body, metadata: { ...metadata, namespace: context.namespace }, status: ask(subjectOf(spec), spec, context) }
})

/** What may I do in this namespace? */
export const selfSubjectRulesReview = review('SelfSubjectRulesReview', false, (body) => {
  if (!(body as SelfSubjectRulesReview).spec.namespace) throw badRequest('no namespace on request')
  return {
    apiVersion: `${group}/v1`,
    kind: 'SelfSubjectRulesReview',
    metadata: {},
    spec: {},
    status: {
      resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
      nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
      incomplete: false,
    },
  }
})
