import type { Role } from '../../../api/generated/types.ts'
import { pathSegmentName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { defineResource } from '../../resource.ts'
import { validatePolicyRules } from './policy-rules.ts'

const rulesPath = Path.of('rules')
const validate = (role: Role) => validatePolicyRules(role.rules, true, rulesPath)

/** What may be done in one namespace. */
export const roles = defineResource<Role>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'Role',
  plural: 'roles',
  namespaced: true,
  nameRule: pathSegmentName,
  allowCreateOnUpdate: true,
  validate,
  validateUpdate: validate,
})
