import type { PolicyRule } from '../../../api/generated/types.ts'

const any = '*'

/**
 * Splits a rule into rules of one verb, group, resource and name, or one verb and path, as errors list missing
 * permissions.
 */
function* singleRules({
  verbs,
  apiGroups = [],
  resources = [],
  resourceNames = [],
  nonResourceURLs = [],
}: PolicyRule): IterableIterator<PolicyRule> {
  for (const group of apiGroups) {
    for (const resource of resources) {
      for (const verb of verbs) {
        const one = { apiGroups: [group], resources: [resource], verbs: [verb] }
        if (resourceNames.length === 0) yield one
        for (const name of resourceNames) yield { ...one, resourceNames: [name] }
      }
    }
  }
  for (const url of nonResourceURLs) for (const verb of verbs) yield { nonResourceURLs: [url], verbs: [verb] }
}

const hasAll = (set: readonly string[] | undefined, contains: readonly string[]): boolean =>
  contains.every((text) => set?.includes(text))

const coversResource = (owned: readonly string[] = [], [wanted = '']: readonly string[]): boolean => {
  if (owned.includes(any) || owned.includes(wanted)) return true
  const at = wanted.indexOf('/')
  return at >= 0 && owned.includes(`*${wanted.slice(at)}`)
}

const coversUrl = (owned: readonly string[] = [], [wanted = '']: readonly string[]): boolean =>
  owned.some((url) => url === wanted || (url.endsWith(any) && wanted.startsWith(url.slice(0, -1))))

/** True if one rule covers a rule of one verb, group and resource. */
function coversOne(owner: PolicyRule, one: PolicyRule): boolean {
  if (!owner.verbs.includes(any) && !hasAll(owner.verbs, one.verbs)) return false
  if (one.nonResourceURLs) return coversUrl(owner.nonResourceURLs, one.nonResourceURLs)
  const groups = owner.apiGroups ?? []
  if (!groups.includes(any) && !hasAll(groups, one.apiGroups ?? [])) return false
  if (!coversResource(owner.resources, one.resources ?? [])) return false
  if (!owner.resourceNames?.length) return true
  return Boolean(one.resourceNames?.length) && hasAll(owner.resourceNames, one.resourceNames!)
}

/** The `wanted` permissions that no `owned` rule grants, one verb and resource each. */
export function uncoveredRules(owned: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  const missing: PolicyRule[] = []
  for (const rule of wanted)
    for (const one of singleRules(rule)) if (!owned.some((owner) => coversOne(owner, one))) missing.push(one)
  return missing
}

const isSimple = ({ apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule) =>
  apiGroups.length === 1 && resources.length === 1 && resourceNames.length === 0 && nonResourceURLs.length === 0

/** Merges rules about the same resource into one with all their verbs. */
export function compactRules(rules: readonly PolicyRule[]): PolicyRule[] {
  const simple = new Map<string, PolicyRule>()
  const others: PolicyRule[] = []
  for (const rule of rules) {
    if (!isSimple(rule)) {
      others.push(rule)
      continue
    }
    const key = `${rule.apiGroups![0]} ${rule.resources![0]}`
    const known = simple.get(key)
    if (known) known.verbs = [...known.verbs, ...rule.verbs.filter((verb) => !known.verbs.includes(verb))]
    else simple.set(key, { ...rule, verbs: [...rule.verbs] })
  }
  return [...simple.values(), ...others]
}

/** Formats a list of strings as Go's %q does. */
export const quotedList = (texts: readonly string[]) => `[${texts.map((text) => JSON.stringify(text)).join(' ')}]`

/** Formats a rule as Kubernetes does in a refusal. */
export function ruleText({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: PolicyRule): string {
  const parts: [string, readonly string[] | undefined][] = [
    ['APIGroups', apiGroups],
    ['Resources', resources],
    ['NonResourceURLs', nonResourceURLs],
    ['ResourceNames', resourceNames],
    ['Verbs', verbs],
  ]
  return `{${parts
    .filter(([, texts]) => texts?.length)
    .map(([name, texts]) => `${name}:${quotedList(texts!)}`)
    .join(', ')}}`
}
