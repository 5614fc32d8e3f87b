import type { NamedRuleWithOperations, RuleWithOperations } from '../../../api/generated/types.ts'
import type { Registered, Registry } from '../../registry/registry.ts'
import { hasSubresource } from '../../write/rules.ts'
import type { AdmissionOperation } from '../admission.ts'

/** The part of a request that rules match, apart from names. */
export interface Asked {
  target: Registered
  registry: Registry
  subresource: string
  operation: AdmissionOperation
}

/** A matching rule: its resourceNames, if any, and the version of the kind that it names. */
export interface RuleHit {
  names: readonly string[] | undefined
  as: Registered
}

const covers = (list: readonly string[] | undefined, value: string): boolean =>
  list !== undefined && (list.includes('*') || list.includes(value))

/** `pods` matches the resource, `pods/*` the resource and its subresources, `*` all resources without subresources. */
function coversResource(resources: readonly string[] | undefined, plural: string, subresource: string): boolean {
  return (resources ?? []).some((text) => {
    const at = text.indexOf('/')
    const [wanted, part] = at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
    return (wanted === '*' || wanted === plural) && (part === '*' || part === subresource)
  })
}

/** True if a rule matches an operation on a kind in exactly this version. */
function ruleMatches(
  rule: RuleWithOperations,
  { resource }: Registered,
  subresource: string,
  operation: string,
): boolean {
  const { scope = '*' } = rule
  return (
    (scope === '*' || (scope === 'Namespaced') === resource.namespaced) &&
    covers(rule.operations, operation) &&
    covers(rule.apiGroups, resource.group) &&
    covers(rule.apiVersions, resource.version) &&
    coversResource(rule.resources, resource.plural, subresource)
  )
}

/** The other groups and versions of the same objects, such as events.k8s.io/v1 for a core Event. */
const equivalentsOf = ({ target, registry, subresource }: Asked): Registered[] =>
  registry
    .all()
    .filter(
      (other) =>
        other !== target &&
        other.storage === target.storage &&
        (subresource === '' || hasSubresource(other, subresource)),
    )

/** All matching rules by precedence: those for the request's own version, then those for equivalent ones. */
export function hitsOf(
  rules: readonly NamedRuleWithOperations[] | undefined,
  isExact: boolean,
  asked: Asked,
): RuleHit[] {
  if (!rules?.length) return []
  const { target, subresource, operation } = asked
  const hits: RuleHit[] = []
  const check = (rule: NamedRuleWithOperations, as: Registered) => {
    if (ruleMatches(rule, as, subresource, operation))
      hits.push({ names: rule.resourceNames?.length ? rule.resourceNames : undefined, as })
  }
  for (const rule of rules) check(rule, target)
  if (isExact) return hits
  const equivalents = equivalentsOf(asked)
  for (const rule of rules) for (const equivalent of equivalents) check(rule, equivalent)
  return hits
}

/** Returns the first rule that matches this object name. */
export const hitFor = (hits: readonly RuleHit[], name: string): RuleHit | undefined =>
  hits.find(({ names }) => names === undefined || names.includes(name))
