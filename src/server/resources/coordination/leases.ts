import { kindNames } from '../../../api/kind-names.ts'
import { describeField } from '../../../api/schema/descriptions.ts'
import type { Lease } from '../../../api/generated/types.ts'
import { validateNonnegative, validatePositive } from '../../../api/validation/field-checks.ts'
import type { FieldError } from '../../../api/validation/field-error.ts'
import { subdomainName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { defineResource } from '../../registry/resource.ts'

/** Drops the fields of coordinated leader election, which is not supported. */
function dropElection({ spec }: Lease): void {
  if (!spec) return
  spec.strategy = undefined
  spec.preferredHolder = undefined
}

function validate({ spec = {} }: Lease): FieldError[] {
  const { leaseDurationSeconds: duration, leaseTransitions: transitions } = spec
  const errors: FieldError[] = []
  if (duration !== undefined) errors.push(...validatePositive(duration, Path.of('spec', 'leaseDurationSeconds')))
  return [...errors, ...validateNonnegative(transitions, Path.of('spec', 'leaseTransitions'))]
}

/** Leases, for leader election and node heartbeats. */
export const leases = defineResource<Lease>({
  ...kindNames.leases,
  nameRule: subdomainName,
  prepareForCreate: dropElection,
  prepareForUpdate: dropElection,
  validate,
  validateUpdate: validate,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  columns: [
    nameColumn(),
    {
      name: 'Holder',
      type: 'string',
      description: () => describeField('LeaseSpec', 'holderIdentity'),
      cell: (lease) => lease.spec?.holderIdentity ?? '',
    },
    ageColumn(),
  ],
})
