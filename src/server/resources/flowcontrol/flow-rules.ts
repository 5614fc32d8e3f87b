import type {
  FlowcontrolV1Subject,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
} from '../../../api/generated/types.ts'
import { type FieldError, forbidden, invalid, notSupported, required } from '../../../api/validation/field-error.ts'
import { isDns1123Label, isDns1123Subdomain } from '../../../api/validation/names.ts'
import type { Path } from '../../../api/validation/path.ts'

const supportedVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch']
const namespaceIntro = "each member of this list must be '*' or a DNS-1123 label; "

const hasWildcard = (list: readonly string[]) => list.includes('*')

/** Validates that `*` is the only entry. */
const aloneIfWildcard = (list: readonly string[], path: Path, what: string): FieldError[] =>
  list.length > 1 && hasWildcard(list) ? [invalid(path, list, `if '*' is present, must not specify other ${what}`)] : []

function validateVerbs(verbs: readonly string[], path: Path): FieldError[] {
  if (verbs.length === 0) return [required(path, 'verbs must contain at least one value')]
  if (hasWildcard(verbs)) return aloneIfWildcard(verbs, path, 'verbs')
  return verbs.every((verb) => supportedVerbs.includes(verb)) ? [] : [notSupported(path, verbs, supportedVerbs)]
}

function pathProblem(url: string): string | undefined {
  if (url === '') return 'must not be empty'
  if (url === '/') return undefined
  if (!url.startsWith('/')) return 'must start with slash'
  if (url.includes(' ')) return 'must not contain white-space'
  if (url.includes('//')) return 'must not contain double slash'
  const wildcards = url.split('*').length - 1
  return wildcards > 1 || (wildcards === 1 && !url.endsWith('/*')) ? 'wildcard can only do suffix matching' : undefined
}

function validateUrls(urls: readonly string[], path: Path): FieldError[] {
  if (urls.length === 0) return [required(path, 'nonResourceURLs must contain at least one value')]
  if (hasWildcard(urls)) return aloneIfWildcard(urls, path, 'non-resource URLs')
  return urls.flatMap((url, i) => {
    const problem = pathProblem(url)
    return problem ? [invalid(path.index(i), url, problem)] : []
  })
}

const validateNonResourceRule = (rule: NonResourcePolicyRule, path: Path): FieldError[] => [
  ...validateVerbs(rule.verbs ?? [], path.child('verbs')),
  ...validateUrls(rule.nonResourceURLs ?? [], path.child('nonResourceURLs')),
]

function validateNamespaces({ namespaces, clusterScope }: ResourcePolicyRule, path: Path): FieldError[] {
  const list = namespaces ?? []
  if (list.length === 0 && !clusterScope) {
    return [required(path, 'resource rules that are not cluster scoped must supply at least one namespace')]
  }
  if (hasWildcard(list)) return aloneIfWildcard(list, path, 'namespaces')
  return list.flatMap((name, i) =>
    isDns1123Label(name).map((why) => invalid(path.index(i), name, namespaceIntro + why)),
  )
}

function validateResourceRule(rule: ResourcePolicyRule, path: Path): FieldError[] {
  const { apiGroups, resources } = rule
  const listed = (list: readonly string[] | null | undefined, name: string, one: string, others: string) =>
    list?.length
      ? aloneIfWildcard(list, path.child(name), others)
      : [required(path.child(name), `resource rules must supply at least one ${one}`)]
  return [
    ...validateVerbs(rule.verbs ?? [], path.child('verbs')),
    ...listed(apiGroups, 'apiGroups', 'api group', 'api groups'),
    ...listed(resources, 'resources', 'resource', 'resources'),
    ...validateNamespaces(rule, path.child('namespaces')),
  ]
}

/** The field of a subject that belongs to its kind. */
const members = { User: 'user', Group: 'group', ServiceAccount: 'serviceAccount' } as const
/** The order of Kubernetes' errors for unexpected fields. */
const order = ['serviceAccount', 'user', 'group'] as const
const kindOf = { user: 'User', group: 'Group', serviceAccount: 'ServiceAccount' }

function validateServiceAccount(account: { name: string; namespace: string }, path: Path): FieldError[] {
  const { name, namespace } = account
  const nameErrors = isDns1123Subdomain(name).map((why) => invalid(path.child('name'), name, why))
  const namespaceErrors = isDns1123Label(namespace).map((why) => invalid(path.child('namespace'), namespace, why))
  return [
    ...(name === '' ? [required(path.child('name'))] : name === '*' ? [] : nameErrors),
    ...(namespace
      ? namespaceErrors
      : [required(path.child('namespace'), 'must specify namespace for service account')]),
  ]
}

function validateSubject(subject: FlowcontrolV1Subject, path: Path): FieldError[] {
  const { kind } = subject
  if (!Object.hasOwn(members, kind)) return [notSupported(path.child('kind'), kind, Object.keys(members))]
  const own = members[kind as keyof typeof members]
  const others = order.filter((member) => member !== own && subject[member])
  return [
    ...validateMember(subject, own, path.child(own)),
    ...others.map((m) => forbidden(path.child(m), `${m} is forbidden when subject kind is not '${kindOf[m]}'`)),
  ]
}

function validateMember(subject: FlowcontrolV1Subject, member: (typeof order)[number], path: Path): FieldError[] {
  const value = subject[member]
  if (!value) return [required(path, `${member} is required when subject kind is '${kindOf[member]}'`)]
  if (member === 'serviceAccount') return validateServiceAccount(subject.serviceAccount!, path)
  return value.name === '' ? [required(path.child('name'))] : []
}

/** Validates the rules of a flow schema. */
export function validatePolicyRules(rule: PolicyRulesWithSubjects, path: Path): FieldError[] {
  const { resourceRules = [], nonResourceRules = [] } = rule
  const subjects = rule.subjects ?? []
  const isEmpty = resourceRules.length + nonResourceRules.length === 0
  const emptyMessage = 'at least one of resourceRules and nonResourceRules has to be non-empty'
  return [
    ...(subjects.length ? [] : [required(path.child('subjects'), 'subjects must contain at least one value')]),
    ...subjects.flatMap((subject, i) => validateSubject(subject, path.child('subjects').index(i))),
    ...(isEmpty ? [required(path, emptyMessage)] : []),
    ...resourceRules.flatMap((r, i) => validateResourceRule(r, path.child('resourceRules').index(i))),
    ...nonResourceRules.flatMap((r, i) => validateNonResourceRule(r, path.child('nonResourceRules').index(i))),
  ]
}
