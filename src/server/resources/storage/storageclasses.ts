import { kindNames } from '../../../api/kind-names.ts'
import { describeField } from '../../../api/schema/descriptions.ts'
import type { StorageClass, TopologySelectorTerm } from '../../../api/generated/types.ts'
import { isDefaultStorageClass } from '../../../api/kinds/volumes/storage-classes.ts'
import { validateImmutableField } from '../../../api/validation/field-checks.ts'
import { type FieldError, duplicate, invalid, notSupported, required } from '../../../api/validation/field-error.ts'
import { isLabelKey, subdomainName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { type Column, defineResource } from '../../registry/resource.ts'
import { validateParameters, validateProvisioner } from './class-parameters.ts'

const path = {
  provisioner: Path.of('provisioner'),
  parameters: Path.of('parameters'),
  reclaimPolicy: Path.of('reclaimPolicy'),
  volumeBindingMode: Path.of('volumeBindingMode'),
  allowedTopologies: Path.of('allowedTopologies'),
}
const reclaimPolicies = ['Delete', 'Retain']
const bindingModes = ['Immediate', 'WaitForFirstConsumer']

type ValuesByKey = Record<string, string[]>

function validateTerm(term: TopologySelectorTerm, at: Path): { errors: FieldError[]; values: ValuesByKey } {
  const errors: FieldError[] = []
  const values: ValuesByKey = {}
  for (const [i, requirement] of (term.matchLabelExpressions ?? []).entries()) {
    const requirementPath = at.child('matchLabelExpressions').index(i)
    const key = requirement.key ?? ''
    const seen = new Set<string>()
    if (!requirement.values?.length) errors.push(required(requirementPath.child('values')))
    for (const [j, value] of (requirement.values ?? []).entries()) {
      if (seen.has(value)) errors.push(duplicate(requirementPath.child('values').index(j), value))
      seen.add(value)
    }
    errors.push(...isLabelKey(key).map((problem) => invalid(requirementPath.child('key'), key, problem)))
    if (Object.hasOwn(values, key)) errors.push(duplicate(requirementPath.child('key'), key))
    values[key] = [...seen].sort()
  }
  return { errors, values }
}

function validateTopologies(terms: readonly TopologySelectorTerm[] | undefined): FieldError[] {
  const errors: FieldError[] = []
  const earlier = new Map<string, number>()
  for (const [i, term] of (terms ?? []).entries()) {
    const at = path.allowedTopologies.index(i)
    const judged = validateTerm(term, at)
    errors.push(...judged.errors)
    const key = JSON.stringify(Object.entries(judged.values).sort(([a], [b]) => (a < b ? -1 : 1)))
    const same = earlier.get(key) ?? 0
    // As in Kubernetes, one error per earlier duplicate, at most 1000.
    for (let n = Math.min(same, 1000); n > 0 && errors.length < 1000; n--)
      errors.push(duplicate(at.child('matchLabelExpressions'), ''))
    earlier.set(key, same + 1)
  }
  return errors
}

function validateOneOf(value: string | undefined, allowed: readonly string[], at: Path): FieldError[] {
  return value === undefined || allowed.includes(value) ? [] : [notSupported(at, value, allowed)]
}

const validate = (sc: StorageClass): FieldError[] => [
  ...validateProvisioner(sc.provisioner, path.provisioner),
  ...validateParameters(sc.parameters, path.parameters, true),
  ...(sc.reclaimPolicy ? validateOneOf(sc.reclaimPolicy, reclaimPolicies, path.reclaimPolicy) : []),
  ...validateOneOf(sc.volumeBindingMode, bindingModes, path.volumeBindingMode),
  ...validateTopologies(sc.allowedTopologies),
]

const column = (name: string, field: string, cell: (sc: StorageClass) => string | boolean): Column<StorageClass> => ({
  name,
  type: 'string',
  description: () => describeField('StorageClass', field),
  cell,
})

export const storageclasses = defineResource<StorageClass>({
  ...kindNames.storageclasses,
  nameRule: subdomainName,
  deleteAnswersObject: true,
  defaults(sc) {
    sc.reclaimPolicy ??= 'Delete'
    sc.volumeBindingMode ??= 'Immediate'
  },
  validate,
  validateUpdate: (sc, old) => [
    ...validate(sc),
    ...validateImmutableField(sc.parameters ?? {}, old.parameters ?? {}, path.parameters),
    ...validateImmutableField(sc.provisioner, old.provisioner, path.provisioner),
    ...validateImmutableField(sc.reclaimPolicy, old.reclaimPolicy, path.reclaimPolicy),
    ...validateImmutableField(sc.volumeBindingMode, old.volumeBindingMode, path.volumeBindingMode),
  ],
  columns: [
    {
      ...nameColumn(),
      cell: (sc) => (isDefaultStorageClass(sc) ? `${sc.metadata.name} (default)` : (sc.metadata.name ?? '')),
    },
    column('Provisioner', 'provisioner', (sc) => sc.provisioner),
    column('ReclaimPolicy', 'reclaimPolicy', (sc) => sc.reclaimPolicy ?? 'Delete'),
    column('VolumeBindingMode', 'volumeBindingMode', (sc) => sc.volumeBindingMode ?? 'Immediate'),
    column('AllowVolumeExpansion', 'allowVolumeExpansion', (sc) => sc.allowVolumeExpansion ?? false),
    ageColumn(),
  ],
})
