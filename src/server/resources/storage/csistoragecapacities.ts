import { kindNames } from '../../../api/kind-names.ts'
import { semanticEqual } from '../../../api/deep-equal.ts'
import type { CSIStorageCapacity, LabelSelector } from '../../../api/generated/types.ts'
import { quantitySign } from '../../../api/numbers/quantity.ts'
import { validateLabelSelector } from '../../../api/selectors/label-selector.ts'
import { immutableMessage, nonnegativeMessage, validateImmutableField } from '../../../api/validation/field-checks.ts'
import { type FieldError, invalid } from '../../../api/validation/field-error.ts'
import { isDns1123Subdomain, subdomainName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { defineResource } from '../../registry/resource.ts'

const topologyPath = Path.of('nodeTopology')
const classPath = Path.of('storageClassName')

const validateAmount = (amount: string | undefined, path: Path): FieldError[] =>
  amount !== undefined && quantitySign(amount) < 0 ? [invalid(path, amount, nonnegativeMessage)] : []

const validate = (capacity: CSIStorageCapacity): FieldError[] => [
  ...validateLabelSelector(capacity.nodeTopology, topologyPath),
  ...isDns1123Subdomain(capacity.storageClassName).map((problem) =>
    invalid(classPath, capacity.storageClassName, problem),
  ),
  ...validateAmount(capacity.capacity, Path.of('capacity')),
  ...validateAmount(capacity.maximumVolumeSize, Path.of('maximumVolumeSize')),
]

function validateSameTopology(selector: LabelSelector | undefined, old: LabelSelector | undefined): FieldError[] {
  const isSame = (selector === undefined) === (old === undefined) && semanticEqual(selector, old)
  return isSame ? [] : [invalid(topologyPath, selector, immutableMessage)]
}

export const csistoragecapacities = defineResource<CSIStorageCapacity>({
  ...kindNames.csistoragecapacities,
  nameRule: subdomainName,
  allowUnconditionalUpdate: false,
  validate,
  validateUpdate: (capacity, old) => [
    ...validate(capacity),
    ...validateSameTopology(capacity.nodeTopology, old.nodeTopology),
    ...validateImmutableField(capacity.storageClassName, old.storageClassName, classPath),
  ],
})
