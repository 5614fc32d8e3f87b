import { kindNames } from '../../../api/kind-names.ts'
import { describeField } from '../../../api/schema/descriptions.ts'
import type { ControllerRevision } from '../../../api/generated/types.ts'
import { validateImmutableField, validateNonnegative } from '../../../api/validation/field-checks.ts'
import { type FieldError, required } from '../../../api/validation/field-error.ts'
import { subdomainName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { defineResource } from '../../registry/resource.ts'

const dataPath = Path.of('data')

function validateData(data: unknown): FieldError[] {
  if (data === undefined || data === null) return [required(dataPath, 'data is mandatory')]
  return typeof data === 'object' && !Array.isArray(data)
    ? []
    : [required(dataPath, 'data must be a valid JSON object')]
}

/** The controlling owner, such as `statefulset.apps/web`. */
function controllerText(obj: ControllerRevision): string {
  const owner = obj.metadata.ownerReferences?.find((reference) => reference.controller)
  if (!owner) return '<none>'
  const group = owner.apiVersion.includes('/') ? owner.apiVersion.split('/')[0] : ''
  return `${(group ? `${owner.kind}.${group}` : owner.kind).toLowerCase()}/${owner.name}`
}

/** apps/v1 ControllerRevisions. */
export const controllerrevisions = defineResource<ControllerRevision>({
  ...kindNames.controllerrevisions,
  nameRule: subdomainName,
  validate: (obj) => [...validateData(obj.data), ...validateNonnegative(obj.revision, Path.of('revision'))],
  validateUpdate: (obj, old) => [
    ...validateNonnegative(obj.revision, Path.of('revision')),
    ...validateImmutableField(obj.data, old.data, dataPath),
  ],
  columns: [
    nameColumn(),
    { name: 'Controller', type: 'string', description: 'Controller of the object', cell: controllerText },
    {
      name: 'Revision',
      type: 'string',
      description: () => describeField('ControllerRevision', 'revision'),
      cell: (obj) => obj.revision ?? 0,
    },
    ageColumn(),
  ],
})
