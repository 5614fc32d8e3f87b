import { badRequest, conflict, invalidObject, notFound } from '../../api/errors.ts'
import type {
  AuthenticationV1TokenRequest,
  BoundObjectReference,
  Node,
  Pod,
  ServiceAccount,
} from '../../api/generated/types.ts'
import type { Int64 } from '../../api/numbers/int64.ts'
import { timestamp } from '../../api/object.ts'
import type { KubeObject } from '../../api/object.ts'
import { type FieldError, invalid } from '../../api/validation/field-error.ts'
import { Path } from '../../api/validation/path.ts'
import { type BoundTo, type ServiceAccountTokens } from '../auth/service-account-tokens.ts'
import type { ActionContext } from '../registry/resource.ts'
import type { Action } from './action.ts'

const usualSeconds = 3600
const leastSeconds = 600
const mostSeconds = 2 ** 32

const boundKinds = { Pod: 'pods', Secret: 'secrets', Node: 'nodes' } as const

function expirationErrors(seconds: Int64): FieldError[] {
  const at = Path.of('spec', 'expirationSeconds')
  if (seconds < leastSeconds) return [invalid(at, seconds, 'may not specify a duration less than 10 minutes')]
  return seconds > mostSeconds ? [invalid(at, seconds, 'may not specify a duration larger than 2^32 seconds')] : []
}

/** The object that a token is bound to. It must exist, and a pod must run as the account. */
function boundTo(
  { objects, namespace, name }: ActionContext,
  ref: BoundObjectReference,
): { bound: BoundTo; pod: Pod | undefined } {
  const { kind = '', apiVersion = '', name: called = '', uid: wanted } = ref
  if (!Object.hasOwn(boundKinds, kind) || (apiVersion !== '' && apiVersion !== 'v1'))
    throw badRequest(`cannot bind token to object of type /${apiVersion}, Kind=${kind}`)
  const plural = boundKinds[kind as BoundTo['kind']]
  const found = objects.get<KubeObject>('', plural, kind === 'Node' ? '' : namespace, called)
  if (!found) throw notFound({ group: '', resource: plural }, called)
  const pod = kind === 'Pod' ? (found as Pod) : undefined
  if (pod && pod.spec.serviceAccountName !== name)
    throw badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(name)} to pod running with different serviceaccount name.`,
    )
  const { uid = '' } = found.metadata
  if (wanted && wanted !== uid) {
    const why = `the UID in the bound object reference (${wanted}) does not match the UID in record. The object might have been deleted and then recreated`
    throw conflict({ group: '', resource: kind }, called, why)
  }
  return { bound: { kind: kind as BoundTo['kind'], name: called, uid }, pod }
}

const requestKind = { group: 'authentication.k8s.io', kind: 'TokenRequest' }

/** A name or namespace in the body must match the path. */
function checkAccountNamed({ namespace, name }: ActionContext, { metadata }: AuthenticationV1TokenRequest): void {
  for (const [field, meant] of [
    ['name', name],
    ['namespace', namespace],
  ] as const) {
    const said = metadata?.[field]
    if (!said || said === meant) continue
    const error = invalid(Path.of('metadata', field), said, `must match the service account ${field} if specified`)
    throw invalidObject(requestKind, name, [error])
  }
}

/** A uid in the body must match, because a recreated account is a different one. */
function checkUid(account: ServiceAccount, { metadata }: AuthenticationV1TokenRequest): void {
  const { name = '', uid = '' } = account.metadata
  if (!metadata?.uid || metadata.uid === uid) return
  const why = `the UID in the token request (${metadata.uid}) does not match the UID of the service account (${uid})`
  throw conflict({ group: requestKind.group, resource: requestKind.kind }, name, why)
}

/** POST serviceaccounts/NAME/token: issues a token. */
export const serviceAccountToken = (tokens: ServiceAccountTokens): Action => ({
  of: { group: '', plural: 'serviceaccounts', subresource: 'token' },
  verbs: ['create'],
  kind: { ...requestKind, version: 'v1' },
  bodyType: 'AuthenticationV1TokenRequest',
  async run(ctx) {
    const { objects, namespace, name, rules } = ctx
    const request = ctx.body as unknown as AuthenticationV1TokenRequest
    checkAccountNamed(ctx, request)
    const account = objects.get<ServiceAccount>('', 'serviceaccounts', namespace, name)
    if (!account) throw notFound({ group: '', resource: 'serviceaccounts' }, name)
    checkUid(account, request)
    // Absent fields may be null here.
    const { boundObjectRef } = request.spec ?? {}
    const audiences = request.spec?.audiences ?? []
    const expirationSeconds = request.spec?.expirationSeconds ?? usualSeconds
    const errors = expirationErrors(expirationSeconds)
    if (errors.length > 0) throw invalidObject(requestKind, '', errors)
    const { bound, pod } = boundObjectRef ? boundTo(ctx, boundObjectRef) : { bound: undefined, pod: undefined }
    const node = pod?.spec.nodeName ? objects.get<Node>('', 'nodes', '', pod.spec.nodeName) : undefined
    const wanted = audiences.length > 0 ? audiences : [...tokens.audiences]
    const { token, expiresAtMs } = tokens.issue({
      account,
      audiences: wanted,
      expirationSeconds: Number(expirationSeconds),
      bound,
      ...(node ? { node: { name: node.metadata.name!, uid: node.metadata.uid! } } : {}),
    })
    const { uid } = account.metadata
    const object = {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { ...request.metadata, name, namespace, uid, creationTimestamp: timestamp(rules.now) },
      spec: { audiences: wanted, expirationSeconds, boundObjectRef: boundObjectRef ?? null },
      status: { token, expirationTimestamp: timestamp(expiresAtMs) },
    }
    return { code: 201, object }
  },
})
