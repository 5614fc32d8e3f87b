import { X509Certificate } from 'node:crypto'
import type { CertificateSigningRequest, CertificateSigningRequestCondition } from '../../../api/generated/types.ts'
import {
  type FieldError,
  duplicate,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../api/validation/field-error.ts'
import { repeatedPlaces } from '../../../api/validation/field-checks.ts'
import { Path } from '../../../api/validation/path.ts'
import { validateSignerName } from '../../../api/validation/signer-name.ts'
import { knownUsages, parseCertificateRequest, pemBlocks, signatureProblem } from '../../../api/x509/index.ts'

const specPath = Path.of('spec')
const conditionsPath = Path.of('status', 'conditions')
const certificatePath = Path.of('status', 'certificate')
const legacySigner = 'kubernetes.io/legacy-unknown'
const minDurationSeconds = 600
const tooShortMessage = 'may not specify a duration less than 600 seconds (10 minutes)'
const statuses = ['True', 'False', 'Unknown']
/** Condition types that have only the status True. */
const oneWayTypes = ['Approved', 'Denied', 'Failed']

const text = (base64: string | undefined) => Buffer.from(base64 ?? '', 'base64').toString()

function requestProblem(request: string | undefined): string | undefined {
  try {
    return signatureProblem(parseCertificateRequest(text(request)))
  } catch (e) {
    return (e as Error).message
  }
}

function validateUsages(usages: readonly string[], old: CertificateSigningRequest | undefined): FieldError[] {
  const path = specPath.child('usages')
  if (usages.length === 0) return [required(path)]
  // The spec is immutable and was validated at creation.
  if (old) return []
  const known = (usage: string) => knownUsages.includes(usage)
  const repeated = repeatedPlaces(usages)
  return [
    ...usages.flatMap((usage, i) => (known(usage) ? [] : [notSupported(path.index(i), usage, knownUsages)])),
    ...usages.flatMap((usage, i) => (repeated.has(i) ? [duplicate(path.index(i), usage)] : [])),
  ]
}

function validateSpec({ spec }: CertificateSigningRequest, old: CertificateSigningRequest | undefined): FieldError[] {
  const problem = requestProblem(spec.request)
  const { signerName = '', expirationSeconds } = spec
  const isLegacy = signerName === legacySigner && old?.spec.signerName !== legacySigner
  const signerPath = specPath.child('signerName')
  const legacyMessage = 'the legacy signerName is not allowed via this API version'
  const durationPath = specPath.child('expirationSeconds')
  const isTooShort = expirationSeconds !== undefined && expirationSeconds < minDurationSeconds
  return [
    ...(problem ? [invalid(specPath.child('request'), spec.request ?? '', problem)] : []),
    ...validateUsages(spec.usages ?? [], old),
    ...(isLegacy ? [invalid(signerPath, signerName, legacyMessage)] : validateSignerName(signerName, signerPath)),
    ...(isTooShort ? [invalid(durationPath, expirationSeconds, tooShortMessage)] : []),
  ]
}

type Conditions = readonly CertificateSigningRequestCondition[]

const hasType = (conditions: Conditions, type: string) => conditions.some((c) => c.type === type)
const hasRepeatedType = (conditions: Conditions) => new Set(conditions.map((c) => c.type)).size < conditions.length

/** Validates conditions. Errors that the stored request has already are ignored. */
function validateConditions(conditions: Conditions, old: Conditions): FieldError[] {
  const toleratesBoth = hasType(old, 'Approved') && hasType(old, 'Denied')
  const toleratesRepeated = hasRepeatedType(old)
  const before = new Set<string>()
  return conditions.flatMap((condition, i) => {
    const { type, status } = condition
    const opposite = type === 'Approved' ? 'Denied' : type === 'Denied' ? 'Approved' : undefined
    const isBoth = opposite !== undefined && !toleratesBoth && before.has(opposite)
    const isRepeated = before.has(type)
    before.add(type)
    return [
      ...(type === '' && !hasType(old, '') ? [required(conditionsPath.index(i).child('type'))] : []),
      ...validateStatus(condition, conditionsPath.index(i).child('status'), status),
      ...(isBoth ? [invalid(conditionsPath, type, 'Approved and Denied conditions are mutually exclusive')] : []),
      ...(!toleratesRepeated && isRepeated ? [duplicate(conditionsPath.index(i).child('type'), type)] : []),
    ]
  })
}

function validateStatus({ type }: CertificateSigningRequestCondition, path: Path, status: string): FieldError[] {
  if (status === '') return [required(path)]
  const allowed = oneWayTypes.includes(type) ? ['True'] : statuses
  return allowed.includes(status) ? [] : [notSupported(path, status, allowed)]
}

function isCertificate(bytes: Buffer): boolean {
  try {
    return new X509Certificate(bytes).raw.length > 0
  } catch {
    // Node reports no reason.
    return false
  }
}

function certificateProblem(certificate: string | undefined): string | undefined {
  if (!certificate) return undefined
  const blocks = pemBlocks(text(certificate))
  if (blocks.length === 0) return 'must contain at least one CERTIFICATE PEM block'
  for (const { label, bytes, hasHeaders } of blocks) {
    if (label !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(label)}`
    if (hasHeaders) return 'no PEM block headers are permitted'
    if (bytes.length === 0) return 'found CERTIFICATE PEM block containing 0 certificates'
    if (!isCertificate(bytes)) return 'x509: malformed certificate'
  }
  return undefined
}

/** Validates a new or updated request. */
export function validateRequest(csr: CertificateSigningRequest, old?: CertificateSigningRequest): FieldError[] {
  const { certificate } = csr.status
  const was = old?.status.certificate
  const isKept = old !== undefined && (certificate === was || certificateProblem(was) !== undefined)
  const problem = isKept ? undefined : certificateProblem(certificate)
  return [
    ...validateSpec(csr, old),
    ...validateConditions(csr.status.conditions ?? [], old?.status.conditions ?? []),
    ...(problem ? [invalid(certificatePath, '<certificate data>', problem)] : []),
  ]
}

/** The parts of the status that a subresource may change. */
interface MaySet {
  approval?: boolean
  certificate?: boolean
}

/**
 * Validates an update. Approved and Denied conditions cannot be removed. Approval and certificate have separate
 * subresources.
 */
export function validateRequestUpdate(
  csr: CertificateSigningRequest,
  old: CertificateSigningRequest,
  may: MaySet = {},
): FieldError[] {
  const count = ({ status }: CertificateSigningRequest, type: string) =>
    (status.conditions ?? []).filter((c) => c.type === type).length
  const refuse = (verb: string, type: string) =>
    forbidden(conditionsPath, `updates may not ${verb} a condition of type ${JSON.stringify(type)}`)
  const removed = oneWayTypes.filter((type) => count(csr, type) < count(old, type))
  const added = may.approval ? [] : ['Approved', 'Denied'].filter((type) => count(csr, type) > count(old, type))
  return [
    ...validateRequest(csr, old),
    ...removed.map((type) => refuse('remove', type)),
    ...added.map((type) => refuse('add', type)),
    ...validateCertificateUpdate(csr.status.certificate ?? '', old.status.certificate ?? '', may),
  ]
}

function validateCertificateUpdate(certificate: string, old: string, may: MaySet): FieldError[] {
  if (certificate === old) return []
  if (!may.certificate) return [forbidden(certificatePath, 'updates may not set certificate content')]
  return old === '' ? [] : [forbidden(certificatePath, 'updates may not modify existing certificate content')]
}
