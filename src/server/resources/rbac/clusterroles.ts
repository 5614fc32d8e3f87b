import { kindNames } from '../../../api/kind-names.ts'
import type { ClusterRole } from '../../../api/generated/types.ts'
import { validateLabelSelector } from '../../../api/selectors/label-selector.ts'
import { type FieldError, required } from '../../../api/validation/field-error.ts'
import { pathSegmentName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { defineResource } from '../../registry/resource.ts'
import { validatePolicyRules } from './policy-rules.ts'

const rulesPath = Path.of('rules')
const selectorsPath = Path.of('aggregationRule', 'clusterRoleSelectors')

function validateAggregation(role: ClusterRole): FieldError[] {
  if (!role.aggregationRule) return []
  const selectors = role.aggregationRule.clusterRoleSelectors ?? []
  if (selectors.length === 0)
    return [required(selectorsPath, 'at least one clusterRoleSelector required if aggregationRule is non-nil')]
  return selectors.flatMap((selector, i) => validateLabelSelector(selector, selectorsPath.index(i)))
}

const validate = (role: ClusterRole) => [
  ...validatePolicyRules(role.rules, false, rulesPath),
  ...validateAggregation(role),
]

/** rbac.authorization.k8s.io/v1 ClusterRoles. */
export const clusterroles = defineResource<ClusterRole>({
  ...kindNames.clusterroles,
  nameRule: pathSegmentName,
  allowCreateOnUpdate: true,
  validate,
  validateUpdate: validate,
})
