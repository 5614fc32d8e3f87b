import type { KubeObject } from '../../api/object.ts'

/** What a webhook is asked, as far as the kit reads it. */
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

/** A webhook's judgement: what is wrong, or how the object is to be changed. Neither lets it pass as it is. */
export interface Admission<T extends KubeObject> {
  /** Why it is refused. */
  refused?: string
  warnings?: readonly string[]
  /** The object as it should be. Only of mutating webhooks. */
  object?: T
}

/** A body of admission.k8s.io/v1 that asks, or answers. */
export interface AdmissionReview {
  apiVersion: string
  kind: string
  request?: AdmissionRequest
  response?: { uid: string; allowed: boolean; status?: { code: number; message: string }; warnings?: string[]; patchType?: 'JSONPatch'; patch?: string }
}

/** Answers an AdmissionReview by a judgement. For whatever HTTPS server the operator runs: the body of a request in, that of the answer out. */
export async function answerReview<T extends KubeObject>(
  review: AdmissionReview, judge: (request: AdmissionRequest<T>) => Admission<T> | Promise<Admission<T>>,
): Promise<AdmissionReview> {
  const { request } = review
  if (review.kind !== 'AdmissionReview' || !request?.uid) throw new Error('the body is no AdmissionReview with a request')
  const { refused, warnings, object } = await judge(request as AdmissionRequest<T>)
  // A patch that replaces the whole is as good as one of many steps.
  const patch = object && JSON.stringify(Object.entries(object).map(([field, value]) => ({ op: 'add', path: `/${field}`, value: value as unknown })))
  return {
    apiVersion: review.apiVersion,
    kind: review.kind,
    response: {
      uid: request.uid,
      allowed: refused === undefined,
      ...(refused === undefined ? {} : { status: { code: 403, message: refused } }),
      ...(warnings?.length ? { warnings: [...warnings] } : {}),
      ...(patch && refused === undefined ? { patchType: 'JSONPatch' as const, patch: Buffer.from(patch).toString('base64') } : {}),
    },
  }
}
