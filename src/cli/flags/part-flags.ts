import { type Command, Option } from 'commander'
import { FeatureGates } from '../../api/feature-gates.ts'
import { type LogLevel, Logger } from '../../base/logger.ts'
import type { PartOptions, RunningPart } from '../../cluster/index.ts'
import { applyConfigFile } from './config-file.ts'
import { bool, durationOption, gates, port, something } from './flag-values.ts'
import { explainStartError, runUntilStopped } from '../serve/run-until-stopped.ts'

/** Adds the flags of every part that runs as its own process, in any number of replicas. */
export function addServingPartFlags(command: Command, at = { flag: '--secure-port', port: 0 }): Command {
  return command
    .option(
      '--kubeconfig <file>',
      'kubeconfig of the API server (default: as kubectl, or the service account of this pod)',
    )
    .option('--bind-address <address>', 'address to serve /livez, /readyz and /metrics on', something, '127.0.0.1')
    .option(`${at.flag} <port>`, 'HTTPS port of these endpoints; 0 takes a free one', port, at.port)
    .option('--feature-gates <gates>', 'feature gates: A=true,B=false', gates)
    .addOption(
      new Option('--log-level <level>', 'lowest level of log lines on stderr')
        .choices(['debug', 'info', 'warn', 'error'])
        .default('info'),
    )
    .option('--config <file>', 'YAML file with any of these flags, without the leading dashes')
}

/** Adds the flags of a part of which one replica is the leader. `lease` is the name of its lease. */
export function addPartFlags(command: Command, lease: string): Command {
  return addServingPartFlags(command)
    .addOption(
      new Option('--leader-elect [bool]', 'act only while this process is the leader')
        .argParser(bool)
        .preset('true')
        .default(true),
    )
    .addOption(
      durationOption(
        '--leader-elect-lease-duration <duration>',
        'time after the last renewal until other processes may take over',
        '15s',
      ),
    )
    .addOption(
      durationOption(
        '--leader-elect-renew-deadline <duration>',
        'time after the last renewal until the leader stops acting',
        '10s',
      ),
    )
    .addOption(
      durationOption(
        '--leader-elect-retry-period <duration>',
        'time between attempts to acquire or renew the lease',
        '2s',
      ),
    )
    .option('--leader-elect-resource-namespace <name>', 'namespace of the lease', 'kube-system')
    .option('--leader-elect-resource-name <name>', 'name of the lease', lease)
}

interface ParsedFlags {
  kubeconfig?: string
  /** Undefined for a part without leader election. */
  leaderElect?: boolean
  leaderElectLeaseDuration: number
  leaderElectRenewDeadline: number
  leaderElectRetryPeriod: number
  leaderElectResourceNamespace: string
  leaderElectResourceName: string
  bindAddress: string
  /** `port` if the part names its flag so. */
  securePort?: number
  port?: number
  featureGates?: FeatureGates
  logLevel: LogLevel
  config?: string
}

/** Reads the flags of `addPartFlags`, and all flags from the file of --config; the command line wins. */
export async function readPartFlags(command: Command, release: string): Promise<PartOptions> {
  const { config } = command.opts<ParsedFlags>()
  if (config) await applyConfigFile(command, config)
  const flags = command.opts<ParsedFlags>()
  return {
    kubeconfig: flags.kubeconfig,
    election: flags.leaderElect ? readElection(flags) : undefined,
    gates: flags.featureGates ?? FeatureGates.of(),
    bindAddress: flags.bindAddress,
    securePort: flags.securePort ?? flags.port ?? 0,
    release,
    logger: new Logger((line) => process.stderr.write(line), flags.logLevel),
  }
}

const readElection = (flags: ParsedFlags): NonNullable<PartOptions['election']> => ({
  namespace: flags.leaderElectResourceNamespace,
  name: flags.leaderElectResourceName,
  leaseDurationMs: flags.leaderElectLeaseDuration,
  renewDeadlineMs: flags.leaderElectRenewDeadline,
  retryPeriodMs: flags.leaderElectRetryPeriod,
})

/** Runs a part until it is stopped; prints `ready …` once its role is known. */
export async function runPartCommand<O extends PartOptions>(
  options: O,
  run: (options: O) => Promise<RunningPart>,
  how: { portFlag?: string } = {},
): Promise<void> {
  const running = await run(options).catch((e: unknown) => {
    throw explainStartError(e, options.securePort, how.portFlag)
  })
  const stopped = runUntilStopped(running)
  const known = running.roleKnown().then((role) => {
    if (role.kind !== 'unknown')
      console.log(
        `ready ${running.url} ${role.kind}${role.kind === 'standing by' ? `, the leader is ${role.leader}` : ''}`,
      )
    return stopped
  })
  await Promise.race([known, stopped])
}
