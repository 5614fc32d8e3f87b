import type { Json } from '../../api/object.ts'
import { type FieldError, invalid, notSupported, required } from '../../api/validation/field-error.ts'
import { isDns1123Subdomain } from '../../api/validation/names.ts'
import { Path } from '../../api/validation/path.ts'
import { type Shape, joinedErrors, readConfigDocument } from '../config-document.ts'

/** The audit level: how much of a request is recorded. */
export type Level = 'None' | 'Metadata' | 'Request' | 'RequestResponse'

/** The audit stage: when an event is emitted. ResponseStarted is for long-running requests, such as watches. */
export type Stage = 'RequestReceived' | 'ResponseStarted' | 'ResponseComplete' | 'Panic'

export interface GroupResources {
  group?: string
  resources?: string[]
  resourceNames?: string[]
}

/** One rule of a policy. An absent or empty field matches everything. */
export interface PolicyRule {
  level: Level
  users?: string[]
  userGroups?: string[]
  verbs?: string[]
  resources?: GroupResources[]
  namespaces?: string[]
  nonResourceURLs?: string[]
  omitStages?: Stage[]
  omitManagedFields?: boolean
}

/** An audit.k8s.io/v1 Policy. The first rule that matches a request applies. */
export interface Policy {
  rules: PolicyRule[]
  omitStages?: Stage[]
  omitManagedFields?: boolean
}

const levels: readonly string[] = ['None', 'Metadata', 'Request', 'RequestResponse']
const stages: readonly string[] = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic']

const strings: Shape = { each: 'string' }
const groupResources: Shape = { fields: { group: 'string', resources: strings, resourceNames: strings } }
const policyRule: Shape = {
  fields: {
    level: 'string',
    users: strings,
    userGroups: strings,
    verbs: strings,
    resources: { each: groupResources },
    namespaces: strings,
    nonResourceURLs: strings,
    omitStages: strings,
    omitManagedFields: 'bool',
  },
}
const policyShape: Shape = {
  fields: { metadata: 'any', rules: { each: policyRule }, omitStages: strings, omitManagedFields: 'bool' },
}

/** Parses a policy file. Throws with Kubernetes' message. `warn` is called for unknown fields. */
export function readPolicy(text: string, warn: (sentence: string) => void = () => {}): Policy {
  const { document, unknown } = readConfigDocument(text, policyShape)
  const { apiVersion, kind } = document
  if (apiVersion !== 'audit.k8s.io/v1' || kind !== 'Policy') {
    const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
    throw new Error(`unknown group version field ${group}/${version}, Kind=${kind} in policy`)
  }
  for (const field of unknown) warn(`unknown field ${JSON.stringify(field)} in the audit policy`)
  const value = document.value as Record<string, Json> as unknown as Policy
  const policy: Policy = { ...value, rules: value.rules ?? [] }
  const errors = validatePolicy(policy)
  if (errors.length > 0) throw new Error(joinedErrors(errors))
  if (policy.rules.length === 0) throw new Error('loaded illegal policy with 0 rules')
  return policy
}

/** The validation errors of a policy. */
function validatePolicy(policy: Policy): FieldError[] {
  const rules = Path.of('rules')
  const ofRules = policy.rules.flatMap((rule, i) => validateRule(rule, rules.index(i)))
  return [...validateStages(policy.omitStages, Path.of('omitStages')), ...ofRules]
}

function validateRule(rule: PolicyRule, path: Path): FieldError[] {
  const { level, nonResourceURLs = [], resources = [], namespaces = [] } = rule
  const urlsPath = path.child('nonResourceURLs')
  const errors = [
    ...validateLevel(level, path.child('level')),
    ...nonResourceURLs.flatMap((url, i) => validateUrl(url, urlsPath.index(i))),
    ...resources.flatMap((resource) => validateResources(resource, path.child('resources'))),
    ...validateStages(rule.omitStages, path.child('omitStages')),
  ]
  if (nonResourceURLs.length > 0 && (resources.length > 0 || namespaces.length > 0)) {
    errors.push(
      invalid(urlsPath, nonResourceURLs, 'rules cannot apply to both regular resources and non-resource URLs'),
    )
  }
  return errors
}

function validateLevel(level: string | undefined, path: Path): FieldError[] {
  if (!level) return [required(path)]
  return levels.includes(level) ? [] : [notSupported(path, level, levels)]
}

function validateUrl(url: string, path: Path): FieldError[] {
  if (url === '*') return []
  const errors: FieldError[] = []
  if (!url.startsWith('/')) errors.push(invalid(path, url, "non-resource URL rules must begin with a '/' character"))
  if (url.slice(0, -1).includes('*')) {
    errors.push(invalid(path, url, "non-resource URL wildcards '*' must be the final character of the rule"))
  }
  return errors
}

function validateResources(
  { group = '', resources = [], resourceNames = [] }: GroupResources,
  path: Path,
): FieldError[] {
  const problems = group === '' ? [] : isDns1123Subdomain(group)
  const errors = problems.length > 0 ? [invalid(path.child('group'), group, problems.join(','))] : []
  if (resourceNames.length > 0 && resources.length === 0) {
    errors.push(
      invalid(path.child('resourceNames'), resourceNames, 'using resourceNames requires at least one resource'),
    )
  }
  return errors
}

const validateStages = (omitted: readonly string[] = [], path: Path): FieldError[] =>
  omitted.flatMap((stage, i) =>
    stages.includes(stage) ? [] : [invalid(path.index(i), stage, `allowed stages are ${stages.join(',')}`)],
  )
