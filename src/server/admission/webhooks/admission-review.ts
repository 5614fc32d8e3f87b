import { ApiError, type Status, type StatusReason } from '../../../api/errors.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { AdmissionAttributes } from '../dynamic/index.ts'

const reviewGroup = 'admission.k8s.io'

/** The supported versions of AdmissionReview. */
const knownReviews = ['v1', 'v1beta1']

/** The version for a webhook: the first of its list that is supported. */
export const reviewVersion = (versions: readonly string[]): string | undefined =>
  versions.find((version) => knownReviews.includes(version))

/** The AdmissionReview with the request for a webhook. */
export const reviewOf = (
  version: string,
  uid: string,
  { dryRun, options, ...attributes }: AdmissionAttributes,
  object: KubeObject | undefined,
  oldObject: KubeObject | undefined,
) => ({
  kind: 'AdmissionReview',
  apiVersion: `${reviewGroup}/${version}`,
  request: {
    uid,
    ...attributes,
    object: object ?? null,
    oldObject: oldObject ?? null,
    dryRun,
    options: options ?? null,
  },
})

/** A webhook's validated response. */
export interface Verdict {
  isAllowed: boolean
  /** The text of a JSON patch; '' for no change. */
  patch: string
  patchType: string
  result: Partial<Status> | undefined
  warnings: readonly string[]
  auditAnnotations: Readonly<Record<string, string>>
}

interface Response {
  uid?: string
  allowed?: boolean
  status?: Partial<Status>
  patch?: string
  patchType?: string
  warnings?: string[]
  auditAnnotations?: Record<string, string>
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Decodes bytes in JSON (base64) as Go does. */
function decoded(text: string): string {
  if (!base64.test(text))
    throw new Error(`illegal base64 data at input byte ${/^[A-Za-z0-9+/]*/.exec(text)![0].length}`)
  return Buffer.from(text, 'base64').toString()
}

/** Validates a response. Throws with Kubernetes' message if it is invalid. */
export function verdictOf(answer: Record<string, unknown>, version: string, uid: string, isMutating: boolean): Verdict {
  const { apiVersion, kind, response } = answer as { apiVersion?: string; kind?: string; response?: Response }
  if (!response) throw new Error('webhook response was absent')
  const { allowed = false, status, patch = '', patchType, warnings = [], auditAnnotations = {} } = response
  const said = { isAllowed: allowed, result: status, warnings, auditAnnotations }
  // v1beta1 webhooks may omit uid and patch type.
  if (version !== 'v1') return { ...said, patch: isMutating ? decoded(patch) : '', patchType: patchType ?? 'JSONPatch' }
  if (response.uid !== uid)
    throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid ?? '')}`)
  if (apiVersion !== `${reviewGroup}/v1` || kind !== 'AdmissionReview') {
    throw new Error(
      `expected webhook response of ${reviewGroup}/v1, Kind=AdmissionReview, got ${apiVersion}, Kind=${kind}`,
    )
  }
  if (isMutating) checkPatch(patch, patchType)
  else if (patch) throw new Error('validating webhook may not return response.patch')
  else if (patchType !== undefined) throw new Error('validating webhook may not return response.patchType')
  return { ...said, patch: decoded(patch), patchType: patchType ?? '' }
}

function checkPatch(patch: string, type: string | undefined): void {
  if (patch && type === undefined) throw new Error('webhook returned response.patch but not response.patchType')
  if (!patch && type !== undefined) throw new Error('webhook returned response.patchType but not response.patch')
  if (type === '') throw new Error('webhook returned invalid response.patchType of ""')
}

/** The error for a request that a webhook denied. */
export function denial(webhook: string, result: Partial<Status> = {}): ApiError {
  const denied = `admission webhook ${JSON.stringify(webhook)} denied the request`
  const { code = 0, message, reason, details } = result
  const text = message || reason ? `${denied}: ${message || reason}` : `${denied} without explanation`
  return new ApiError(code < 400 ? 400 : code, (reason ?? '') as StatusReason | '', text, details)
}
