import { kindNames } from '../../../api/kind-names.ts'
import type { ResourceV1ResourceClaim as ResourceClaim } from '../../../api/generated/types.ts'
import { validateImmutableField } from '../../../api/validation/field-checks.ts'
import { subdomainName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { defineResource } from '../../registry/resource.ts'
import { checkAdminAccess, defaultClaimSpec, defaultTolerations } from './claim-defaults.ts'
import { validateClaimStatus } from './claim-status-validation.ts'
import { validateClaimSpec } from './claim-validation.ts'

const specPath = Path.of('spec')

/** Example: `allocated,reserved`. */
function stateOf({ metadata, status }: ResourceClaim): string {
  const isDeleted = Boolean(metadata.deletionTimestamp)
  const states = isDeleted ? ['deleted'] : []
  if (status?.allocation) states.push('allocated', ...(status.reservedFor?.length ? ['reserved'] : []))
  else if (!isDeleted) states.push('pending')
  return states.join(',')
}

/** ResourceClaims: requested and allocated devices. */
export const resourceclaims = defineResource<ResourceClaim>({
  ...kindNames.resourceclaims,
  type: 'ResourceV1ResourceClaim',
  nameRule: subdomainName,
  deleteAnswersObject: true,
  defaults({ spec, status }) {
    defaultClaimSpec(spec)
    for (const result of status?.allocation?.devices?.results ?? []) defaultTolerations(result.tolerations)
  },
  begin: (claim, old, { reader }) => ({
    errors: old ? [] : checkAdminAccess(claim.spec, claim.metadata.namespace ?? '', reader),
    finish: () => {},
  }),
  validate: (claim) => validateClaimSpec(claim.spec ?? {}, specPath),
  validateUpdate: (claim, old) => validateImmutableField(claim.spec, old.spec, specPath),
  status: {
    prepare(claim, old) {
      claim.spec = old.spec
      const { labels, annotations, finalizers, ownerReferences } = old.metadata
      Object.assign(claim.metadata, { labels, annotations, finalizers, ownerReferences })
    },
    validate: validateClaimStatus,
  },
  columns: [
    nameColumn(),
    {
      name: 'State',
      type: 'string',
      description: 'A summary of the current state (allocated, pending, reserved, etc.).',
      cell: stateOf,
    },
    ageColumn(),
  ],
})
