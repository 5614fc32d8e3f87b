import { kindNames } from '../../../api/kind-names.ts'
import { describeField } from '../../../api/schema/descriptions.ts'
import type { IPAddress, ParentReference } from '../../../api/generated/types.ts'
import { validateImmutableField } from '../../../api/validation/field-checks.ts'
import { type FieldError, invalid, required } from '../../../api/validation/field-error.ts'
import { isCanonicalIp } from '../../../api/validation/ip.ts'
import { type NameRule, isDns1123Subdomain, isPathSegment } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { defineResource } from '../../registry/resource.ts'

const parentPath = Path.of('spec', 'parentRef')

/** The name of an IPAddress is the address in canonical form. */
const nameRule: NameRule = (name) => isCanonicalIp(name)

function validateParent(parent: ParentReference | undefined): FieldError[] {
  if (!parent) return [required(parentPath)]
  const { group, namespace } = parent
  const errors: FieldError[] = []
  if (group)
    errors.push(...isDns1123Subdomain(group).map((problem) => invalid(parentPath.child('group'), group, problem)))
  for (const field of ['resource', 'name'] as const) {
    const value = parent[field]
    if (!value) errors.push(required(parentPath.child(field)))
    else errors.push(...isPathSegment(value, false).map((problem) => invalid(parentPath.child(field), value, problem)))
  }
  if (namespace)
    errors.push(...isPathSegment(namespace, false).map((p) => invalid(parentPath.child('namespace'), namespace, p)))
  return errors
}

/** Example: `services/default/kubernetes`. */
function parentText(parent: ParentReference | undefined): string {
  if (!parent) return '<none>'
  const { group, resource, namespace, name } = parent
  return [(group ? `${resource}.${group}` : resource).toLowerCase(), ...(namespace ? [namespace] : []), name].join('/')
}

/** IPAddresses: the allocated addresses of the service ranges. */
export const ipaddresses = defineResource<IPAddress>({
  ...kindNames.ipaddresses,
  nameRule,
  validate: ({ spec }) => validateParent(spec?.parentRef),
  validateUpdate: ({ spec }, old) => validateImmutableField(spec?.parentRef, old.spec?.parentRef, parentPath),
  columns: [
    nameColumn(),
    {
      name: 'ParentRef',
      type: 'string',
      description: () => describeField('IPAddressSpec', 'parentRef'),
      cell: ({ spec }) => parentText(spec?.parentRef),
    },
    ageColumn(),
  ],
})
