import { jsonText } from '../../api/json/index.ts'
import { type KubeObject, isFields } from '../../api/object.ts'

/** The part of an admission request that the kit reads. */
export interface AdmissionRequest<T extends KubeObject = KubeObject> {
  uid: string
  operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  namespace?: string
  name?: string
  object?: T | null
  oldObject?: T | null
  dryRun?: boolean
  userInfo?: { username?: string; groups?: string[] }
}

/** The decision of a webhook: a refusal, or a changed object. With neither, the object is admitted unchanged. */
export interface Admission<T extends KubeObject> {
  /** The reason of the refusal. */
  refused?: string
  warnings?: readonly string[]
  /** The changed object. Mutating webhooks only. */
  object?: T
}

/** The body of an admission.k8s.io/v1 request or response. */
export interface AdmissionReview {
  apiVersion: string
  kind: string
  request?: AdmissionRequest
  response?: {
    uid: string
    allowed: boolean
    status?: {
      code: number
      message: string
    }
    warnings?: string[]
    patchType?: 'JSONPatch'
    patch?: string
  }
}

/** The body of a request is no AdmissionReview. */
export class NotAReview extends Error {}

/** Checks what was sent, which may be anything. */
function isReview(review: unknown): review is { request: AdmissionRequest } {
  if (!isFields(review) || review.kind !== 'AdmissionReview' || !isFields(review.request)) return false
  return typeof review.request.uid === 'string' && review.request.uid !== ''
}

/**
 * Answers an AdmissionReview with a decision. Works with any HTTPS server: it maps a request body to a response body.
 */
export async function answerReview<T extends KubeObject>(
  review: AdmissionReview,
  judge: (request: AdmissionRequest<T>) => Admission<T> | Promise<Admission<T>>,
): Promise<AdmissionReview> {
  if (!isReview(review)) throw new NotAReview('the body is no AdmissionReview with a request')
  const { request } = review
  const { refused, warnings, object } = await judge(request as AdmissionRequest<T>)
  // A patch that replaces every top-level field is equivalent to one with many steps.
  const patch =
    object &&
    jsonText(
      Object.entries(object).map(([field, value]) => ({ op: 'add', path: `/${field}`, value: value as unknown })),
    )
  return {
    apiVersion: review.apiVersion,
    kind: review.kind,
    response: {
      uid: request.uid,
      allowed: refused === undefined,
      ...(refused === undefined ? {} : { status: { code: 403, message: refused } }),
      ...(warnings?.length ? { warnings: [...warnings] } : {}),
      ...(patch && refused === undefined
        ? { patchType: 'JSONPatch' as const, patch: Buffer.from(patch).toString('base64') }
        : {}),
    },
  }
}
