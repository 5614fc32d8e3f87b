import { kindNames } from '../../../api/kind-names.ts'
import type { Role } from '../../../api/generated/types.ts'
import { pathSegmentName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { defineResource } from '../../registry/resource.ts'
import { validatePolicyRules } from './policy-rules.ts'

const rulesPath = Path.of('rules')
const validate = (role: Role) => validatePolicyRules(role.rules, true, rulesPath)

/** rbac.authorization.k8s.io/v1 Roles. */
export const roles = defineResource<Role>({
  ...kindNames.roles,
  nameRule: pathSegmentName,
  allowCreateOnUpdate: true,
  validate,
  validateUpdate: validate,
})
