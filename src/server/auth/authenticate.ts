import type { UserInfo } from '../objects/objects.ts'
import { anonymousUser } from './authenticators/anonymous.ts'
import { type ShownCertificate, userOfCertificate } from './authenticators/client-certificate.ts'
import type { FrontProxy } from './authenticators/front-proxy.ts'
import { StaticTokens } from './authenticators/static-tokens.ts'

export { parseTokenFile } from './authenticators/static-tokens.ts'

/** What a connection and a request show of who sent them. */
export interface Credentials {
  authorization: string | undefined
  /** The client certificate of the connection. */
  certificate: ShownCertificate | undefined
  /** Reads a header of the request, for the front proxy's. */
  header?(name: string): string | undefined
  /** The names of headers with a prefix, in lower case. */
  headersLike?(prefix: string): readonly string[]
}

/** The user of a token, and the wanted audiences that the token is meant for. */
export interface Identified {
  user: UserInfo
  audiences: readonly string[]
}

/** Either a value or a promise of it: authenticators that ask another server answer a promise. */
export type Maybe<T> = T | undefined | Promise<T | undefined>

/** Finds the user of a token that is meant for one of the audiences. Undefined for a token that it does not accept. */
export type TokenReader = (token: string, audiences: readonly string[]) => Maybe<Identified>

export interface AuthenticatorOptions {
  /** --requestheader-*: requests of this proxy name their user in headers. */
  frontProxy?: FrontProxy | undefined
  /** Asked after the server's own readers: OpenID Connect, then the webhook. */
  remote?: readonly TokenReader[]
  /** True for paths where a request without credentials is of system:anonymous. Default: all. */
  anonymousAt?(path: string): boolean
}

/**
 * The union of all authenticators, in Kubernetes' order: front proxy, client certificate, static tokens,
 * service-account tokens, bootstrap tokens, OpenID Connect, webhook, anonymous. The first that knows the user decides.
 */
export class Authenticator {
  readonly #static: StaticTokens
  readonly #options: AuthenticatorOptions
  /** The readers of tokens that the API server issues or stores itself. */
  #local: readonly TokenReader[] = []
  /** The names of this server in tokens. */
  #audiences: readonly string[] = []

  constructor(tokens: ReadonlyMap<string, UserInfo> = new Map(), options: AuthenticatorOptions = {}) {
    this.#static = new StaticTokens(tokens)
    this.#options = options
  }

  /** Replaces the static tokens, when their file has changed. */
  setStaticTokens(tokens: ReadonlyMap<string, UserInfo>): void {
    this.#static.replace(tokens)
  }

  /** Sets the readers of the API server's own tokens, and the audiences of this server. */
  setTokenReaders(readers: readonly TokenReader[], audiences: readonly string[]): void {
    this.#local = readers
    this.#audiences = audiences
  }

  /**
   * The user of a request; undefined is a 401. Invalid credentials are a 401 even where anonymous requests are served.
   * As in Kubernetes, an invalid certificate does not spoil a valid token.
   */
  authenticate(credentials: Credentials, path = ''): Maybe<UserInfo> {
    const { authorization, certificate } = credentials
    const proxied = certificate && this.#options.frontProxy?.userOf(credentials, certificate)
    if (proxied) return proxied
    const known = certificate && userOfCertificate(certificate)
    if (known) return known
    const token = bearerToken(authorization)
    if (token) return whenKnown(this.identify(token), (found) => found?.user)
    const isUnknown = certificate?.problem !== undefined || certificate?.isOnlyProxy
    if (hasBearerScheme(authorization) || isUnknown) return undefined
    return this.#options.anonymousAt?.(path) === false ? undefined : anonymousUser
  }

  /** The user of a token that is meant for one of the audiences, or for this server if no audiences are asked for. */
  identify(token: string, asked: readonly string[] = []): Maybe<Identified> {
    const wanted = asked.length > 0 ? asked : this.#audiences
    const user = this.#static.userOf(token)
    if (user) {
      // A static token is meant for this server, and for nobody else.
      const audiences = wanted.filter((audience) => this.#audiences.includes(audience))
      return audiences.length > 0 || wanted.length === 0 ? { user, audiences } : undefined
    }
    return firstOf([...this.#local, ...(this.#options.remote ?? [])], token, wanted)
  }
}

/** The first answer that is not undefined. It waits only for readers that answer a promise. */
function firstOf(readers: readonly TokenReader[], token: string, wanted: readonly string[], at = 0): Maybe<Identified> {
  for (let i = at; i < readers.length; i++) {
    const found = readers[i]!(token, wanted)
    if (found instanceof Promise) return found.then((one) => one ?? firstOf(readers, token, wanted, i + 1))
    if (found) return found
  }
  return undefined
}

/** Goes on with a value, at once if it is at hand. */
export function whenKnown<T, R>(value: Maybe<T>, fn: (value: T | undefined) => R): R | Promise<R> {
  return value instanceof Promise ? value.then(fn) : fn(value)
}

const hasBearerScheme = (authorization = ''): boolean => /^bearer(\s|$)/i.test(authorization.trim())

/** The token of `Authorization: Bearer TOKEN`; undefined for any other header. */
const bearerToken = (authorization: string | undefined): string | undefined =>
  authorization === undefined ? undefined : /^Bearer +(\S+)$/i.exec(authorization.trim())?.[1]
