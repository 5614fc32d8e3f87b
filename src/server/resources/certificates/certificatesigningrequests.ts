import { kindNames } from '../../../api/kind-names.ts'
import { describeField } from '../../../api/schema/descriptions.ts'
import type { CertificateSigningRequest, CertificateSigningRequestCondition } from '../../../api/generated/types.ts'
import { humanDuration } from '../../../api/printing/duration.ts'
import { timestamp } from '../../../api/object.ts'
import { pathSegmentName } from '../../../api/validation/names.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { type Column, type RuleContext, defineResource } from '../../registry/resource.ts'
import { validateRequest, validateRequestUpdate } from './request-validation.ts'

type Conditions = readonly CertificateSigningRequestCondition[]

/** Sets the times of conditions. A condition with unchanged status keeps its lastTransitionTime. */
function withTimes(conditions: Conditions, old: Conditions, now: number): CertificateSigningRequestCondition[] {
  const time = timestamp(now)
  return conditions.map((condition) => {
    const same = old.find((c) => c.type === condition.type && c.status === condition.status && c.lastTransitionTime)
    return {
      ...condition,
      lastUpdateTime: condition.lastUpdateTime ?? time,
      lastTransitionTime: condition.lastTransitionTime ?? same?.lastTransitionTime ?? time,
    }
  })
}

/** Restores the stored conditions of a type, if their number is unchanged. */
function keepConditions(conditions: Conditions, old: Conditions, type: string): CertificateSigningRequestCondition[] {
  const stored = old.filter((c) => c.type === type)
  const isSameCount = conditions.filter((c) => c.type === type).length === stored.length
  return isSameCount ? conditions.map((c) => (c.type === type ? stored.shift()! : c)) : [...conditions]
}

function setConditions(csr: CertificateSigningRequest, conditions: CertificateSigningRequestCondition[]): void {
  const { conditions: _, ...rest } = csr.status
  csr.status = { ...(conditions.length ? { conditions } : {}), ...rest }
}

/** Sets the requesting user from the request. Values of the client are dropped. */
function prepareCreation(csr: CertificateSigningRequest, { user }: RuleContext): void {
  const { username: _n, uid: _u, groups: _g, extra: _e, ...spec } = csr.spec
  const { name = '', uid, groups = [], extra = {} } = user ?? {}
  csr.spec = {
    ...spec,
    username: name,
    ...(uid ? { uid } : {}),
    ...(groups.length ? { groups: [...groups] } : {}),
    ...(Object.keys(extra).length ? { extra } : {}),
  }
}

/** A signer sets the certificate or the Failed condition through `status`, and cannot change the approval. */
function prepareStatus(csr: CertificateSigningRequest, old: CertificateSigningRequest, { now }: RuleContext): void {
  csr.spec = old.spec
  const was = old.status.conditions ?? []
  const kept = ['Approved', 'Denied'].reduce<Conditions>(
    (list, type) => keepConditions(list, was, type),
    csr.status.conditions ?? [],
  )
  setConditions(csr, withTimes(kept, was, now))
}

/** The `approval` subresource changes only conditions. */
function prepareApproval(csr: CertificateSigningRequest, old: CertificateSigningRequest, { now }: RuleContext): void {
  const conditions = withTimes(csr.status.conditions ?? [], old.status.conditions ?? [], now)
  csr.spec = old.spec
  csr.status = { ...old.status }
  setConditions(csr, conditions)
}

/** Example: `Approved,Issued`. */
function conditionText({ status }: CertificateSigningRequest): string {
  const has = (type: string) => status.conditions?.some((c) => c.type === type)
  const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending'
  return `${decision}${has('Failed') ? ',Failed' : ''}${status.certificate ? ',Issued' : ''}`
}

const specDoc = (field: string) => () => describeField('CertificateSigningRequestSpec', field)

const columns: Column<CertificateSigningRequest>[] = [
  nameColumn(),
  ageColumn(),
  {
    name: 'SignerName',
    type: 'string',
    description: specDoc('signerName'),
    cell: ({ spec }) => spec.signerName || '<none>',
  },
  { name: 'Requestor', type: 'string', description: specDoc('request'), cell: ({ spec }) => spec.username ?? '' },
  {
    name: 'RequestedDuration',
    type: 'string',
    description: specDoc('expirationSeconds'),
    cell: ({ spec: { expirationSeconds: seconds } }) =>
      seconds === undefined ? '<none>' : humanDuration(seconds * 1000),
  },
  {
    name: 'Condition',
    type: 'string',
    description: () => describeField('CertificateSigningRequestStatus', 'conditions'),
    cell: conditionText,
  },
]

export const certificatesigningrequests = defineResource<CertificateSigningRequest>({
  ...kindNames.certificatesigningrequests,
  nameRule: pathSegmentName,
  prepareForCreate: prepareCreation,
  validate: (csr) => validateRequest(csr),
  prepareForUpdate(csr, old) {
    csr.spec = old.spec
  },
  validateUpdate: (csr, old) => validateRequestUpdate(csr, old),
  status: { prepare: prepareStatus, validate: (csr, old) => validateRequestUpdate(csr, old, { certificate: true }) },
  partialUpdates: {
    approval: { prepare: prepareApproval, validate: (csr, old) => validateRequestUpdate(csr, old, { approval: true }) },
  },
  selectableFields: { 'spec.signerName': ({ spec }) => spec.signerName },
  columns,
})
