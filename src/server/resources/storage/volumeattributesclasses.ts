import { kindNames } from '../../../api/kind-names.ts'
import { deepEqual } from '../../../api/deep-equal.ts'
import { describeField } from '../../../api/schema/descriptions.ts'
import type { VolumeAttributesClass } from '../../../api/generated/types.ts'
import { isDefaultVolumeAttributesClass } from '../../../api/kinds/volumes/storage-classes.ts'
import { type FieldError, forbidden } from '../../../api/validation/field-error.ts'
import { subdomainName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { defineResource } from '../../registry/resource.ts'
import { validateParameters, validateProvisioner } from './class-parameters.ts'

const driverPath = Path.of('driverName')
const parametersPath = Path.of('parameters')

const validate = (vac: VolumeAttributesClass): FieldError[] => [
  ...validateProvisioner(vac.driverName, driverPath),
  ...validateParameters(vac.parameters, parametersPath, false),
]

export const volumeattributesclasses = defineResource<VolumeAttributesClass>({
  ...kindNames.volumeattributesclasses,
  nameRule: subdomainName,
  deleteAnswersObject: true,
  validate,
  validateUpdate: (vac, old) => [
    ...(vac.driverName === old.driverName ? [] : [forbidden(driverPath, 'updates to driverName are forbidden.')]),
    ...(deepEqual(vac.parameters ?? {}, old.parameters ?? {})
      ? []
      : [forbidden(parametersPath, 'updates to parameters are forbidden.')]),
    ...validate(vac),
  ],
  columns: [
    {
      ...nameColumn(),
      cell: (vac) =>
        isDefaultVolumeAttributesClass(vac) ? `${vac.metadata.name} (default)` : (vac.metadata.name ?? ''),
    },
    {
      name: 'DriverName',
      type: 'string',
      description: () => describeField('VolumeAttributesClass', 'driverName'),
      cell: (vac) => vac.driverName,
    },
    ageColumn(),
  ],
})
