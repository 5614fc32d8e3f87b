import { createHash, timingSafeEqual } from 'node:crypto'
import type { Secret, ServiceAccount } from '../../../api/generated/types.ts'
import type { Clock } from '../../../base/clock.ts'
import type { Logger } from '../../../base/logger.ts'
import type { Objects } from '../../objects/objects.ts'
import { secrets } from '../../resources/core/secrets.ts'
import type { Identified } from '../authenticate.ts'
import { type ServiceAccountTokens, userName } from '../service-account-tokens.ts'
import { authenticatedGroup } from './anonymous.ts'

const legacyIssuer = 'kubernetes/serviceaccount'
const lastUsedLabel = 'kubernetes.io/legacy-token-last-used'
const invalidSinceLabel = 'kubernetes.io/legacy-token-invalid-since'
const prefix = 'kubernetes.io/serviceaccount/'

/**
 * The claims of a token stored in a Secret. It has no audience and no expiry; it is valid while the Secret contains it.
 */
export const legacyClaims = ({ metadata }: ServiceAccount, secretName: string): object => ({
  iss: legacyIssuer,
  [`${prefix}namespace`]: metadata.namespace,
  [`${prefix}secret.name`]: secretName,
  [`${prefix}service-account.name`]: metadata.name,
  [`${prefix}service-account.uid`]: metadata.uid,
  sub: userName(metadata.namespace ?? '', metadata.name ?? ''),
})

interface Around {
  tokens: ServiceAccountTokens
  objects: Objects
  clock: Clock
  logger: Logger
}

const sha256 = (text: string) => createHash('sha256').update(text).digest()

/**
 * Authenticates tokens in Secrets of type kubernetes.io/service-account-token, and labels each Secret with the date of
 * last use.
 */
export class LegacyTokens {
  readonly #around: Around
  /** Keys of Secrets with a label update in flight. */
  readonly #labelling = new Set<string>()

  constructor(around: Around) {
    this.#around = around
  }

  identify(token: string, wanted: readonly string[]): Identified | undefined {
    const { tokens, objects } = this.#around
    const audiences = wanted.filter((audience) => tokens.audiences.includes(audience))
    const claims = audiences.length > 0 ? (tokens.claimsOf(token) as Record<string, unknown> | undefined) : undefined
    if (claims?.['iss'] !== legacyIssuer) return undefined
    const claim = (name: string) => (typeof claims[name] === 'string' ? claims[name] : '')
    const [namespace, name, uid] = [
      claim(`${prefix}namespace`),
      claim(`${prefix}service-account.name`),
      claim(`${prefix}service-account.uid`),
    ]
    if (!namespace || !name || !uid || claims['sub'] !== userName(namespace, name)) return undefined
    const secret = objects.get<Secret>('', 'secrets', namespace, claim(`${prefix}secret.name`))
    if (!secret || !isValid(secret, token)) return undefined
    const account = objects.get<ServiceAccount>('', 'serviceaccounts', namespace, name)?.metadata
    if (!account || account.deletionTimestamp || account.uid !== uid) return undefined
    this.#label(secret)
    const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, authenticatedGroup]
    return { user: { name: userName(namespace, name), uid, groups }, audiences }
  }

  /** Writes the date of last use once a day. The request does not wait for it. */
  #label({ metadata }: Secret): void {
    const { objects, clock, logger } = this.#around
    const today = new Date(clock.now()).toISOString().slice(0, 10)
    const key = `${metadata.namespace}/${metadata.name}`
    if (metadata.labels?.[lastUsedLabel] === today || this.#labelling.has(key)) return
    this.#labelling.add(key)
    objects
      .update<Secret>(secrets, metadata.namespace ?? '', metadata.name ?? '', (copy) => {
        copy.metadata.labels = { ...copy.metadata.labels, [lastUsedLabel]: today }
        return copy
      })
      .catch((error: unknown) => logger.warn('failed to record the last use of a token', { secret: key, error }))
      .finally(() => this.#labelling.delete(key))
  }
}

const isValid = ({ metadata, type, data }: Secret, token: string): boolean => {
  if (metadata.deletionTimestamp || type !== 'kubernetes.io/service-account-token') return false
  if (metadata.labels?.[invalidSinceLabel]) return false
  return timingSafeEqual(sha256(Buffer.from(data?.['token'] ?? '', 'base64').toString()), sha256(token))
}
