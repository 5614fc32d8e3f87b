import type { UserInfo } from '../objects/objects.ts'
import type { GroupResources, Level, Policy, PolicyRule, Stage } from './policy.ts'

/** The attributes of a request that policy rules match. */
export interface Attributes {
  /** The authenticated user, before impersonation. Undefined if authentication failed. */
  user: UserInfo | undefined
  /** A Kubernetes verb; for a non-resource path, the HTTP method in lower case. */
  verb: string
  /** The path of the URL. */
  path: string
  /** Undefined for a non-resource path such as /healthz. */
  resource: RequestedResource | undefined
}

export interface RequestedResource {
  group: string
  version: string
  namespace: string
  plural: string
  subresource: string
  name: string
}

/** The audit settings of one request. */
export interface Recording {
  readonly level: Level
  readonly omitStages: ReadonlySet<Stage>
  readonly omitManagedFields: boolean
}

/** Finds the first rule of a policy that matches a request. A request without a match is not recorded. */
export class PolicyMatcher {
  readonly #rules: readonly { rule: PolicyRule; recording: Recording }[]
  readonly #unmatched: Recording

  constructor({ rules, omitStages = [], omitManagedFields = false }: Policy) {
    this.#rules = rules.map((rule) => ({
      rule,
      recording: {
        level: rule.level,
        omitStages: new Set([...omitStages, ...(rule.omitStages ?? [])]),
        omitManagedFields: rule.omitManagedFields ?? omitManagedFields,
      },
    }))
    this.#unmatched = { level: 'None', omitStages: new Set(omitStages), omitManagedFields }
  }

  recordingOf(attributes: Attributes): Recording {
    for (const { rule, recording } of this.#rules) if (matches(rule, attributes)) return recording
    return this.#unmatched
  }
}

const isSome = <T>(list: readonly T[] | undefined): list is readonly T[] => list !== undefined && list.length > 0

function matches(rule: PolicyRule, { user, verb, path, resource }: Attributes): boolean {
  if (isSome(rule.users) && !(user && rule.users.includes(user.name))) return false
  if (isSome(rule.userGroups) && !user?.groups.some((group) => rule.userGroups!.includes(group))) return false
  if (isSome(rule.verbs) && !rule.verbs.includes(verb)) return false
  if (isSome(rule.namespaces) || isSome(rule.resources))
    return resource !== undefined && matchesResource(rule, resource)
  if (isSome(rule.nonResourceURLs))
    return resource === undefined && rule.nonResourceURLs.some((spec) => matchesPath(path, spec))
  return true
}

function matchesPath(path: string, spec: string): boolean {
  if (spec === '*' || spec === path) return true
  return spec.endsWith('*') && path.startsWith(spec.slice(0, -1))
}

function matchesResource({ namespaces, resources }: PolicyRule, asked: RequestedResource): boolean {
  // Cluster-scoped resources have the empty namespace.
  if (isSome(namespaces) && !namespaces.includes(asked.namespace)) return false
  return !isSome(resources) || resources.some((listed) => matchesGroup(listed, asked))
}

function matchesGroup({ group = '', resources, resourceNames }: GroupResources, asked: RequestedResource): boolean {
  if (group !== asked.group) return false
  if (!isSome(resources)) return true
  if (isSome(resourceNames) && !resourceNames.includes(asked.name)) return false
  return resources.some((spec) => matchesName(spec, asked))
}

/** Matches `pods`, `pods/log`, `pods/*`, the scale subresource of any resource, and `*`. */
function matchesName(spec: string, { plural, subresource }: RequestedResource): boolean {
  if (spec === '*' || spec === (subresource === '' ? plural : `${plural}/${subresource}`)) return true
  if (subresource !== '' && spec === `*/${subresource}`) return true
  return spec === `${plural}/*`
}
