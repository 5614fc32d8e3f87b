import { type Command, Option } from 'commander'
import { FeatureGates } from '../api/feature-gates.ts'
import { type LogLevel, Logger } from '../base/logger.ts'
import type { RunControllersOptions } from '../cluster/index.ts'
import { applyConfigFile } from './config-file.ts'
import { absolutePath, bool, count, durationMs, gates, list, port } from './flag-values.ts'

/** Flags that say how many owners a controller works on at the same time, as Kubernetes names them. */
const workerFlags: Readonly<Record<string, string>> = {
  'concurrent-deployment-syncs': 'deployment-controller',
  'concurrent-replicaset-syncs': 'replicaset-controller',
  'concurrent-rc-syncs': 'replicationcontroller-controller',
  'concurrent-statefulset-syncs': 'statefulset-controller',
  'concurrent-daemonset-syncs': 'daemonset-controller',
  'concurrent-job-syncs': 'job-controller',
  'concurrent-cron-job-syncs': 'cronjob-controller',
  'concurrent-gc-syncs': 'garbage-collector-controller',
  'concurrent-namespace-syncs': 'namespace-controller',
  'concurrent-resource-quota-syncs': 'resourcequota-controller',
  'concurrent-endpoint-syncs': 'endpoints-controller',
  'concurrent-service-endpoint-syncs': 'endpointslice-controller',
  'concurrent-ttl-after-finished-syncs': 'ttl-after-finished-controller',
}

/** The flags of everything that runs controllers. */
export function addControllerFlags(command: Command): Command {
  command
    .option('--kubeconfig <file>', 'how to reach the API server (default: as kubectl does, or as a pod of the cluster)')
    .option('--controllers <names>', "controllers to run: '*' for all, name to run one, -name to leave one out", list, ['*'])
    .addOption(new Option('--leader-elect [bool]', 'act only while this process holds the lease').argParser(bool).preset('true').default(true))
    .option('--leader-elect-lease-duration <duration>', 'how long others leave a leader alone that does not renew', durationMs, durationMs('15s'))
    .option('--leader-elect-renew-deadline <duration>', 'how long a leader goes on without having renewed', durationMs, durationMs('10s'))
    .option('--leader-elect-retry-period <duration>', 'between two attempts', durationMs, durationMs('2s'))
    .option('--leader-elect-resource-namespace <name>', 'the namespace of the lease', 'kube-system')
    .option('--leader-elect-resource-name <name>', 'the name of the lease', 'kube-controller-manager')
    .option('--bind-address <address>', 'the address to serve /livez, /readyz and /metrics on', '127.0.0.1')
    .option('--secure-port <port>', 'the port to serve them on, over HTTPS; 0 takes a free one', port, 0)
    .option('--root-ca-file <file>', "certificates that pods are told to trust, in PEM (default: the kubeconfig's)")
    .option('--volumes-dir <dir>', 'the directory of every node in which volumes are made for claims', absolutePath, '/var/lib/coxswain/volumes')
    .option('--feature-gates <gates>', 'A=true,B=false', gates)
    .addOption(new Option('--log-level <level>', 'how much is logged to stderr').choices(['debug', 'info', 'warn', 'error']).default('info'))
    .option('--config <file>', 'YAML file with any of these flags, without the dashes')
  for (const [flag, name] of Object.entries(workerFlags)) command.option(`--${flag} <number>`, `how many objects ${name} works on at the same time`, count)
  return command
}

/** What commander makes of the flags, but for those of `workerFlags`. */
interface ParsedFlags {
  kubeconfig?: string
  controllers: string[]
  leaderElect: boolean
  leaderElectLeaseDuration: number
  leaderElectRenewDeadline: number
  leaderElectRetryPeriod: number
  leaderElectResourceNamespace: string
  leaderElectResourceName: string
  bindAddress: string
  securePort: number
  rootCaFile?: string
  volumesDir: string
  featureGates?: FeatureGates
  logLevel: LogLevel
  config?: string
}

/** Reads the flags of a command line, and of the file that --config names; the command line wins. */
export async function readControllerFlags(command: Command, release: string): Promise<RunControllersOptions> {
  const { config } = command.opts<ParsedFlags>()
  if (config) await applyConfigFile(command, config)
  const flags = command.opts<ParsedFlags>()
  return {
    kubeconfig: flags.kubeconfig,
    selection: flags.controllers,
    election: flags.leaderElect ? readElection(flags) : undefined,
    workers: readWorkers(command),
    gates: flags.featureGates ?? FeatureGates.of(),
    bindAddress: flags.bindAddress,
    securePort: flags.securePort,
    rootCaFile: flags.rootCaFile,
    volumesDir: flags.volumesDir,
    release,
    logger: new Logger((line) => process.stderr.write(line), flags.logLevel),
  }
}

const readElection = (flags: ParsedFlags): NonNullable<RunControllersOptions['election']> => ({
  namespace: flags.leaderElectResourceNamespace,
  name: flags.leaderElectResourceName,
  leaseDurationMs: flags.leaderElectLeaseDuration,
  renewDeadlineMs: flags.leaderElectRenewDeadline,
  retryPeriodMs: flags.leaderElectRetryPeriod,
})

function readWorkers(command: Command): Map<string, number> {
  const workers = new Map<string, number>()
  for (const option of command.options) {
    const name = workerFlags[option.long?.slice(2) ?? '']
    const wanted = command.getOptionValue(option.attributeName()) as number | undefined
    if (name && wanted !== undefined) workers.set(name, wanted)
  }
  return workers
}
