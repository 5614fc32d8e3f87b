import { type Command, Option } from 'commander'
import { FeatureGates } from '../api/feature-gates.ts'
import { type LogLevel, Logger } from '../base/logger.ts'
import type { ServeOptions } from '../cluster/index.ts'
import { applyConfigFile } from './config-file.ts'
import { addAuditFlags, readAuditFlags } from './audit-flags.ts'
import { bool, gates, list, port, something, timeoutMs } from './flag-values.ts'

/** The flags of everything that serves the API. */
export function addApiFlags(command: Command): Command {
  command
    .option('--data-dir <dir>', 'where everything is kept', something, './.coxswain')
    .addOption(new Option('--store <driver>', 'where objects are stored').choices(['lmdb', 'memory']).default('lmdb'))
    .option('--secure-port <port>', 'the port to serve HTTPS on; 0 takes a free one', port, 6443)
    .option('--bind-address <address>', 'the address to listen on', something, '127.0.0.1')
    .option('--kubeconfig-out <file>', 'where to write a kubeconfig (default: DATA_DIR/kubeconfig)')
    .option('--token-auth-file <file>', 'CSV of bearer tokens: token,user,uid,"group1,group2"')
    .option('--client-ca-file <file>', 'further certificate authorities of client certificates, in PEM')
    .option('--disable-admission-plugins <names>', 'admission plugins to leave out, separated by commas', list, [])
    .option('--allow-privileged [bool]', 'whether containers may be privileged', bool, true)
    .addOption(new Option('--event-ttl <duration>', 'how long events are kept after their last write; 0 keeps them').argParser(timeoutMs).default(3_600_000, '1h'))
    .option('--service-account-issuer <url>', 'issuer of service-account tokens; more than one: the first issues, all are accepted', collect, [])
    .option('--service-account-jwks-uri <url>', 'where OpenID discovery says the keys are (default: this server)')
    .option('--encryption-provider-config <file>', 'EncryptionConfiguration: how secrets and other objects are encrypted in the store')
    .option('--encryption-provider-config-automatic-reload [bool]', 'whether that file is read again when it changes', bool, false)
    .option('--feature-gates <gates>', 'A=true,B=false', gates)
    .addOption(new Option('--log-level <level>', 'how much is logged to stderr').choices(['debug', 'info', 'warn', 'error']).default('info'))
    .option('--config <file>', 'YAML file with any of these flags, without the dashes')
  return addAuditFlags(command)
}

/** A flag that may be given several times. */
const collect = (value: string, before: readonly string[] = []): string[] => [...before, ...list(value)]

/** What commander makes of the flags. */
interface ParsedFlags {
  dataDir: string
  store: 'lmdb' | 'memory'
  securePort: number
  bindAddress: string
  kubeconfigOut?: string
  tokenAuthFile?: string
  clientCaFile?: string
  disableAdmissionPlugins: string[]
  allowPrivileged: boolean
  eventTtl: number
  serviceAccountIssuer: string[]
  serviceAccountJwksUri?: string
  encryptionProviderConfig?: string
  encryptionProviderConfigAutomaticReload: boolean
  featureGates?: FeatureGates
  logLevel: LogLevel
  config?: string
}

/** Reads the flags of a command line, and of the file that --config names; the command line wins. */
export async function readApiFlags(command: Command, release: string): Promise<ServeOptions> {
  const { config } = command.opts<ParsedFlags>()
  if (config) await applyConfigFile(command, config)
  const flags = command.opts<ParsedFlags>()
  return {
    dataDir: flags.dataDir,
    store: flags.store,
    bindAddress: flags.bindAddress,
    securePort: flags.securePort,
    kubeconfigOut: flags.kubeconfigOut,
    tokenAuthFile: flags.tokenAuthFile,
    clientCaFile: flags.clientCaFile,
    disabledAdmission: flags.disableAdmissionPlugins,
    settings: { allowPrivileged: flags.allowPrivileged, eventTtlMs: flags.eventTtl },
    tokenIssuers: flags.serviceAccountIssuer,
    jwksUri: flags.serviceAccountJwksUri,
    audit: readAuditFlags(command.opts()),
    encryption: encryptionFlags(flags),
    gates: flags.featureGates ?? FeatureGates.of(),
    release,
    logger: new Logger((line) => process.stderr.write(line), flags.logLevel),
  }
}

function encryptionFlags({ encryptionProviderConfig: configFile, encryptionProviderConfigAutomaticReload: reloads }: ParsedFlags) {
  return configFile === undefined ? undefined : { configFile, reloads }
}
