import { readJson } from '../../../api/json/index.ts'
import type { Clock } from '../../../base/clock.ts'
import type { Logger } from '../../../base/logger.ts'
import type { Identified, TokenReader } from '../authenticate.ts'
import type { JwtClaims } from './claim-rules.ts'
import type { CheckedJwt } from './config.ts'
import { type FetchJson, IssuerKeys, fetchOverTls } from './issuer-keys.ts'

/** The asymmetric algorithms of RFC 7518. `none` and HMAC are never accepted. */
const asymmetricAlgorithms = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512']

/** Kubernetes' tolerance for `nbf`, because clocks differ. */
const notBeforeSkewSeconds = 300
/** A longer token is rejected. */
const maxLength = 64 * 1024

interface JwtOptions {
  clock: Clock
  logger: Logger
  /** This server's audiences; tokens of all issuers are valid for them. */
  own: readonly string[]
  /** Default: HTTPS, with the issuer's certificateAuthority. */
  fetch?(ca: string | undefined): FetchJson
}

interface Issuer extends CheckedJwt {
  keys: IssuerKeys
}

/** Authenticates tokens of OpenID Connect issuers. For tokens of other issuers it only decodes `iss`. */
export function jwtTokens(checked: readonly CheckedJwt[], options: JwtOptions): TokenReader {
  const { clock, logger, own, fetch = fetchOverTls } = options
  const issuers = new Map<string, Issuer>()
  for (const { config, rules } of checked) {
    const { url, discoveryURL, certificateAuthority } = config.issuer
    const keys = new IssuerKeys(url, discoveryURL, fetch(certificateAuthority || undefined), clock)
    issuers.set(url, { config, rules, keys })
  }
  return (token, wanted) => {
    const audiences = wanted.filter((audience) => own.includes(audience))
    const issuer = audiences.length > 0 ? issuers.get(issuerOf(token) ?? '') : undefined
    if (!issuer) return undefined
    return read(issuer, token, audiences, clock).catch((e: unknown) => {
      logger.info('a token was rejected', { issuer: issuer.config.issuer.url, reason: (e as Error).message })
      return undefined
    })
  }
}

/** The unverified `iss` claim of a token; undefined if it is not a JWT. */
function issuerOf(token: string): string | undefined {
  const parts = token.length > maxLength ? [] : token.split('.')
  if (parts.length !== 3 || parts[2] === '') return undefined
  try {
    const claims = readJson(Buffer.from(parts[1]!, 'base64url').toString()) as { iss?: unknown } | null
    return typeof claims?.iss === 'string' ? claims.iss : undefined
  } catch {
    // The payload is not JSON, so it is not a JWT.
    return undefined
  }
}

async function read(issuer: Issuer, token: string, audiences: readonly string[], clock: Clock): Promise<Identified> {
  const { config, rules, keys } = issuer
  const claims = await verified(token, keys, config.algorithms ?? asymmetricAlgorithms)
  const { exp, nbf, iss } = claims
  const meant = [claims['aud'] ?? []].flat()
  const nowSeconds = clock.now() / 1000
  if (iss !== config.issuer.url) throw new Error('the issuer is another one')
  if (typeof exp !== 'number' || nowSeconds >= exp) throw new Error('the token has expired')
  if (nbf !== undefined && (typeof nbf !== 'number' || nowSeconds < nbf - notBeforeSkewSeconds)) {
    throw new Error('the token is not valid yet')
  }
  const isMeant = config.issuer.audiences.some((audience) => meant.includes(audience))
  if (!isMeant) throw new Error('the token is for another audience')
  return { user: rules.userOf(claims), audiences }
}

/** Verifies the signature and returns the claims. Fetches the issuer's keys once if the key is unknown. */
async function verified(token: string, keys: IssuerKeys, algorithms: readonly string[]): Promise<JwtClaims> {
  const { compactVerify, errors } = await import('jose')
  const known = await keys.current()
  const attempt = (from: typeof known) => compactVerify(token, from, { algorithms: [...algorithms] })
  const { JWKSNoMatchingKey, JWSSignatureVerificationFailed } = errors
  const isNewKey = (e: unknown) => e instanceof JWKSNoMatchingKey || e instanceof JWSSignatureVerificationFailed
  const { payload } = await attempt(known).catch(async (e: unknown) => {
    const newer = isNewKey(e) ? await keys.newer(known) : known
    if (newer === known) throw e
    return attempt(newer)
  })
  return readJson(Buffer.from(payload).toString()) as JwtClaims
}
