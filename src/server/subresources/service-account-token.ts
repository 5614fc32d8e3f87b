import { badRequest, conflict, invalidObject, notFound } from '../../api/errors.ts'
import type { AuthenticationV1TokenRequest, BoundObjectReference, Node, Pod, ServiceAccount } from '../../api/generated/types.ts'
import type { Int64 } from '../../api/int64.ts'
import { timestamp } from '../../api/kinds/pod-prepare.ts'
import type { KubeObject } from '../../api/object.ts'
import { type FieldError, invalid } from '../../api/validation/field-error.ts'
import { Path } from '../../api/validation/path.ts'
import { type BoundTo, type ServiceAccountTokens } from '../auth/service-account-tokens.ts'
import type { Action, ActionContext } from './action.ts'

const usualSeconds = 3600
const leastSeconds = 600
const mostSeconds = 2 ** 32

const boundKinds = { Pod: 'pods', Secret: 'secrets', Node: 'nodes' } as const

function expirationErrors(seconds: Int64): FieldError[] {
  const at = Path.of('spec', 'expirationSeconds')
  if (seconds < leastSeconds) return [invalid(at, seconds, 'may not specify a duration less than 10 minutes')]
  return seconds > mostSeconds ? [invalid(at, seconds, 'may not specify a duration larger than 2^32 seconds')] : []
}

/** What a token is to be bound to, if it is there and may be: a pod has to run as the account. */
function boundTo({ objects, namespace, name }: ActionContext, ref: BoundObjectReference): { bound: BoundTo; pod: Pod | undefined } {
  const { kind = '', apiVersion = '', name: called = '', uid: wanted } = ref
  if (!Object.hasOwn(boundKinds, kind) || (apiVersion !== '' && apiVersion !== 'v1')) throw badRequest(`cannot bind token to object of type /${apiVersion}, Kind=${kind}`)
  const plural = boundKinds[kind as BoundTo['kind']]
  const found = objects.get<KubeObject>('', plural, kind === 'Node' ? '' : namespace, called)
  if (!found) throw notFound({ group: '', resource: plural }, called)
  const pod = kind === 'Pod' ? (found as Pod) : undefined
  if (pod && pod.spec.serviceAccountName !== name) throw badRequest(`cannot bind token for serviceaccount ${JSON.stringify(name)} to pod running with different serviceaccount name.`)
  const { uid = '' } = found.metadata
  if (wanted && wanted !== uid) {
    const why = `the UID in the bound object reference (${wanted}) does not match the UID in record. The object might have been deleted and then recreated`
    throw conflict({ group: '', resource: kind }, called, why)
  }
  return { bound: { kind: kind as BoundTo['kind'], name: called, uid }, pod }
}

/** POST serviceaccounts/NAME/token: a token with which somebody is that account, for a while. */
export const serviceAccountToken = (tokens: ServiceAccountTokens): Action => ({
  of: { group: '', plural: 'serviceaccounts', subresource: 'token' },
  verbs: ['create'],
  kind: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
  bodyType: 'AuthenticationV1TokenRequest',
  async run(ctx) {
    const { objects, namespace, name, rules } = ctx
    const request = ctx.body as unknown as AuthenticationV1TokenRequest
    const account = objects.get<ServiceAccount>('', 'serviceaccounts', namespace, name)
    if (!account) throw notFound({ group: '', resource: 'serviceaccounts' }, name)
    // What was not said may be null here.
    const { boundObjectRef } = request.spec ?? {}
    const audiences = request.spec?.audiences ?? []
    const expirationSeconds = request.spec?.expirationSeconds ?? usualSeconds
    const errors = expirationErrors(expirationSeconds)
    if (errors.length > 0) throw invalidObject({ group: 'authentication.k8s.io', kind: 'TokenRequest' }, '', errors)
    const { bound, pod } = boundObjectRef ? boundTo(ctx, boundObjectRef) : { bound: undefined, pod: undefined }
    const node = pod?.spec.nodeName ? objects.get<Node>('', 'nodes', '', pod.spec.nodeName) : undefined
    const wanted = audiences.length > 0 ? audiences : [...tokens.audiences]
    const { token, expiresAtMs } = tokens.issue({
      account, audiences: wanted, expirationSeconds: Number(expirationSeconds), bound,
      ...(node ? { node: { name: node.metadata.name!, uid: node.metadata.uid! } } : {}),
    })
    const object = {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { ...request.metadata, name, namespace, creationTimestamp: timestamp(rules.now) },
      spec: { audiences: wanted, expirationSeconds, boundObjectRef: boundObjectRef ?? null },
      status: { token, expirationTimestamp: timestamp(expiresAtMs) },
    }
    return { code: 201, object }
  },
})
