import { type Command, Option } from 'commander'
import type { RunControllersOptions } from '../../cluster/index.ts'
import { absolutePath, bool, count, durationMs, list } from './flag-values.ts'
import { addPartFlags, readPartFlags } from './part-flags.ts'

/** Kubernetes' flags for the number of concurrent reconciles by controller. */
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

const yearMs = 365 * 24 * 3_600_000

/** Adds the flags of every command that runs controllers. */
export function addControllerFlags(command: Command): Command {
  addPartFlags(command, 'kube-controller-manager')
    .option('--controllers <names>', "controllers to run: '*' for all, name to run one, -name to leave one out", list, [
      '*',
    ])
    .option(
      '--taken-over <names>',
      'controllers that are disabled in kube-controller-manager (or OpenKruise): they run although its lease is held',
      list,
      [],
    )
    .addOption(
      new Option('--use-service-account-credentials [bool]', 'run each controller with its own service account')
        .argParser(bool)
        .preset('true')
        .default(false),
    )
    .option(
      '--root-ca-file <file>',
      'certificate authorities that pods trust, in PEM (default: those of the kubeconfig)',
    )
    .option(
      '--volumes-dir <dir>',
      'directory on every node in which volumes of claims are created',
      absolutePath,
      '/var/lib/coxswain/volumes',
    )
    .option('--cluster-signing-cert-file <file>', 'certificate of the signing authority, in PEM')
    .option('--cluster-signing-key-file <file>', 'private key of the signing authority, in PEM')
    .addOption(
      new Option('--cluster-signing-duration <duration>', 'maximum validity of signed certificates')
        .argParser(durationMs)
        .default(yearMs, '8760h'),
    )
  for (const [flag, name] of Object.entries(workerFlags))
    command.option(`--${flag} <number>`, `number of objects that ${name} reconciles concurrently`, count)
  return command
}

/** The flags as parsed by commander, except those of `workerFlags`. */
interface ParsedFlags {
  controllers: string[]
  takenOver: string[]
  useServiceAccountCredentials: boolean
  rootCaFile?: string
  volumesDir: string
  clusterSigningCertFile?: string
  clusterSigningKeyFile?: string
  clusterSigningDuration: number
}

/** Reads the flags and the file of --config; the command line wins. */
export async function readControllerFlags(command: Command, release: string): Promise<RunControllersOptions> {
  const options = await readPartFlags(command, release)
  const {
    controllers,
    takenOver,
    rootCaFile,
    volumesDir,
    useServiceAccountCredentials: usesAccounts,
    ...flags
  } = command.opts<ParsedFlags>()
  const signing = {
    certificateFile: flags.clusterSigningCertFile,
    keyFile: flags.clusterSigningKeyFile,
    longestMs: flags.clusterSigningDuration,
  }
  return {
    ...options,
    usesAccounts,
    selection: controllers,
    takenOver,
    workers: readWorkers(command),
    rootCaFile,
    volumesDir,
    signing,
  }
}

function readWorkers(command: Command): Map<string, number> {
  const workers = new Map<string, number>()
  for (const option of command.options) {
    const name = workerFlags[option.long?.slice(2) ?? '']
    const wanted = command.getOptionValue(option.attributeName()) as number | undefined
    if (name && wanted !== undefined) workers.set(name, wanted)
  }
  return workers
}
