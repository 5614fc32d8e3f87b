import { type Command, Option } from 'commander'
import { FeatureGates } from '../../api/feature-gates.ts'
import { type LogLevel, Logger } from '../../base/logger.ts'
import type { ServeOptions } from '../../cluster/index.ts'
import { addAuthenticationFlags, readAuthenticationFlags } from './authentication-flags.ts'
import { applyConfigFile } from './config-file.ts'
import { addAuditFlags, readAuditFlags } from './audit-flags.ts'
import { addStoreFlags, readStoreFlags } from './store-flags.ts'
import {
  bool,
  durationMs,
  gates,
  ipv4Range,
  limit,
  list,
  port,
  portRange,
  something,
  timeoutMs,
} from './flag-values.ts'

/** Adds the flags of every command that serves the API. */
export function addApiFlags(command: Command): Command {
  addStoreFlags(addAuthenticationFlags(command))
    .option('--secure-port <port>', 'HTTPS port; 0 takes a free one', port, 6443)
    .option('--bind-address <address>', 'address to listen on', something, '127.0.0.1')
    .option('--kubeconfig-out <file>', 'file to write the kubeconfig to (default: DATA_DIR/kubeconfig)')
    .option('--token-auth-file <file>', 'CSV file of bearer tokens: token,user,uid,"group1,group2"')
    .option('--client-ca-file <file>', 'additional certificate authorities of client certificates, in PEM')
    .option(
      '--authorization-mode <modes>',
      'authorizers in order: Node, RBAC, Webhook, AlwaysAllow, AlwaysDeny (default: Node,RBAC)',
      list,
    )
    .option('--authorization-config <file>', 'AuthorizationConfiguration, instead of --authorization-mode')
    .option('--authorization-webhook-config-file <file>', 'kubeconfig of the webhook for mode Webhook')
    .option(
      '--authorization-webhook-cache-authorized-ttl <duration>',
      'time for which allowed answers of the webhook are cached (default: 5m)',
      durationMs,
    )
    .option(
      '--authorization-webhook-cache-unauthorized-ttl <duration>',
      'time for which denied answers of the webhook are cached (default: 30s)',
      durationMs,
    )
    .addOption(
      new Option('--anonymous-auth [bool]', 'accept requests without credentials, as user system:anonymous')
        .argParser(bool)
        .preset('true')
        .default(true),
    )
    .option(
      '--enable-admission-plugins <names>',
      'admission plugins to enable besides the default ones, separated by commas',
      list,
      [],
    )
    .option('--disable-admission-plugins <names>', 'admission plugins to disable, separated by commas', list, [])
    .option('--admission-control-config-file <file>', 'AdmissionConfiguration with the settings of plugins')
    .option('--allow-privileged [bool]', 'allow privileged containers', bool, true)
    .addOption(
      new Option('--event-ttl <duration>', 'time for which events are kept after their last write; 0 keeps them')
        .argParser(timeoutMs)
        .default(3_600_000, '1h'),
    )
    .option('--enable-priority-and-fairness [bool]', 'enforce FlowSchemas and PriorityLevelConfigurations', bool, true)
    .option(
      '--max-requests-inflight <number>',
      'limit of concurrent non-mutating requests; with the mutating ones, the number of seats',
      limit,
      400,
    )
    .option('--max-mutating-requests-inflight <number>', 'limit of concurrent mutating requests', limit, 200)
    .option('--max-connections <number>', 'limit of open connections; 0 is no limit', limit, 20_000)
    .option(
      '--max-connections-per-address <number>',
      'limit of open connections per client address; 0 is no limit',
      limit,
      5000,
    )
    .option(
      '--service-cluster-ip-range <cidr>',
      'range of cluster IPs (default: the stored one, else 10.0.0.0/24; with process pods in 127.128.0.0/9)',
      ipv4Range,
    )
    .option('--service-node-port-range <ports>', 'range of node ports (default: 30000-32767)', portRange)
    .option(
      '--service-account-issuer <url>',
      'issuer of service account tokens; repeatable: the first issues, all are accepted',
      collect,
      [],
    )
    .option(
      '--service-account-jwks-uri <url>',
      'URL of the keys in the OpenID discovery document (default: this server)',
    )
    .option(
      '--encryption-provider-config <file>',
      'EncryptionConfiguration: which objects are encrypted in the store, and how',
    )
    .option('--encryption-provider-config-automatic-reload [bool]', 'reload that file when it changes', bool, false)
    .option('--feature-gates <gates>', 'feature gates: A=true,B=false', gates)
    .addOption(
      new Option('--log-level <level>', 'lowest level of log lines on stderr')
        .choices(['debug', 'info', 'warn', 'error'])
        .default('info'),
    )
    .option('--config <file>', 'YAML file with any of these flags, without the leading dashes')
  return addAuditFlags(command)
}

