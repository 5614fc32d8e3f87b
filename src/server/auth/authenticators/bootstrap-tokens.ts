import { createHash, timingSafeEqual } from 'node:crypto'
import type { Secret } from '../../../api/generated/types.ts'
import {
  bootstrapTokenName,
  bootstrapTokenNamespace,
  isBootstrapToken,
  secretText,
  tokenMsLeft,
} from '../../../api/kinds/bootstrap-token.ts'
import type { Clock } from '../../../base/clock.ts'
import type { ObjectReader, UserInfo } from '../../objects/objects.ts'
import type { Identified, TokenReader } from '../authenticate.ts'
import { authenticatedGroup } from './anonymous.ts'

const bootstrappers = 'system:bootstrappers'
const tokenForm = /^([a-z0-9]{6})\.([a-z0-9]{16})$/
const extraGroupForm = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/

const sha256 = (text: string) => createHash('sha256').update(text).digest()
const isSame = (a: string, b: string): boolean => timingSafeEqual(sha256(a), sha256(b))

/** The groups of the token's user; undefined if one does not begin with `system:bootstrappers:`. */
function groupsOf(secret: Secret): string[] | undefined {
  const text = secretText(secret, 'auth-extra-groups')
  const extra = text === '' ? [] : text.split(',')
  if (!extra.every((group) => extraGroupForm.test(group))) return undefined
  return [...new Set([bootstrappers, ...extra])].sort()
}

/** The user of a bootstrap token ID.SECRET, from the Secret bootstrap-token-ID in kube-system. */
function bootstrapUser(token: string, objects: ObjectReader, nowMs: number): UserInfo | undefined {
  const [, id, given] = tokenForm.exec(token) ?? []
  if (id === undefined || given === undefined) return undefined
  const secret = objects.get<Secret>('', 'secrets', bootstrapTokenNamespace, bootstrapTokenName(id))
  if (!secret || secret.metadata.deletionTimestamp || !isBootstrapToken(secret)) return undefined
  if (!isSame(secretText(secret, 'token-secret'), given) || secretText(secret, 'token-id') !== id) return undefined
  if (tokenMsLeft(secret, nowMs) === 0 || secretText(secret, 'usage-bootstrap-authentication') !== 'true')
    return undefined
  const groups = groupsOf(secret)
  return groups && { name: `system:bootstrap:${id}`, groups: [...groups, authenticatedGroup] }
}

/** Authenticates bootstrap tokens for this server's audiences. */
export const bootstrapTokens =
  (objects: ObjectReader, clock: Clock, own: readonly string[]): TokenReader =>
  (token, wanted): Identified | undefined => {
    const audiences = wanted.filter((audience) => own.includes(audience))
    const user = audiences.length > 0 ? bootstrapUser(token, objects, clock.now()) : undefined
    return user && { user, audiences }
  }
