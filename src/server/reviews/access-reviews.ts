import { badRequest, invalidObject } from '../../api/errors.ts'
import type {
  LocalSubjectAccessReview,
  PolicyRule,
  ResourceAttributes,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
  SubjectAccessReviewSpec,
  SubjectAccessReviewStatus,
} from '../../api/generated/types.ts'
import type { ObjectMeta } from '../../api/object.ts'
import { type FieldError, invalid, required } from '../../api/validation/field-error.ts'
import { Path } from '../../api/validation/path.ts'
import type { UserInfo } from '../objects/objects.ts'
import type { Attempt, KnownRules } from '../auth/authorize.ts'
import { type AttemptRequirement, fieldRequirements, labelRequirements } from '../auth/authorization/selectors.ts'
import type { Review, ReviewContext } from './review.ts'

const group = 'authorization.k8s.io'
const specPath = Path.of('spec')

type Attempts = Pick<SubjectAccessReviewSpec, 'resourceAttributes' | 'nonResourceAttributes'>

const internalPath = (attributes: Attempts['nonResourceAttributes']) =>
  attributes ? { Path: attributes.path ?? '', Verb: attributes.verb ?? '' } : null

function validateAttempts({ resourceAttributes, nonResourceAttributes }: Attempts): FieldError[] {
  const value = internalPath(nonResourceAttributes)
  if (resourceAttributes && nonResourceAttributes) {
    return [
      invalid(
        specPath.child('nonResourceAttributes'),
        value,
        'cannot be specified in combination with resourceAttributes',
      ),
    ]
  }
  if (resourceAttributes || nonResourceAttributes) return []
  return [
    invalid(
      specPath.child('resourceAttributes'),
      value,
      'exactly one of nonResourceAttributes or resourceAttributes must be specified',
    ),
  ]
}

function validateSelectors(attributes: ResourceAttributes | undefined): FieldError[] {
  return (['fieldSelector', 'labelSelector'] as const).flatMap((field) => {
    const selector = attributes?.[field]
    const path = specPath.child('resourceAttributes', field)
    if (!selector) return []
    const [isRaw, hasRequirements] = [Boolean(selector.rawSelector), Boolean(selector.requirements?.length)]
    if (isRaw && hasRequirements) {
      return [
        invalid(path.child('rawSelector'), selector.rawSelector, 'may not specified at the same time as requirements'),
      ]
    }
    if (isRaw || hasRequirements) return []
    return [required(path.child('requirements'), `when ${path} is specified, requirements or rawSelector is required`)]
  })
}

function validateSubject({ user, groups }: SubjectAccessReviewSpec): FieldError[] {
  return user || groups?.length
    ? []
    : [invalid(specPath.child('user'), '', 'at least one of user or group must be specified')]
}

/** A review must have empty metadata, apart from managedFields and, if local, the namespace. */
function validateEmptyMeta({ managedFields: _m, ...meta }: ObjectMeta, isLocal: boolean): FieldError[] {
  const { namespace: _n, ...rest } = meta
  const isEmpty = Object.values(isLocal ? rest : meta).every((value) => value === undefined || value === '')
  return isEmpty
    ? []
    : [invalid(Path.of('metadata'), meta, isLocal ? 'must be empty except for namespace' : 'must be empty')]
}

function refuse(errors: FieldError[]): void {
  // As in Kubernetes, the error has no kind.
  if (errors.length) throw invalidObject({ group, kind: '' }, '', errors)
}

async function ask(
  user: UserInfo,
  attempts: Attempts,
  { authorizer }: ReviewContext,
): Promise<SubjectAccessReviewStatus> {
  const { allowed, denied, reason, error } = await authorizer.authorize(user, attemptOf(attempts))
  return {
    allowed,
    ...(denied && { denied: true }),
    ...(reason && { reason }),
    ...(error && { evaluationError: error }),
  }
}

