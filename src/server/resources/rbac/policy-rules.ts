import type { PolicyRule } from '../../../api/generated/types.ts'
import { type FieldError, invalid, required } from '../../../api/validation/field-error.ts'
import type { Path } from '../../../api/validation/path.ts'

function validateUrlRule(rule: PolicyRule, namespaced: boolean, path: Path): FieldError[] {
  const errors: FieldError[] = []
  const urls = rule.nonResourceURLs
  if (namespaced)
    errors.push(invalid(path.child('nonResourceURLs'), urls, 'namespaced rules cannot apply to non-resource URLs'))
  if (rule.apiGroups?.length || rule.resources?.length || rule.resourceNames?.length) {
    errors.push(
      invalid(
        path.child('nonResourceURLs'),
        urls,
        'rules cannot apply to both regular resources and non-resource URLs',
      ),
    )
  }
  return errors
}

function validateResourceRule(rule: PolicyRule, path: Path): FieldError[] {
  const errors: FieldError[] = []
  if (!rule.apiGroups?.length)
    errors.push(required(path.child('apiGroups'), 'resource rules must supply at least one api group'))
  if (!rule.resources?.length)
    errors.push(required(path.child('resources'), 'resource rules must supply at least one resource'))
  return errors
}

/** Validates the rules of a role: each is for resources or non-resource URLs, and a namespaced role has no URLs. */
export function validatePolicyRules(
  rules: readonly PolicyRule[] | undefined | null,
  namespaced: boolean,
  path: Path,
): FieldError[] {
  return (rules ?? []).flatMap((rule, i) => {
    const at = path.index(i)
    return [
      ...(rule.verbs?.length ? [] : [required(at.child('verbs'), 'verbs must contain at least one value')]),
      ...(rule.nonResourceURLs?.length ? validateUrlRule(rule, namespaced, at) : validateResourceRule(rule, at)),
    ]
  })
}
