import { ApiError, type Status, type StatusReason } from '../../../api/errors.ts'
import type { AdmissionReview } from '../../../api/generated/types.ts'
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

const decoded = (bytes: string): string => Buffer.from(bytes, 'base64').toString()

/** Validates a response. Throws with Kubernetes' message if it is invalid. */
export function verdictOf(answer: AdmissionReview, version: string, uid: string, isMutating: boolean): Verdict {
  const { apiVersion, kind, response } = answer
  if (!response) throw new Error('webhook response was absent')
  const { allowed = false, status, patch = '', patchType, warnings = [], auditAnnotations = {} } = response
  const said = { isAllowed: allowed, result: status as Partial<Status> | undefined, warnings, auditAnnotations }
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
  // HTTP has no codes above 999.
  return new ApiError(code < 400 || code > 999 ? 400 : code, (reason ?? '') as StatusReason | '', text, details)
}
