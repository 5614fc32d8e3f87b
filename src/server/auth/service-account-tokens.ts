import { type KeyObject, createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto'
import type { ServiceAccount } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { ObjectReader, UserInfo } from '../objects/objects.ts'
import type { Identified } from './authenticate.ts'

/** The issuer unless --service-account-issuer names another: Kubernetes' own name for itself. */
export const defaultIssuer = 'https://kubernetes.default.svc.cluster.local'

/** Tokens count only as long as what they are bound to exists. */
export interface BoundTo {
  kind: 'Pod' | 'Secret' | 'Node'
  name: string
  uid: string
}

export interface TokenWish {
  account: ServiceAccount
  audiences: readonly string[]
  expirationSeconds: number
  bound: BoundTo | undefined
  /** Where a pod that it is bound to runs. */
  node?: { name: string; uid: string }
}

interface Named {
  name: string
  uid: string
}

interface Claims {
  aud: string[]
  exp: number
  iat: number
  nbf: number
  iss: string
  jti: string
  sub: string
  'kubernetes.io': { namespace: string; serviceaccount: Named; pod?: Named; secret?: Named; node?: Named }
}

const mostKnown = 1000
/** Clocks of servers differ: as in Kubernetes, a token counts up to a minute before its time. */
const skewSeconds = 60
/** As in Kubernetes, a token counts for a minute after the deletion of its object was asked for, or until it is gone. */
const deletionGraceMs = 60_000

/** Issues tokens of service accounts, and tells whose they are. */
export class ServiceAccountTokens {
  readonly #key: KeyObject
  readonly #publicKey: KeyObject
  readonly #keyId: string
  readonly #clock: Clock
  readonly #random: Random
  /** The first issues tokens. Tokens of all of them are accepted, and all are audiences of this server. */
  readonly #issuers: readonly string[]
  /** What was found to be signed by us; its signature is not checked again. */
  readonly #known = new Map<string, object>()

  /** The key is in PEM; without one, tokens do not outlive the server. */
  constructor(clock: Clock, random: Random, key?: string, issuers: readonly string[] = [defaultIssuer]) {
    this.#issuers = issuers
    this.#key = key === undefined ? generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey : createPrivateKey(key)
    this.#publicKey = createPublicKey(this.#key)
    this.#keyId = createHash('sha256').update(this.#publicKey.export({ type: 'spki', format: 'der' })).digest('base64url')
    this.#clock = clock
    this.#random = random
  }

  get issuer(): string {
    return this.#issuers[0]!
  }

  /** The audiences of a token whose request names none: the API server's own. */
  get audiences(): readonly string[] {
    return this.#issuers
  }

  /** The public key that verifies tokens, in the form of RFC 7517. */
  publicJwk(): object {
    const { kty, crv, x, y } = this.#publicKey.export({ format: 'jwk' })
    return { use: 'sig', kty, kid: this.#keyId, crv, alg: 'ES256', x, y }
  }

  issue({ account, audiences, expirationSeconds, bound, node }: TokenWish): { token: string; expiresAtMs: number } {
    const { namespace = '', name = '', uid = '' } = account.metadata
    const now = Math.floor(this.#clock.now() / 1000)
    const exp = now + expirationSeconds
    const claims: Claims = {
      aud: [...audiences], exp, iat: now, nbf: now, iss: this.issuer, jti: this.#random.uuid(), sub: userName(namespace, name),
      'kubernetes.io': {
        namespace,
        serviceaccount: { name, uid },
        ...(bound ? { [bound.kind.toLowerCase()]: { name: bound.name, uid: bound.uid } } : {}),
        ...(node ? { node } : {}),
      },
    }
    return { token: this.sign(claims), expiresAtMs: exp * 1000 }
  }

  /** A token with these claims. */
  sign(claims: object): string {
    const text = `${encode({ alg: 'ES256', kid: this.#keyId })}.${encode(claims)}`
    const signature = sign('sha256', Buffer.from(text), { key: this.#key, dsaEncoding: 'ieee-p1363' })
    return `${text}.${signature.toString('base64url')}`
  }

  /** Whose token this is, and for which of the audiences; undefined for one that is not ours, counts no more or is meant for none of them. */
  identify(token: string, objects: ObjectReader, wanted: readonly string[]): Identified | undefined {
    const user = this.userOf(token, objects, wanted)
    const meant = user && (this.claimsOf(token) as Claims).aud
    return user && meant && { user, audiences: wanted.filter((audience) => meant.includes(audience)) }
  }

  /** Whose token this is; undefined for one that is not ours, counts no more or is meant for none of the audiences. */
  userOf(token: string, objects: ObjectReader, audiences: readonly string[] = this.#issuers): UserInfo | undefined {
    const claims = this.claimsOf(token)
    const now = this.#clock.now() / 1000
    if (!isBound(claims) || now < claims.nbf - skewSeconds || now >= claims.exp) return undefined
    if (!this.#issuers.includes(claims.iss) || !claims.aud.some((audience) => audiences.includes(audience))) return undefined
    const { namespace, serviceaccount, pod, secret, node } = claims['kubernetes.io']
    const exists = (plural: string, inNamespace: string, { name, uid }: Named) => {
      const metadata = objects.get<KubeObject>('', plural, inNamespace, name)?.metadata
      if (metadata?.uid !== uid) return false
      const deletedMs = metadata.deletionTimestamp ? Date.parse(metadata.deletionTimestamp) : Infinity
      return deletedMs >= this.#clock.now() - deletionGraceMs
    }
    if (!exists('serviceaccounts', namespace, serviceaccount)) return undefined
    if ((pod && !exists('pods', namespace, pod)) || (secret && !exists('secrets', namespace, secret))) return undefined
    // The token of a pod only tells the node. A token without a pod is bound to the node itself.
    if (node && !pod && !exists('nodes', '', node)) return undefined
    return {
      name: claims.sub,
      uid: serviceaccount.uid,
      groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
      extra: {
        'authentication.kubernetes.io/credential-id': [`JTI=${claims.jti}`],
        ...(pod ? { 'authentication.kubernetes.io/pod-name': [pod.name], 'authentication.kubernetes.io/pod-uid': [pod.uid] } : {}),
        ...(node ? { 'authentication.kubernetes.io/node-name': [node.name], 'authentication.kubernetes.io/node-uid': [node.uid] } : {}),
      },
    }
  }

  /** The claims of a token that this server has signed; undefined for any other. */
  claimsOf(token: string): object | undefined {
    const known = this.#known.get(token)
    if (known) return known
    const [head = '', body = '', signature = '', ...more] = token.split('.')
    if (more.length > 0 || signature === '' || algorithmOf(head) !== 'ES256') return undefined
    const key = { key: this.#publicKey, dsaEncoding: 'ieee-p1363' } as const
    if (!verify('sha256', Buffer.from(`${head}.${body}`), key, Buffer.from(signature, 'base64url'))) return undefined
    const claims = readPart(body)
    if (!claims) return undefined
    if (this.#known.size >= mostKnown) this.#known.delete(this.#known.keys().next().value!)
    this.#known.set(token, claims)
    return claims
  }
}

/** One part of a token as an object; undefined if it is none. */
function readPart(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    // A token of somebody else may hold anything.
    return undefined
  }
}

/** The header is judged before the signature: the server signs with one algorithm, and accepts no other. */
const algorithmOf = (head: string): unknown => readPart(head)?.['alg']

const isBound = (claims: object | undefined): claims is Claims => claims !== undefined && 'kubernetes.io' in claims

/** What the API calls a service account. */
export const userName = (namespace: string, name: string): string => `system:serviceaccount:${namespace}:${name}`

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
