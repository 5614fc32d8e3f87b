import { kindNames } from '../../../api/kind-names.ts'
import type { RoleBinding } from '../../../api/generated/types.ts'
import { pathSegmentName } from '../../../api/validation/names.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { defineResource } from '../../registry/resource.ts'
import { bindingColumns, defaultBinding, validateBinding, validateSameRole } from './bindings.ts'

const validate = (binding: RoleBinding) => validateBinding(binding, true, ['Role', 'ClusterRole'])
const columns = bindingColumns<RoleBinding>(
  'roleBinding',
  'RoleRef can reference a Role in the current namespace or a ClusterRole in the global namespace. ' +
    'If the RoleRef cannot be resolved, the Authorizer must return an error.',
)

/** rbac.authorization.k8s.io/v1 RoleBindings. */
export const rolebindings = defineResource<RoleBinding>({
  ...kindNames.rolebindings,
  nameRule: pathSegmentName,
  allowCreateOnUpdate: true,
  defaults: defaultBinding,
  validate,
  validateUpdate: (binding, old) => [...validate(binding), ...validateSameRole(binding, old)],
  columns: [nameColumn(), columns.role, ageColumn(), ...columns.subjects],
})
