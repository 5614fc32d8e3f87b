import { createHmac } from 'node:crypto'
import type { ConfigMap, Secret } from '../../api/generated/types.ts'
import { isBootstrapToken, signingToken, tokenMsLeft } from '../../api/kinds/bootstrap-token.ts'
import { soonestOf } from '../../base/soonest.ts'
import { configmaps, secrets } from '../../client/index.ts'
import { type Step, defineController, indexing, watching } from '../kit/index.ts'

const namespace = 'kube-public'
const name = 'cluster-info'
const signaturePrefix = 'jws-kubeconfig-'
const byToken = 'bootstrap-tokens'

export interface Observed {
  clusterInfo: ConfigMap
  tokens: readonly Secret[]
  nowMs: number
}

export type SigningAction = { kind: 'Sign'; data: Record<string, string> }

const base64url = (text: string) => Buffer.from(text).toString('base64url')

/** A JWS of the content by HS256, without the content itself (RFC 7515, appendix F). */
export function detachedSignature(content: string, id: string, key: string): string {
  const header = base64url(JSON.stringify({ alg: 'HS256', kid: id }))
  return `${header}..${createHmac('sha256', key)
    .update(`${header}.${base64url(content)}`)
    .digest('base64url')}`
}

const isSignature = (key: string) => key.startsWith(signaturePrefix)

/** The data with one signature per token that may sign, and no other signatures. */
function signedData(data: Record<string, string>, tokens: readonly Secret[], nowMs: number): Record<string, string> {
  const content = data.kubeconfig
  if (content === undefined) return data
  const signed = Object.fromEntries(Object.entries(data).filter(([key]) => !isSignature(key)))
  for (const token of tokens) {
    const found = signingToken(token, nowMs)
    if (found) signed[signaturePrefix + found.id] = detachedSignature(content, found.id, found.key)
  }
  return signed
}

const isSame = (a: Record<string, string>, b: Record<string, string>): boolean =>
  Object.keys(a).length === Object.keys(b).length && Object.keys(a).every((key) => a[key] === b[key])

/** Signs the kubeconfig with every token that may sign, and again when the first of them expires. */
export function planSigning({ clusterInfo: { data = {} }, tokens, nowMs }: Observed): Step<SigningAction> {
  const signed = signedData(data, tokens, nowMs)
  const left = tokens.map((token) => tokenMsLeft(token, nowMs))
  const requeueAfterMs = soonestOf(left.filter((ms) => ms !== undefined && ms > 0))
  return {
    actions: isSame(data, signed) ? [] : [{ kind: 'Sign', data: signed }],
    ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }),
  }
}

/** Signs the ConfigMap cluster-info in kube-public, which tells joining machines whom to trust. */
export const bootstrapSigner = defineController<ConfigMap, Observed, SigningAction>({
  name: 'bootstrap-signer',
  owner: configmaps,
  sources: {
    looksAt: ({ metadata }) => metadata.name === name && metadata.namespace === namespace,
    watches: [watching(secrets, (secret) => (isBootstrapToken(secret) ? [`${namespace}/${name}`] : []))],
    indexes: [indexing(secrets, byToken, (secret) => (isBootstrapToken(secret) ? [''] : []))],
  },
  observe: ({ caches, nowMs }, clusterInfo) => ({ clusterInfo, tokens: caches.byIndex(secrets, byToken, ''), nowMs }),
  plan: planSigning,
  apply: {
    Sign: ({ writer, owner }, { data }) => writer.update(configmaps, { ...owner, data }),
  },
})
