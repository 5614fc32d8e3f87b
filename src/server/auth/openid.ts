import type { DocumentAnswer, DocumentRequest } from '../http/document.ts'
import { webService } from '../http/web-service.ts'
import type { ServiceAccountTokens } from './service-account-tokens.ts'

const configurationPath = '/.well-known/openid-configuration'
const keysPath = '/openid/v1/jwks'

/** Kubernetes lets clients keep both documents for an hour. */
const caching = 'public, max-age=3600'

/** OpenID discovery of service-account tokens: who issues them, and the public keys that verify them. */
export class OpenIdDiscovery {
  readonly #tokens: ServiceAccountTokens
  readonly #jwksUri: string | undefined
  #address: string

  /** Without a `jwksUri` (--service-account-jwks-uri) the keys are found at the server's own address, `host:port`. */
  constructor(tokens: ServiceAccountTokens, address: string, jwksUri?: string) {
    this.#tokens = tokens
    this.#address = address
    this.#jwksUri = jwksUri
  }

  /** Where clients reach the server, once its port is known. */
  serveAt(address: string): void {
    this.#address = address
  }

  /** Undefined where the path is neither document's. OpenID needs an https issuer: with any other there are no documents. */
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
