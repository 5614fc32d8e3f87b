import type { Secret } from '../generated/types.ts'

/** Bootstrap tokens are Secrets of this type in this namespace. Their names contain the token id. */
const bootstrapTokenType = 'bootstrap.kubernetes.io/token'
export const bootstrapTokenNamespace = 'kube-system'
export const bootstrapTokenName = (id: string): string => `bootstrap-token-${id}`

const nameForm = /^bootstrap-token-([a-z0-9]{6})$/
const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/

export const isBootstrapToken = ({ metadata, type }: Secret): boolean =>
  type === bootstrapTokenType && metadata.namespace === bootstrapTokenNamespace

/** The decoded value of a key of a Secret; empty if it is absent. */
export const secretText = ({ data }: Pick<Secret, 'data'>, key: string): string =>
  Buffer.from(data?.[key] ?? '', 'base64').toString()

/** The remaining lifetime of a token: none without an expiration; 0 if it has expired or the expiration is invalid. */
export function tokenMsLeft(secret: Pick<Secret, 'data'>, nowMs: number): number | undefined {
  const text = secretText(secret, 'expiration')
  if (text === '') return undefined
  const atMs = timeForm.test(text) ? Date.parse(text) : Number.NaN
  return atMs > nowMs ? atMs - nowMs : 0
}

/** The id and secret of a token that currently may sign `cluster-info`. */
export function signingToken(secret: Secret, nowMs: number): { id: string; key: string } | undefined {
  const id = secretText(secret, 'token-id')
  const key = secretText(secret, 'token-secret')
  if (nameForm.exec(secret.metadata.name ?? '')?.[1] !== id || key === '') return undefined
  const isUsable = secretText(secret, 'usage-bootstrap-signing') === 'true' && tokenMsLeft(secret, nowMs) !== 0
  return isUsable ? { id, key } : undefined
}
