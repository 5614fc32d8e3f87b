import { type Command, InvalidArgumentError, Option } from 'commander'
import type { AuthenticationFlags } from '../../cluster/index.ts'
import { bool, durationOption, list, something } from './flag-values.ts'

interface ParsedFlags {
  enableBootstrapTokenAuth: boolean
  authenticationConfig?: string
  authenticationTokenWebhookConfigFile?: string
  authenticationTokenWebhookVersion: 'v1' | 'v1beta1'
  authenticationTokenWebhookCacheTtl: number
  oidcIssuerUrl?: string
  oidcClientId?: string
  oidcUsernameClaim: string
  oidcUsernamePrefix?: string
  oidcGroupsClaim?: string
  oidcGroupsPrefix?: string
  oidcRequiredClaim: Record<string, string>
  oidcCaFile?: string
  oidcSigningAlgs: string[]
  requestheaderClientCaFile?: string
  requestheaderAllowedNames: string[]
  requestheaderUsernameHeaders: string[]
  requestheaderUidHeaders: string[]
  requestheaderGroupHeaders: string[]
  requestheaderExtraHeadersPrefix: string[]
}

/** Parses `KEY=VALUE`; repeatable, once per claim. */
function claimPair(text: string, before: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('must be KEY=VALUE')
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) }
}

const known = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512']

const algorithms = (text: string): string[] => {
  const wrong = list(text).find((name) => !known.includes(name))
  if (wrong !== undefined) throw new InvalidArgumentError(`${JSON.stringify(wrong)} is none of ${known.join(', ')}`)
  return list(text)
}

const headers = (text: string): string[] => list(text).map((name) => name.toLowerCase())

/** Adds the authentication flags of kube-apiserver, with its defaults. */
export function addAuthenticationFlags(command: Command): Command {
  addOidcFlags(command)
  return command
    .option(
      '--enable-bootstrap-token-auth [bool]',
      'accept bootstrap tokens, which are Secrets in kube-system',
      bool,
      true,
    )
    .option(
      '--authentication-config <file>',
      'AuthenticationConfiguration with issuers of tokens and rules for anonymous requests',
    )
    .option('--authentication-token-webhook-config-file <file>', 'kubeconfig of a webhook that authenticates tokens')
    .addOption(
      new Option('--authentication-token-webhook-version <version>', 'version of the TokenReviews for that webhook')
        .choices(['v1', 'v1beta1'])
        .default('v1beta1'),
    )
    .addOption(
      durationOption(
        '--authentication-token-webhook-cache-ttl <duration>',
        'time for which answers of that webhook are cached',
        '2m',
      ),
    )
    .option(
      '--requestheader-client-ca-file <file>',
      'certificate authorities of a front proxy, which passes users in headers',
    )
    .option(
      '--requestheader-allowed-names <names>',
      "accepted common names of the proxy's certificate (default: any)",
      list,
      [],
    )
    .option('--requestheader-username-headers <names>', 'headers with the user name', headers, ['x-remote-user'])
    .option('--requestheader-uid-headers <names>', 'headers with the UID', headers, ['x-remote-uid'])
    .option('--requestheader-group-headers <names>', 'headers with the groups', headers, ['x-remote-group'])
    .option('--requestheader-extra-headers-prefix <names>', 'prefixes of headers with extra attributes', headers, [
      'x-remote-extra-',
    ])
}

const addOidcFlags = (command: Command): Command =>
  command
    .option('--oidc-issuer-url <url>', 'URL of the OpenID Connect issuer, https only', something)
    .option('--oidc-client-id <id>', 'client ID: the audience that tokens must have', something)
    .option('--oidc-username-claim <claim>', "claim with the user's name", something, 'sub')
    .option(
      '--oidc-username-prefix <prefix>',
      'prefix of user names; - is none (default: ISSUER#, none for the claim email)',
    )
    .option('--oidc-groups-claim <claim>', 'claim with the groups')
    .option('--oidc-groups-prefix <prefix>', 'prefix of group names')
    .option('--oidc-required-claim <key=value>', 'claim that a token must have; repeatable', claimPair, {})
    .option('--oidc-ca-file <file>', 'certificate authorities of the issuer, in PEM (default: those of the system)')
    .option('--oidc-signing-algs <names>', 'accepted signature algorithms', algorithms, ['RS256'])

/** Reads the authentication flags. Throws one sentence if one is missing. */
export function readAuthenticationFlags(command: Command): AuthenticationFlags {
  const flags = command.opts<ParsedFlags>()
  const { authenticationConfig, authenticationTokenWebhookConfigFile: configFile } = flags
  const clientCaFile = flags.requestheaderClientCaFile
  const oidc = readOidc(flags)
  return {
    bootstrapTokens: flags.enableBootstrapTokenAuth,
    ...(authenticationConfig ? { authenticationConfig } : {}),
    ...(oidc ? { oidc } : {}),
    ...(configFile ? { webhook: readWebhook(configFile, flags) } : {}),
    ...(clientCaFile ? { requestHeader: { clientCaFile, ...readHeaders(flags) } } : {}),
  }
}

const readWebhook = (configFile: string, flags: ParsedFlags) => ({
  configFile,
  version: flags.authenticationTokenWebhookVersion,
  cacheTtlMs: flags.authenticationTokenWebhookCacheTtl,
})

const readHeaders = (flags: ParsedFlags) => ({
  allowedNames: flags.requestheaderAllowedNames,
  usernameHeaders: flags.requestheaderUsernameHeaders,
  uidHeaders: flags.requestheaderUidHeaders,
  groupHeaders: flags.requestheaderGroupHeaders,
  extraHeaderPrefixes: flags.requestheaderExtraHeadersPrefix,
})

function readOidc(flags: ParsedFlags): AuthenticationFlags['oidc'] {
  const { oidcIssuerUrl: issuerUrl, oidcClientId: clientId } = flags
  if (!issuerUrl && !clientId) return undefined
  if (!issuerUrl || !clientId) throw new Error('--oidc-issuer-url and --oidc-client-id: each needs the other')
  return {
    issuerUrl,
    clientId,
    usernameClaim: flags.oidcUsernameClaim,
    usernamePrefix: flags.oidcUsernamePrefix,
    groupsClaim: flags.oidcGroupsClaim,
    groupsPrefix: flags.oidcGroupsPrefix,
    requiredClaims: flags.oidcRequiredClaim,
    caFile: flags.oidcCaFile,
    signingAlgorithms: flags.oidcSigningAlgs,
  }
}
