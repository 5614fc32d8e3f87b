import { get } from 'node:https'
import type { createLocalJWKSet } from 'jose'
import { readJson } from '../../../api/json/index.ts'
import type { Clock } from '../../../base/clock.ts'

/** Fetches a JSON document over HTTPS. */
export type FetchJson = (url: string) => Promise<unknown>

type KeySet = ReturnType<typeof createLocalJWKSet>

/** Keys are fetched again after this time, so that withdrawn keys expire. */
const maxAgeMs = 10 * 60_000
/** Minimum interval between fetches caused by unknown keys. */
const minIntervalMs = 10_000
const timeoutMs = 10_000
const maxBytes = 1024 * 1024

interface Fetched {
  keys: KeySet
  atMs: number
}

/** The public keys of one issuer, fetched on demand through OpenID discovery and cached. */
export class IssuerKeys {
  readonly #issuer: string
  readonly #discoveryUrl: string
  readonly #fetch: FetchJson
  readonly #clock: Clock
  #fetched: Fetched | undefined
  #attemptedAtMs = -Infinity
  #fetching: Promise<void> | undefined
  #problem = 'the keys have not been fetched yet'

  constructor(issuer: string, discoveryUrl: string | undefined, fetch: FetchJson, clock: Clock) {
    this.#issuer = issuer
    this.#discoveryUrl = discoveryUrl || `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`
    this.#fetch = fetch
    this.#clock = clock
  }

  /** Returns the keys, and fetches them again if they are old. Rejects until the first fetch has succeeded. */
  async current(): Promise<KeySet> {
    if (!this.#fetched || this.#clock.now() - this.#fetched.atMs >= maxAgeMs) await this.#refresh()
    if (!this.#fetched) throw new Error(`${this.#issuer}: ${this.#problem}`)
    return this.#fetched.keys
  }

  /**
   * Returns the keys after a token used one that is not in `known`. Returns the same keys if the last fetch is too
   * recent.
   */
  async newer(known: KeySet): Promise<KeySet> {
    if (this.#fetched?.keys === known) await this.#refresh()
    return this.#fetched?.keys ?? known
  }

  /** The error of the last fetch; undefined if it succeeded. */
  get problem(): string | undefined {
    return this.#fetched ? undefined : this.#problem
  }

  /** Concurrent callers share one request. A failure keeps the current keys. */
  #refresh(): Promise<void> {
    if (this.#fetching) return this.#fetching
    if (this.#clock.now() - this.#attemptedAtMs < minIntervalMs) return Promise.resolve()
    this.#attemptedAtMs = this.#clock.now()
    this.#fetching = this.#fetchKeys()
      .catch((e: unknown) => void (this.#problem = (e as Error).message))
      .finally(() => (this.#fetching = undefined))
    return this.#fetching
  }

  async #fetchKeys(): Promise<void> {
    const document = (await this.#fetch(this.#discoveryUrl)) as { issuer?: unknown; jwks_uri?: unknown } | null
    if (document?.issuer !== this.#issuer) {
      const named = JSON.stringify(document?.issuer)
      throw new Error(`discovery names issuer ${named}, expected ${JSON.stringify(this.#issuer)}`)
    }
    const { jwks_uri: uri } = document
    if (typeof uri !== 'string' || !uri.startsWith('https://')) throw new Error('discovery names no https jwks_uri')
    const jwks = await this.#fetch(uri)
    const { createLocalJWKSet } = await import('jose')
    const keys = createLocalJWKSet(jwks as Parameters<typeof createLocalJWKSet>[0])
    this.#fetched = { keys, atMs: this.#clock.now() }
  }
}

/** Fetches over HTTPS with these CA certificates in PEM, or the system's. Redirects are not followed. */
export const fetchOverTls =
  (ca: string | undefined): FetchJson =>
  (url) =>
    new Promise((resolve, reject) => {
      const options = { ...(ca ? { ca } : {}), timeout: timeoutMs, headers: { accept: 'application/json' } }
      const request = get(url, options, (response) => {
        const chunks: Buffer[] = []
        let size = 0
        response.on('data', (chunk: Buffer) => {
          size += chunk.length
          if (size > maxBytes) request.destroy(new Error(`${url}: the answer is longer than ${maxBytes} bytes`))
          else chunks.push(chunk)
        })
        response.on('error', reject)
        response.on('end', () => {
          if (response.statusCode !== 200) return reject(new Error(`${url}: answered ${response.statusCode}`))
          try {
            resolve(readJson(Buffer.concat(chunks).toString()))
          } catch {
            reject(new Error(`${url}: the answer is not JSON`))
          }
        })
      })
      request.on('timeout', () => request.destroy(new Error(`${url}: no answer in ${timeoutMs / 1000}s`)))
      request.on('error', reject)
    })
