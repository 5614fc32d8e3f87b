import type { ClusterRoleBinding, RbacV1Subject, RoleBinding, RoleRef } from '../../../api/generated/types.ts'
import { notSupportedInOrder } from '../../../api/validation/field-checks.ts'
import { type FieldError, invalid, required } from '../../../api/validation/field-error.ts'
import { isPathSegment, subdomainName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import type { Column } from '../../registry/resource.ts'

/** Role bindings and cluster role bindings. */
type Binding = RoleBinding | ClusterRoleBinding

const rbacGroup = 'rbac.authorization.k8s.io'
const roleRefPath = Path.of('roleRef')
const subjectsPath = Path.of('subjects')

/** Applies the default API groups of role and subjects. */
export function defaultBinding(binding: Binding): void {
  binding.roleRef.apiGroup ||= rbacGroup
  for (const subject of binding.subjects ?? []) {
    if (!subject.apiGroup && (subject.kind === 'User' || subject.kind === 'Group')) subject.apiGroup = rbacGroup
  }
}

function validateRoleRef(ref: RoleRef, kinds: readonly string[]): FieldError[] {
  const errors: FieldError[] = []
  if (ref.apiGroup !== rbacGroup)
    errors.push(notSupportedInOrder(roleRefPath.child('apiGroup'), ref.apiGroup ?? '', [rbacGroup]))
  if (!kinds.includes(ref.kind)) errors.push(notSupportedInOrder(roleRefPath.child('kind'), ref.kind ?? '', kinds))
  if (!ref.name) errors.push(required(roleRefPath.child('name')))
  else
    errors.push(
      ...isPathSegment(ref.name, false).map((problem) => invalid(roleRefPath.child('name'), ref.name, problem)),
    )
  return errors
}

function validateServiceAccount(subject: RbacV1Subject, namespaced: boolean, path: Path): FieldError[] {
  const errors: FieldError[] = []
  if (subject.name)
    errors.push(
      ...subdomainName(subject.name, false).map((problem) => invalid(path.child('name'), subject.name, problem)),
    )
  if (subject.apiGroup) errors.push(notSupportedInOrder(path.child('apiGroup'), subject.apiGroup, ['']))
  if (!namespaced && !subject.namespace) errors.push(required(path.child('namespace')))
  return errors
}

function validateSubject(subject: RbacV1Subject, namespaced: boolean, path: Path): FieldError[] {
  const errors = subject.name ? [] : [required(path.child('name'))]
  switch (subject.kind) {
    case 'ServiceAccount':
      return [...errors, ...validateServiceAccount(subject, namespaced, path)]
    case 'User':
    case 'Group':
      return subject.apiGroup === rbacGroup
        ? errors
        : [...errors, notSupportedInOrder(path.child('apiGroup'), subject.apiGroup ?? '', [rbacGroup])]
    default:
      return [
        ...errors,
        notSupportedInOrder(path.child('kind'), subject.kind ?? '', ['ServiceAccount', 'User', 'Group']),
      ]
  }
}

/** Validates a binding. `kinds` are the allowed kinds of role. */
export function validateBinding(binding: Binding, namespaced: boolean, kinds: readonly string[]): FieldError[] {
  return [
    ...validateRoleRef(binding.roleRef, kinds),
    ...(binding.subjects ?? []).flatMap((subject, i) => validateSubject(subject, namespaced, subjectsPath.index(i))),
  ]
}

/** Validates that roleRef is unchanged. */
export function validateSameRole(binding: Binding, old: Binding): FieldError[] {
  const [ref, before] = [binding.roleRef, old.roleRef]
  if (ref.apiGroup === before.apiGroup && ref.kind === before.kind && ref.name === before.name) return []
  return [
    invalid(
      roleRefPath,
      { APIGroup: ref.apiGroup ?? '', Kind: ref.kind ?? '', Name: ref.name ?? '' },
      'cannot change roleRef',
    ),
  ]
}

const namesOf = (binding: Binding, kind: string, text: (subject: RbacV1Subject) => string) =>
  (binding.subjects ?? [])
    .filter((subject) => subject.kind === kind)
    .map(text)
    .join(', ')

/** The columns of bindings. `where` is the kind in the descriptions. */
export function bindingColumns<T extends Binding>(
  where: string,
  describeRole: string,
): { role: Column<T>; subjects: Column<T>[] } {
  const subjectColumn = (name: string, kind: string, text: (subject: RbacV1Subject) => string): Column<T> => ({
    name,
    type: 'string',
    description: `${name} in the ${where}`,
    priority: 1,
    cell: (binding) => namesOf(binding, kind, text),
  })
  return {
    role: {
      name: 'Role',
      type: 'string',
      description: describeRole,
      cell: ({ roleRef }) => `${roleRef.kind}/${roleRef.name}`,
    },
    subjects: [
      subjectColumn('Users', 'User', (subject) => subject.name),
      subjectColumn('Groups', 'Group', (subject) => subject.name),
      subjectColumn('ServiceAccounts', 'ServiceAccount', (subject) => `${subject.namespace ?? ''}/${subject.name}`),
    ],
  }
}
