import {
  type KeyObject,
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  verify,
} from 'node:crypto'
import type { ServiceAccount } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { ObjectReader, UserInfo } from '../objects/objects.ts'
import type { Identified } from './authenticate.ts'

/** The default of --service-account-issuer, as in Kubernetes. */
export const defaultIssuer = 'https://kubernetes.default.svc.cluster.local'

/** The object that a token is bound to. The token is valid only while that object exists. */
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
  /** The node of the pod that the token is bound to. */
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
/** As in Kubernetes, a token is accepted up to a minute before its `nbf`, because clocks differ. */
const skewSeconds = 60
/**
 * As in Kubernetes, a token stays valid for a minute after its object's deletionTimestamp, or until the object is gone.
 */
const deletionGraceMs = 60_000

/** Issues and verifies service account tokens. */
export class ServiceAccountTokens {
  readonly #key: KeyObject
  readonly #publicKey: KeyObject
  readonly #keyId: string
  readonly #clock: Clock
  readonly #random: Random
  /** The first issuer signs new tokens. Tokens of all are accepted, and all are audiences of this server. */
  readonly #issuers: readonly string[]
  /** Claims of verified tokens, so that each signature is checked once. */
  readonly #known = new Map<string, object>()

  /** `key` is in PEM. Without it a new key is generated, and tokens do not outlive the process. */
  constructor(clock: Clock, random: Random, key?: string, issuers: readonly string[] = [defaultIssuer]) {
    this.#issuers = issuers
    this.#key =
      key === undefined ? generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey : createPrivateKey(key)
    this.#publicKey = createPublicKey(this.#key)
    this.#keyId = createHash('sha256')
      .update(this.#publicKey.export({ type: 'spki', format: 'der' }))
      .digest('base64url')
    this.#clock = clock
    this.#random = random
  }

  get issuer(): string {
    return this.#issuers[0]!
  }

  /** The default audiences of new tokens: those of the API server. */
  get audiences(): readonly string[] {
    return this.#issuers
  }

  /** The public key as a JWK (RFC 7517). */
  publicJwk(): object {
    const { kty, crv, x, y } = this.#publicKey.export({ format: 'jwk' })
    return { use: 'sig', kty, kid: this.#keyId, crv, alg: 'ES256', x, y }
  }

  issue({ account, audiences, expirationSeconds, bound, node }: TokenWish): { token: string; expiresAtMs: number } {
    const { namespace = '', name = '', uid = '' } = account.metadata
    const now = Math.floor(this.#clock.now() / 1000)
    const exp = now + expirationSeconds
    const claims: Claims = {
      aud: [...audiences],
      exp,
      iat: now,
      nbf: now,
      iss: this.issuer,
      jti: this.#random.uuid(),
      sub: userName(namespace, name),
      'kubernetes.io': {
        namespace,
        serviceaccount: { name, uid },
        ...(bound ? { [bound.kind.toLowerCase()]: { name: bound.name, uid: bound.uid } } : {}),
        ...(node ? { node } : {}),
      },
    }
    return { token: this.sign(claims), expiresAtMs: exp * 1000 }
  }

  /** Signs a token with these claims. */
  sign(claims: object): string {
    const text = `${encode({ alg: 'ES256', kid: this.#keyId })}.${encode(claims)}`
    const signature = sign('sha256', Buffer.from(text), { key: this.#key, dsaEncoding: 'ieee-p1363' })
    return `${text}.${signature.toString('base64url')}`
  }

  /**
   * Returns the user of a token and the audiences it is valid for. Undefined if the token is not this server's, is no
   * longer valid, or matches no audience.
   */
  identify(token: string, objects: ObjectReader, wanted: readonly string[]): Identified | undefined {
    const user = this.userOf(token, objects, wanted)
    const meant = user && (this.claimsOf(token) as Claims).aud
    return user && meant && { user, audiences: wanted.filter((audience) => meant.includes(audience)) }
  }

  /** Returns the user of a token, or undefined as `identify` does. */
  userOf(token: string, objects: ObjectReader, audiences: readonly string[] = this.#issuers): UserInfo | undefined {
    const claims = this.claimsOf(token)
    const now = this.#clock.now() / 1000
    if (!isBound(claims) || now < claims.nbf - skewSeconds || now >= claims.exp) return undefined
    if (!this.#issuers.includes(claims.iss) || !claims.aud.some((audience) => audiences.includes(audience)))
      return undefined
    const { namespace, serviceaccount, pod, secret, node } = claims['kubernetes.io']
    const exists = (plural: string, inNamespace: string, { name, uid }: Named) => {
      const metadata = objects.get<KubeObject>('', plural, inNamespace, name)?.metadata
      if (metadata?.uid !== uid) return false
      const deletedMs = metadata.deletionTimestamp ? Date.parse(metadata.deletionTimestamp) : Infinity
      return deletedMs >= this.#clock.now() - deletionGraceMs
    }
    if (!exists('serviceaccounts', namespace, serviceaccount)) return undefined
    if ((pod && !exists('pods', namespace, pod)) || (secret && !exists('secrets', namespace, secret))) return undefined
    // In a pod's token the node is informational. A token without a pod is bound to the node itself.
    if (node && !pod && !exists('nodes', '', node)) return undefined
    return {
      name: claims.sub,
      uid: serviceaccount.uid,
      groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
      extra: {
        'authentication.kubernetes.io/credential-id': [`JTI=${claims.jti}`],
        ...(pod
          ? { 'authentication.kubernetes.io/pod-name': [pod.name], 'authentication.kubernetes.io/pod-uid': [pod.uid] }
          : {}),
        ...(node
          ? {
              'authentication.kubernetes.io/node-name': [node.name],
              'authentication.kubernetes.io/node-uid': [node.uid],
            }
          : {}),
      },
    }
  }

  /** Returns the claims of a token that this server signed; undefined for any other. */
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

/** Decodes one part of a token; undefined if it is not a JSON object. */
function readPart(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    // Tokens of other issuers may have any content.
    return undefined
  }
}

/** Checked before the signature: the server signs with one algorithm and accepts no other. */
const algorithmOf = (head: string): unknown => readPart(head)?.['alg']

const isBound = (claims: object | undefined): claims is Claims => claims !== undefined && 'kubernetes.io' in claims

/** The user name of a service account. */
export const userName = (namespace: string, name: string): string => `system:serviceaccount:${namespace}:${name}`

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
