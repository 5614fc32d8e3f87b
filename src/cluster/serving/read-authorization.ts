import { systemClock } from '../../base/clock.ts'
import { systemRandom } from '../../base/random.ts'
import { Client, HttpTransport, loadAccess } from '../../client/index.ts'
import {
  type ApiServerOptions,
  type AuthorizerChoice,
  type AuthorizerConfig,
  type WebhookConfig,
  defaultModes,
  loadMatchConditions,
  parseAuthorizationConfig,
  parseModes,
} from '../../server/index.ts'
import { readFlagFile } from './flag-files.ts'

/** Flags of authorization. */
export interface AuthorizationFlags {
  /** Authorizers in order. Default: those of `configFile`, else Node and RBAC. */
  modes?: readonly string[] | undefined
  /** File with an AuthorizationConfiguration. */
  configFile?: string | undefined
  webhookConfigFile?: string | undefined
  webhookAuthorizedTtlMs?: number | undefined
  webhookUnauthorizedTtlMs?: number | undefined
  /** Treat requests without credentials as system:anonymous. Default: true, unless everything is allowed. */
  anonymous?: boolean | undefined
}

/** Converts flags and files to options of the server. Throws an error that names the invalid flag. */
export async function readAuthorization(
  flags: AuthorizationFlags = {},
): Promise<Pick<ApiServerOptions, 'authorization' | 'anonymous'>> {
  const configs = await configsOf(flags)
  const authorization = await Promise.all(configs.map(choiceOf))
  // As in Kubernetes: anonymous users would be allowed everything, too.
  const allowsAll = configs.some(({ type }) => type === 'AlwaysAllow')
  return { authorization, anonymous: flags.anonymous === false ? 'none' : allowsAll ? 'health' : 'user' }
}

async function configsOf({ modes, configFile, ...flags }: AuthorizationFlags): Promise<readonly AuthorizerConfig[]> {
  const webhook = {
    kubeConfigFile: flags.webhookConfigFile,
    authorizedTtlMs: flags.webhookAuthorizedTtlMs ?? 300_000,
    unauthorizedTtlMs: flags.webhookUnauthorizedTtlMs ?? 30_000,
  }
  if (configFile === undefined)
    return modes || flags.webhookConfigFile ? parseModes(modes ?? [], webhook) : defaultModes
  if (modes || flags.webhookConfigFile)
    throw new Error(
      '--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined',
    )
  const { parse } = await import('yaml')
  try {
    return parseAuthorizationConfig(parse(readFlagFile('--authorization-config', configFile)))
  } catch (e) {
    throw new Error(`--authorization-config: ${configFile}: ${(e as Error).message}`, { cause: e })
  }
}

async function choiceOf(config: AuthorizerConfig): Promise<AuthorizerChoice> {
  if (config.type !== 'Webhook') return config
  return { ...config, post: await posterTo(config), matches: await conditionsOf(config) }
}

async function conditionsOf({ matchConditions, conditionsAt = 'matchConditions' }: WebhookConfig) {
  if (matchConditions.length === 0) return undefined
  const { compileConditions } = await loadMatchConditions()
  try {
    return compileConditions(matchConditions, conditionsAt)
  } catch (e) {
    throw new Error(`--authorization-config: ${(e as Error).message}`, { cause: e })
  }
}

/** Returns a function that posts to the URL of a kubeconfig's server. */
async function posterTo({
  kubeConfigFile,
  name,
}: WebhookConfig): Promise<(review: object, signal: AbortSignal) => Promise<unknown>> {
  const access = await loadAccess({ file: kubeConfigFile })
  const path = access.server.pathname || '/'
  const transport = new HttpTransport(
    { ...access, server: new URL(access.server.origin) },
    { userAgent: `coxswain-authorization-webhook/${name}` },
  )
  const client = new Client(transport, { clock: systemClock, random: systemRandom })
  return (review, signal) =>
    client.transport.send({ method: 'POST', path, query: { timeout: '30s' }, body: review, signal })
}
