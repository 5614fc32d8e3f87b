import { parseYaml } from '../../api/json/index.ts'
import { systemClock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import { HttpTransport, loadAccess } from '../../client/index.ts'
import {
  Authenticator,
  FrontProxy,
  type FrontProxyConfig,
  type JwtConfig,
  type TokenReader,
  anonymousRule,
  cachedTokens,
  checkAuthenticationConfig,
  defaultIssuer,
  jwtTokens,
  parseTokenFile,
  readAuthenticationConfig,
  webhookTokens,
} from '../../server/index.ts'
import { readCertificates, readFlagFile } from './flag-files.ts'
import { type FollowedFile, followed } from './followed-files.ts'

/** The --oidc-* flags: one issuer without a configuration file. */
export interface OidcFlags {
  issuerUrl: string
  clientId: string
  usernameClaim: string
  /** Default: `ISSUER#`, or none for the claim `email`. `-` means none. */
  usernamePrefix?: string | undefined
  groupsClaim?: string | undefined
  groupsPrefix?: string | undefined
  requiredClaims: Readonly<Record<string, string>>
  caFile?: string | undefined
  signingAlgorithms: readonly string[]
}

/** Flags of authentication. */
export interface AuthenticationFlags {
  bootstrapTokens?: boolean
  authenticationConfig?: string | undefined
  oidc?: OidcFlags | undefined
  webhook?: { configFile: string; version: 'v1' | 'v1beta1'; cacheTtlMs: number } | undefined
  /** The front proxy's CA and headers. Without the file no proxy is trusted. */
  requestHeader?: FrontProxyConfig & { clientCaFile: string }
}

export interface FileFlags {
  tokenAuthFile: string | undefined
  clientCaFile: string | undefined
  tokenIssuers?: readonly string[] | undefined
  authentication?: AuthenticationFlags
}

/** The authenticators built from the flags and their files. */
export interface Authentication {
  authenticator: Authenticator
  /** Files that are reread when they change, with their handlers. */
  files: FollowedFile[]
  /** Returns the current CAs of --client-ca-file and of the front proxy. */
  clients(): string[]
  proxies(): string[]
  close(): Promise<void>
}

/**
 * Successful verifications are cached as long as in Kubernetes; failures only briefly, so that rotated keys work soon.
 */
const issuerCache = { acceptedMs: 10_000, refusedMs: 2000 }

/** Returns the issuer of the --oidc-* flags. */
export function oidcConfig(flags: OidcFlags): JwtConfig {
  const { issuerUrl, clientId, usernameClaim, usernamePrefix, groupsClaim, groupsPrefix, requiredClaims } = flags
  const usual = usernameClaim === 'email' ? '' : `${issuerUrl}#`
  const prefix = usernamePrefix === '-' ? '' : (usernamePrefix ?? usual)
  const ca = flags.caFile ? readCertificates('--oidc-ca-file', flags.caFile) : undefined
  return {
    issuer: { url: issuerUrl, audiences: [clientId], ...(ca ? { certificateAuthority: ca } : {}) },
    claimMappings: {
      username: { claim: usernameClaim, prefix },
      ...(groupsClaim ? { groups: { claim: groupsClaim, prefix: groupsPrefix ?? '' } } : {}),
    },
    claimValidationRules: Object.entries(requiredClaims).map(([claim, requiredValue]) => ({ claim, requiredValue })),
    algorithms: flags.signingAlgorithms,
  }
}

/** Reads flags and files. Throws one sentence that names the invalid flag. */
export async function makeAuthentication(options: FileFlags, logger: Logger): Promise<Authentication> {
  const { tokenAuthFile, clientCaFile, authentication: flags = {} } = options
  const own = options.tokenIssuers?.length ? options.tokenIssuers : [defaultIssuer]
  const { authenticationConfig: configFile, oidc, requestHeader, webhook } = flags
  if (configFile && oidc) throw new Error('--authentication-config: cannot be used together with --oidc-* flags')
  const files: FollowedFile[] = []
  const readTokens = (text: string) => authenticator.setStaticTokens(parseTokenFile(text))
  const authorities = (flag: string, file: string | undefined) =>
    file ? followed(files, flag, file, () => [readCertificates(flag, file)]) : () => []
  const clients = authorities('--client-ca-file', clientCaFile)
  const proxies = authorities('--requestheader-client-ca-file', requestHeader?.clientCaFile)
  const readIssuers = (config: ReturnType<typeof readAuthenticationConfig>): TokenReader => {
    const reader = jwtTokens(checkAuthenticationConfig(config, own), { clock: systemClock, logger, own })
    return cachedTokens(reader, { clock: systemClock, ...issuerCache })
  }
  let anonymous: ReturnType<typeof readAuthenticationConfig>['anonymous']
  const issuers = configFile
    ? followed(files, '--authentication-config', configFile, (text) => {
        const config = readAuthenticationConfig(parseYaml(text).value)
        const reader = readIssuers(config)
        anonymous = config.anonymous
        return reader
      })
    : undefined
  const fixed = oidc ? inFlags(() => readIssuers({ jwt: [oidcConfig(oidc)] })) : undefined
  const hook = webhook && (await webhookReader(webhook, own, logger))
  const remote: TokenReader[] = [
    ...(issuers ? [((token, wanted) => issuers()(token, wanted)) satisfies TokenReader] : []),
    ...(fixed ? [fixed] : []),
    ...(hook ? [hook.reader] : []),
  ]
  const authenticator = new Authenticator(undefined, {
    remote,
    frontProxy: requestHeader && new FrontProxy(requestHeader),
    anonymousAt: (where) => (anonymous ? anonymousRule(anonymous)(where) : true),
  })
  if (tokenAuthFile) followed(files, '--token-auth-file', tokenAuthFile, readTokens)
  return { authenticator, files, clients, proxies, close: async () => hook?.close() }
}

function inFlags<T>(make: () => T): T {
  try {
    return make()
  } catch (e) {
    throw new Error(`--oidc-issuer-url: ${(e as Error).message}`, { cause: e })
  }
}

async function webhookReader(
  { configFile, version, cacheTtlMs }: NonNullable<AuthenticationFlags['webhook']>,
  own: readonly string[],
  logger: Logger,
): Promise<{ reader: TokenReader; close(): Promise<void> }> {
  const flag = '--authentication-token-webhook-config-file'
  readFlagFile(flag, configFile)
  const access = await loadAccess({ file: configFile }).catch((e: unknown) => {
    throw new Error(`${flag}: ${(e as Error).message}`, { cause: e })
  })
  const transport = new HttpTransport(access, { userAgent: 'coxswain-apiserver/webhook', requestTimeoutMs: 30_000 })
  const post = (body: object) => transport.send({ method: 'POST', path: '', body })
  const reader = cachedTokens(webhookTokens({ version, own, post, logger }), {
    clock: systemClock,
    acceptedMs: cacheTtlMs,
    refusedMs: cacheTtlMs,
  })
  return { reader, close: () => transport.close() }
}
