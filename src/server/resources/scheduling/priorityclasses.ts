import { kindNames } from '../../../api/kind-names.ts'
import { describeField } from '../../../api/schema/descriptions.ts'
import type { PriorityClass } from '../../../api/generated/types.ts'
import { notSupportedInOrder, validateImmutableField } from '../../../api/validation/field-checks.ts'
import { type FieldError, forbidden, required } from '../../../api/validation/field-error.ts'
import { subdomainName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { defineResource } from '../../registry/resource.ts'
import { systemPriorityClasses } from './system-priority-classes.ts'

const highestUserDefinablePriority = 1_000_000_000
const policyPath = Path.of('preemptionPolicy')

/** Describes why a class with a reserved name differs from the system's class; '' if it does not. */
function notTheSystems(pc: PriorityClass): string {
  const name = pc.metadata.name
  const known = systemPriorityClasses.find((spc) => spc.metadata.name === name)
  if (!known) return `${name} is not a known system priority class`
  if (known.value !== pc.value) return `value of ${name} PriorityClass must be ${known.value}`
  if (pc.globalDefault) return `globalDefault of ${name} PriorityClass must be false`
  return ''
}

function validateValue(pc: PriorityClass): FieldError[] {
  if (pc.metadata.name?.startsWith('system-')) {
    const why = notTheSystems(pc)
    const said = `priority class names with 'system-' prefix are reserved for system use only. error: ${why}`
    return why ? [forbidden(Path.of('metadata', 'name'), said)] : []
  }
  if (pc.value <= highestUserDefinablePriority) return []
  return [
    forbidden(Path.of('value'), `maximum allowed value of a user defined priority is ${highestUserDefinablePriority}`),
  ]
}

function validatePreemptionPolicy(policy: string | undefined): FieldError[] {
  if (policy === undefined || policy === 'PreemptLowerPriority' || policy === 'Never') return []
  if (policy === '') return [required(policyPath)]
  return [notSupportedInOrder(policyPath, policy, ['PreemptLowerPriority', 'Never'])]
}

const describe = (field: keyof PriorityClass) => () => describeField('PriorityClass', field)

export const priorityclasses = defineResource<PriorityClass>({
  ...kindNames.priorityclasses,
  nameRule: subdomainName,
  // All fields that count are immutable, so the generation stays 1.
  generation: { changed: () => false },
  defaults(pc) {
    pc.preemptionPolicy ??= 'PreemptLowerPriority'
  },
  validate: (pc) => [...validateValue(pc), ...validatePreemptionPolicy(pc.preemptionPolicy)],
  validateUpdate: (pc, old) => [
    ...(pc.value === old.value ? [] : [forbidden(Path.of('value'), 'may not be changed in an update.')]),
    ...validateImmutableField(pc.preemptionPolicy, old.preemptionPolicy, policyPath),
  ],
  columns: [
    nameColumn(),
    { name: 'Value', type: 'integer', description: describe('value'), cell: (pc) => pc.value },
    {
      name: 'Global-Default',
      type: 'boolean',
      description: describe('globalDefault'),
      cell: (pc) => pc.globalDefault ?? false,
    },
    ageColumn(),
    {
      name: 'PreemptionPolicy',
      type: 'string',
      description: describe('preemptionPolicy'),
      cell: (pc) => pc.preemptionPolicy ?? '',
    },
  ],
})
