import { type DocumentAnswer, type DocumentRequest, webService } from '../http/answer/document.ts'
import type { ServiceAccountTokens } from './service-account-tokens.ts'

const configurationPath = '/.well-known/openid-configuration'
const keysPath = '/openid/v1/jwks'

/** As in Kubernetes, clients may cache both documents for an hour. */
const caching = 'public, max-age=3600'

/** OpenID discovery for service account tokens: the issuer, and the public keys that verify its tokens. */
export class OpenIdDiscovery {
  readonly #tokens: ServiceAccountTokens
  readonly #jwksUri: string | undefined
  #address: string

  /** Without `jwksUri` (--service-account-jwks-uri) the keys are served at `address`, which is `host:port`. */
  constructor(tokens: ServiceAccountTokens, address: string, jwksUri?: string) {
    this.#tokens = tokens
    this.#address = address
    this.#jwksUri = jwksUri
  }

  /** Sets the server's address once its port is known. */
  serveAt(address: string): void {
    this.#address = address
  }

  /** Returns undefined for other paths. OpenID requires an https issuer; with any other there are no documents. */
  answer(request: DocumentRequest): DocumentAnswer | undefined {
    if (!this.#tokens.issuer.startsWith('https://')) return undefined
    return (
      webService(configurationPath, request, () => cached('application/json', this.#configuration())) ??
      webService(keysPath, request, () => cached('application/jwk-set+json', { keys: [this.#tokens.publicJwk()] }))
    )
  }

  #configuration(): object {
    return {
      issuer: this.#tokens.issuer,
      jwks_uri: this.#jwksUri ?? `https://${this.#address}${keysPath}`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
    }
  }
}

const cached = (type: string, value: object): DocumentAnswer => ({
  code: 200,
  headers: { 'content-type': type, 'cache-control': caching },
  body: Buffer.from(JSON.stringify(value)),
})
