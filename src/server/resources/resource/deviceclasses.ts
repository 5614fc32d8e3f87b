import { kindNames } from '../../../api/kind-names.ts'
import type { DeviceClass } from '../../../api/generated/types.ts'
import { isExtendedResource } from '../../../api/kinds/quantities/resource-names.ts'
import { type FieldError, invalid } from '../../../api/validation/field-error.ts'
import { subdomainName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { defineResource } from '../../registry/resource.ts'
import { maxConfigs, validateOpaque, validateSelectors } from './claim-validation.ts'
import { validateList } from './device-names.ts'

const specPath = Path.of('spec')

function validate({ spec = {} }: DeviceClass): FieldError[] {
  const { extendedResourceName: name } = spec
  const judge = ({ opaque }: NonNullable<typeof spec.config>[number], at: Path) =>
    validateOpaque(opaque, at.child('opaque'))
  const errors = [
    ...validateSelectors(spec.selectors, specPath.child('selectors')),
    ...validateList(spec.config, maxConfigs, judge, specPath.child('config')),
  ]
  if (name === undefined || isExtendedResource(name)) return errors
  return [...errors, invalid(specPath.child('extendedResourceName'), name, 'must be a valid extended resource name')]
}

/** DeviceClasses: selectors and configuration of devices. */
export const deviceclasses = defineResource<DeviceClass>({
  ...kindNames.deviceclasses,
  nameRule: subdomainName,
  deleteAnswersObject: true,
  generation: true,
  validate,
  validateUpdate: validate,
  columns: [nameColumn(), ageColumn()],
})
