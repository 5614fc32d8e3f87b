import type { FeatureGates } from '../api/feature-gates.ts'
import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/logger.ts'
import type { Random } from '../base/random.ts'
import type { Store } from '../store/index.ts'
import type { AdmissionPlugin } from './admission/admission.ts'
import type { Auditor } from './audit/index.ts'
import type { Authenticator } from './auth/authenticate.ts'
import type { AuthorizerChoice } from './auth/authorization/index.ts'
import type { KeyPair } from './auth/certificates.ts'
import type { FairnessSettings } from './fairness/index.ts'
import type { Anonymous } from './http/api-handler.ts'
import type { Memory } from './memory/index.ts'
import type { ResourceSettings } from './resources/settings.ts'
import type { ClientAuthorities } from './upkeep/authentication-config.ts'
import type { ServiceSettings } from './upkeep/service-range.ts'

/** The dependencies and settings of an API server. */
export interface ApiServerOptions {
  store: Store
  gates: FeatureGates
  authenticator: Authenticator
  admission: readonly AdmissionPlugin[]
  /** The authorizers, in order. Default: every authenticated user may do everything. */
  authorization?: readonly AuthorizerChoice[]
  /** The anonymous requests that are allowed. Default: only those for health and version paths. */
  anonymous?: Anonymous
  clock: Clock
  random: Random
  logger: Logger
  /** The Coxswain release, reported by /version. */
  release: string
  /** Identifies the build. Objects that the same build stored with the same gates are served without being decoded. */
  build?: string
  /** The advertised address in discovery, such as `127.0.0.1:6443`. */
  address: string
  /** The client certificate for connections to kubelets. */
  nodeClient?: KeyPair
  /** The front proxy's client certificate, which identifies this server to extension API servers. */
  proxyClient?: KeyPair
  /** The PEM key that signs service account tokens. Without it, tokens are invalid after a restart. */
  tokenKey?: string
  /** The PEM certificate of the authority of the serving certificate: `ca.crt` of token Secrets. */
  rootCa?: string
  /** The authorities of client certificates, which are published to extension API servers. */
  clientAuthorities?: ClientAuthorities
  /** --service-account-issuer: the first one issues tokens, all are accepted. */
  tokenIssuers?: readonly string[]
  /** --enable-bootstrap-token-auth. Default: true. */
  acceptsBootstrapTokens?: boolean
  /** --service-account-jwks-uri: the key URL in the OpenID discovery document. */
  jwksUri?: string
  /** Flags that change validation and defaults of kinds. */
  settings?: ResourceSettings
  /**
   * The built program of the parser thread for long YAML and protobuf bodies. Default: bodies are parsed on the event
   * loop.
   */
  parserProgram?: string | undefined
  /** The ranges of cluster IPs and node ports. Default: the stored ones, else Kubernetes' defaults. */
  services?: ServiceSettings
  maxWatches?: number
  /** API priority and fairness for requests over sockets. */
  fairness?: FairnessSettings
  /** The memory limits. Requests that need much memory are rejected before a limit is reached. Default: no limit. */
  memory?: Memory
  /** Records audit events. The caller closes it after the server. */
  audit?: Auditor | undefined
  /** Freezes every written object, so that code that mutates a stored object throws. For tests: it is slow. */
  freezesObjects?: boolean
}
