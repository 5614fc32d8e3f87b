import { kindNames } from '../../../api/kind-names.ts'
import type { Namespace } from '../../../api/generated/types.ts'
import { type FieldError, invalid } from '../../../api/validation/field-error.ts'
import { isQualifiedName, labelName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { defineResource } from '../../registry/resource.ts'

const finalizersPath = Path.of('spec', 'finalizers')
const nameLabel = 'kubernetes.io/metadata.name'
const bareFinalizers = ['kubernetes', 'orphan', 'foregroundDeletion']

/** Sets the label with the namespace's name, for selectors. */
function setNameLabel({ metadata }: Namespace): void {
  if (metadata.name) metadata.labels = { ...metadata.labels, [nameLabel]: metadata.name }
}

function validateFinalizer(name: string, path: Path): FieldError[] {
  const errors = isQualifiedName(name).map((p) => invalid(path, name, p))
  if (!name.includes('/') && !bareFinalizers.includes(name)) {
    errors.push(invalid(path, name, 'name is neither a standard finalizer name nor is it fully qualified'))
  }
  return errors
}

function validatePhase({ metadata, status }: Namespace): FieldError[] {
  const wanted = metadata.deletionTimestamp ? 'Terminating' : 'Active'
  if (status?.phase === wanted) return []
  const when = metadata.deletionTimestamp ? 'is not empty' : 'is empty'
  return [
    invalid(
      Path.of('status', 'Phase'),
      status?.phase ?? '',
      `may only be '${wanted}' if \`deletionTimestamp\` ${when}`,
    ),
  ]
}

/**
 * core/v1 Namespaces. spec.finalizers, which only `finalize` changes, keep a namespace until its contents are deleted.
 */
export const namespaces = defineResource<Namespace>({
  ...kindNames.namespaces,
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  nameRule: labelName,
  defaults(obj) {
    setNameLabel(obj)
    obj.status = { ...obj.status, phase: obj.status?.phase || 'Active' }
  },
  prepareForCreate(obj) {
    // The name may have been generated after defaulting.
    setNameLabel(obj)
    obj.status = { phase: 'Active' }
    const finalizers = obj.spec?.finalizers ?? []
    obj.spec = {
      ...obj.spec,
      finalizers: finalizers.includes('kubernetes') ? finalizers : [...finalizers, 'kubernetes'],
    }
  },
  validate: (obj) => (obj.spec?.finalizers ?? []).flatMap((name) => validateFinalizer(name, finalizersPath)),
  prepareForUpdate(obj, old) {
    obj.spec = { ...obj.spec, finalizers: old.spec?.finalizers }
  },
  validateUpdate: () => [],
  status: {
    prepare(obj, old) {
      obj.spec = old.spec
    },
    validate: validatePhase,
  },
  partialUpdates: {
    finalize: {
      verbs: ['update'],
      prepare(obj, old) {
        obj.status = old.status
      },
      validate: (obj) =>
        (obj.spec?.finalizers ?? []).flatMap((name, i) => validateFinalizer(name, finalizersPath.index(i))),
    },
  },
  isHeld: (obj) => Boolean(obj.spec?.finalizers?.length),
  beginDeletion(obj) {
    obj.metadata.deletionGracePeriodSeconds = undefined
    obj.status = { ...obj.status, phase: 'Terminating' }
  },
  deleteAnswersObject: true,
  selectableFields: { 'status.phase': (obj) => obj.status?.phase ?? '' },
  columns: [
    nameColumn(),
    {
      name: 'Status',
      type: 'string',
      description: 'The status of the namespace',
      cell: (obj) => obj.status?.phase ?? '',
    },
    ageColumn(),
  ],
})