function attemptOf({ resourceAttributes: of, nonResourceAttributes }: Attempts): Attempt {
  if (!of) return { verb: nonResourceAttributes?.verb ?? '', url: nonResourceAttributes?.path ?? '' }
  const {
    verb = '',
    group: apiGroup = '',
    version = '',
    namespace = '',
    resource = '',
    subresource = '',
    name = '',
  } = of
  const [fields, labels] = [
    requirementsOf(of.fieldSelector, fieldRequirements),
    requirementsOf(of.labelSelector, labelRequirements),
  ]
  return {
    verb,
    path: { group: apiGroup, version, namespace, plural: resource, subresource, name },
    selectors: { ...(fields ? { fields } : {}), ...(labels ? { labels } : {}) },
  }
}

function requirementsOf(
  selector: ResourceAttributes['fieldSelector'],
  parse: (text: string) => AttemptRequirement[],
): AttemptRequirement[] | undefined {
  if (!selector) return undefined
  return selector.rawSelector
    ? parse(selector.rawSelector)
    : (selector.requirements as AttemptRequirement[] | undefined)
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

/** Checks whether the requesting user is allowed an action. */
export const selfSubjectAccessReview = review('SelfSubjectAccessReview', false, async (body, context) => {
  const { metadata, spec } = body as SelfSubjectAccessReview
  refuse([
    ...validateAttempts(spec),
    ...validateSelectors(spec.resourceAttributes),
    ...validateEmptyMeta(metadata, false),
  ])
  return { ...body, status: await ask(context.user, spec, context) }
})

/** Checks whether another user is allowed an action. */
export const subjectAccessReview = review('SubjectAccessReview', false, async (body, context) => {
  const { metadata, spec } = body as SubjectAccessReview
  refuse([
    ...validateAttempts(spec),
    ...validateSubject(spec),
    ...validateSelectors(spec.resourceAttributes),
    ...validateEmptyMeta(metadata, false),
  ])
  return { ...body, status: await ask(subjectOf(spec), spec, context) }
})

/** Checks whether another user is allowed an action in this namespace. */
export const localSubjectAccessReview = review('LocalSubjectAccessReview', true, async (body, context) => {
  const { metadata, spec } = body as LocalSubjectAccessReview
  const { resourceAttributes, nonResourceAttributes } = spec
  const errors = [
    ...validateAttempts(spec),
    ...validateSubject(spec),
    ...validateSelectors(resourceAttributes),
    ...validateEmptyMeta(metadata, true),
  ]
  if (resourceAttributes && (resourceAttributes.namespace ?? '') !== context.namespace) {
    errors.push(
      invalid(
        specPath.child('resourceAttributes', 'namespace'),
        resourceAttributes.namespace ?? '',
        'must match metadata.namespace',
      ),
    )
  }
  if (nonResourceAttributes) {
    errors.push(
      invalid(
        specPath.child('nonResourceAttributes'),
        internalPath(nonResourceAttributes),
        'disallowed on this kind of request',
      ),
    )
  }
  refuse(errors)
  return {
    ...body,
    metadata: { ...metadata, namespace: context.namespace },
    status: await ask(subjectOf(spec), spec, context),
  }
})

/** Lists the rules of the requesting user in a namespace. */
export const selfSubjectRulesReview = review('SelfSubjectRulesReview', false, (body, { user, authorizer }) => {
  const { namespace } = (body as SelfSubjectRulesReview).spec
  if (!namespace) throw badRequest('no namespace on request')
  const known = authorizer.rulesFor?.(user, namespace) ?? { rules: [], incomplete: true }
  return {
    apiVersion: `${group}/v1`,
    kind: 'SelfSubjectRulesReview',
    metadata: {},
    spec: {},
    status: rulesStatus(known),
  }
})

function rulesStatus({ rules, incomplete = false, errors = [] }: KnownRules) {
  const isAboutPaths = ({ nonResourceURLs }: PolicyRule) => Boolean(nonResourceURLs?.length)
  return {
    resourceRules: rules
      .filter((rule) => !isAboutPaths(rule))
      .map(({ verbs, apiGroups, resources, resourceNames }) => ({
        verbs,
        ...(apiGroups && { apiGroups }),
        ...(resources && { resources }),
        ...(resourceNames && { resourceNames }),
      })),
    nonResourceRules: rules.filter(isAboutPaths).map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
    incomplete,
    ...(errors.length && { evaluationError: errors.length === 1 ? errors[0] : `[${errors.join(', ')}]` }),
  }
}
