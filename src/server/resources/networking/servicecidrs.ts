import { kindNames } from '../../../api/kind-names.ts'
import { describeField } from '../../../api/schema/descriptions.ts'
import type { ServiceCIDR } from '../../../api/generated/types.ts'
import { immutableMessage } from '../../../api/validation/field-checks.ts'
import { type FieldError, invalid, required } from '../../../api/validation/field-error.ts'
import { cidrFamilyOf, isCanonicalCidr } from '../../../api/validation/ip.ts'
import { subdomainName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { defineResource } from '../../registry/resource.ts'

const path = Path.of('spec', 'cidrs')
const example = '192.168.0.0/24 and 2001:db8::/64'

function validate({ spec = {} }: ServiceCIDR): FieldError[] {
  const cidrs = spec.cidrs ?? []
  if (cidrs.length === 0) return [required(path, 'at least one CIDR required')]
  if (cidrs.length > 2) return [invalid(path, spec, 'may only hold up to 2 values')]
  const families = new Set(cidrs.map(cidrFamilyOf))
  if (cidrs.length === 2 && (families.size !== 2 || families.has(undefined))) {
    return [invalid(path, spec, `may specify no more than one IP for each IP family, i.e ${example}`)]
  }
  return cidrs.flatMap((cidr, i) => validateRange(cidr, i))
}

const validateRange = (cidr: string, i: number): FieldError[] =>
  isCanonicalCidr(cidr).map((problem) => invalid(path.index(i), cidr, problem))

/** Validates that ranges are unchanged, except for an added range of the other family. */
function validateUpdate(obj: ServiceCIDR, old: ServiceCIDR): FieldError[] {
  const [cidrs, before] = [obj.spec?.cidrs ?? [], old.spec?.cidrs ?? []]
  const changed = before.flatMap((cidr, i) =>
    cidr === cidrs[i] ? [] : [invalid(path.index(i), cidrs[i], immutableMessage)],
  )
  if (cidrs.length === before.length) return changed
  if (before.length === 1 && cidrs.length === 2) return [...changed, ...validate(obj)]
  return [invalid(path, cidrs, immutableMessage)]
}

export const servicecidrs = defineResource<ServiceCIDR>({
  ...kindNames.servicecidrs,
  nameRule: subdomainName,
  validate,
  validateUpdate,
  status: {
    prepare(obj, old) {
      obj.spec = old.spec
    },
    validate: () => [],
  },
  columns: [
    nameColumn(),
    {
      name: 'CIDRs',
      type: 'string',
      description: () => describeField('ServiceCIDRSpec', 'cidrs'),
      cell: ({ spec }) => (spec?.cidrs ?? []).join(','),
    },
    ageColumn(),
  ],
})