/** Collects the values of a repeatable flag. */
const collect = (value: string, before: readonly string[] = []): string[] => [...before, ...list(value)]

/** The flags as parsed by commander. */
interface ParsedFlags {
  securePort: number
  bindAddress: string
  kubeconfigOut?: string
  tokenAuthFile?: string
  clientCaFile?: string
  authorizationMode?: string[]
  authorizationConfig?: string
  authorizationWebhookConfigFile?: string
  authorizationWebhookCacheAuthorizedTtl?: number
  authorizationWebhookCacheUnauthorizedTtl?: number
  anonymousAuth: boolean
  enableAdmissionPlugins: string[]
  disableAdmissionPlugins: string[]
  admissionControlConfigFile?: string
  allowPrivileged: boolean
  eventTtl: number
  enablePriorityAndFairness: boolean
  maxRequestsInflight: number
  maxConnections: number
  maxConnectionsPerAddress: number
  maxMutatingRequestsInflight: number
  serviceClusterIpRange?: string
  serviceNodePortRange?: readonly [number, number]
  serviceAccountIssuer: string[]
  serviceAccountJwksUri?: string
  encryptionProviderConfig?: string
  encryptionProviderConfigAutomaticReload: boolean
  featureGates?: FeatureGates
  logLevel: LogLevel
  config?: string
}

/** Reads the flags and the file of --config; the command line wins. */
export async function readApiFlags(command: Command, release: string): Promise<ServeOptions> {
  const { config } = command.opts<ParsedFlags>()
  if (config) await applyConfigFile(command, config)
  const flags = command.opts<ParsedFlags>()
  return {
    ...readStoreFlags(command),
    bindAddress: flags.bindAddress,
    securePort: flags.securePort,
    kubeconfigOut: flags.kubeconfigOut,
    tokenAuthFile: flags.tokenAuthFile,
    clientCaFile: flags.clientCaFile,
    enabledAdmission: flags.enableAdmissionPlugins,
    disabledAdmission: flags.disableAdmissionPlugins,
    admissionConfigFile: flags.admissionControlConfigFile,
    settings: { allowPrivileged: flags.allowPrivileged, eventTtlMs: flags.eventTtl },
    fairness: {
      isEnabled: flags.enablePriorityAndFairness,
      maxReadOnly: flags.maxRequestsInflight,
      maxMutating: flags.maxMutatingRequestsInflight,
    },
    connections: { inAll: flags.maxConnections, perAddress: flags.maxConnectionsPerAddress },
    tokenIssuers: flags.serviceAccountIssuer,
    jwksUri: flags.serviceAccountJwksUri,
    serviceRange: flags.serviceClusterIpRange,
    nodePorts: flags.serviceNodePortRange,
    authorization: {
      modes: flags.authorizationMode,
      configFile: flags.authorizationConfig,
      webhookConfigFile: flags.authorizationWebhookConfigFile,
      webhookAuthorizedTtlMs: flags.authorizationWebhookCacheAuthorizedTtl,
      webhookUnauthorizedTtlMs: flags.authorizationWebhookCacheUnauthorizedTtl,
      anonymous: flags.anonymousAuth,
    },
    authentication: readAuthenticationFlags(command),
    audit: readAuditFlags(command.opts()),
    encryption: encryptionFlags(flags),
    gates: flags.featureGates ?? FeatureGates.of(),
    release,
    logger: new Logger((line) => process.stderr.write(line), flags.logLevel),
  }
}

function encryptionFlags({
  encryptionProviderConfig: configFile,
  encryptionProviderConfigAutomaticReload: reloads,
}: ParsedFlags) {
  return configFile === undefined ? undefined : { configFile, reloads }
}
