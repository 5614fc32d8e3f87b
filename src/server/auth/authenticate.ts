import type { UserInfo } from '../objects/objects.ts'
import { anonymousUser } from './authenticators/anonymous.ts'
import { type ShownCertificate, userOfCertificate } from './authenticators/client-certificate.ts'
import type { FrontProxy } from './authenticators/front-proxy.ts'
import { StaticTokens } from './authenticators/static-tokens.ts'

export { parseTokenFile } from './authenticators/static-tokens.ts'

/** The credentials of a connection and its request. */
export interface Credentials {
  authorization: string | undefined
  /** The client certificate of the connection. */
  certificate: ShownCertificate | undefined
  /** Returns a request header; used for front-proxy authentication. */
  header?(name: string): string | undefined
  /** The names of headers with a prefix, in lower case. */
  headersLike?(prefix: string): readonly string[]
}

/** The user of a token, and those of the requested audiences that the token is valid for. */
export interface Identified {
  user: UserInfo
  audiences: readonly string[]
}

/** A value, or a promise of it from authenticators that call another server. */
export type Maybe<T> = T | undefined | Promise<T | undefined>

/** Authenticates a token for one of the audiences. Returns undefined for a token that it does not accept. */
export type TokenReader = (token: string, audiences: readonly string[]) => Maybe<Identified>

interface AuthenticatorOptions {
  /** --requestheader-*: a proxy that names the user in headers. */
  frontProxy?: FrontProxy | undefined
  /** Called after the local readers: OpenID Connect, then the webhook. */
  remote?: readonly TokenReader[]
  /** True for paths on which a request without credentials is system:anonymous. Default: all paths. */
  anonymousAt?(path: string): boolean
}

/**
 * The union of all authenticators, in Kubernetes' order: front proxy, client certificate, static tokens, service
 * account tokens, bootstrap tokens, OpenID Connect, webhook, anonymous. The first that identifies the user wins.
 */
export class Authenticator {
  readonly #static: StaticTokens
  readonly #options: AuthenticatorOptions
  /** Readers of tokens that the API server issues or stores itself. */
  #local: readonly TokenReader[] = []
  /** The audiences of this API server. */
  #audiences: readonly string[] = []

  constructor(tokens: ReadonlyMap<string, UserInfo> = new Map(), options: AuthenticatorOptions = {}) {
    this.#static = new StaticTokens(tokens)
    this.#options = options
  }

  /** Replaces the static tokens after their file has changed. */
  setStaticTokens(tokens: ReadonlyMap<string, UserInfo>): void {
    this.#static.replace(tokens)
  }

  /** Sets the local token readers and the audiences of this server. */
  setTokenReaders(readers: readonly TokenReader[], audiences: readonly string[]): void {
    this.#local = readers
    this.#audiences = audiences
  }

  /**
   * Returns the user of a request, or undefined for a 401. Invalid credentials are a 401 even on paths that allow
   * anonymous access. As in Kubernetes, a valid token is accepted next to an invalid certificate.
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

  /** Returns the user of a token valid for one of the audiences. Default: this server's audiences. */
  identify(token: string, asked: readonly string[] = []): Maybe<Identified> {
    const wanted = asked.length > 0 ? asked : this.#audiences
    const user = this.#static.userOf(token)
    if (user) {
      // A static token is valid only for this server's audiences.
      const audiences = wanted.filter((audience) => this.#audiences.includes(audience))
      return audiences.length > 0 || wanted.length === 0 ? { user, audiences } : undefined
    }
    return firstOf([...this.#local, ...(this.#options.remote ?? [])], token, wanted)
  }
}

/** Returns the first defined result. Waits only for readers that return a promise. */
function firstOf(readers: readonly TokenReader[], token: string, wanted: readonly string[], at = 0): Maybe<Identified> {
  for (let i = at; i < readers.length; i++) {
    const found = readers[i]!(token, wanted)
    if (found instanceof Promise) return found.then((one) => one ?? firstOf(readers, token, wanted, i + 1))
    if (found) return found
  }
  return undefined
}

/** Calls `fn` with a value: synchronously if the value is not a promise. */
export function whenKnown<T, R>(value: Maybe<T>, fn: (value: T | undefined) => R): R | Promise<R> {
  return value instanceof Promise ? value.then(fn) : fn(value)
}

const hasBearerScheme = (authorization = ''): boolean => /^bearer(\s|$)/i.test(authorization.trim())

/** The token of `Authorization: Bearer TOKEN`; undefined for any other header. */
const bearerToken = (authorization: string | undefined): string | undefined =>
  authorization === undefined ? undefined : /^Bearer +(\S+)$/i.exec(authorization.trim())?.[1]
