import { hostname } from 'node:os'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { isDns1123Subdomain } from '../../api/validation/names.ts'
import type { LocalNodes, ShutdownGrace } from '../../cluster/index.ts'
import { count, durationMs, something } from './flag-values.ts'

interface ParsedFlags {
  nodeName: string
  nodes: number
  imageCatalogue?: string
  unknownImages: LocalNodes['unknownImages'] & string
  evictionHard?: string
  shutdownGracePeriod?: number
  shutdownGracePeriodCriticalPods?: number
  containerRuntimeEndpoint?: string
  runtimeRequestTimeout?: number
  podPidsLimit?: number
}

const nodeName = (text: string): string => {
  const [problem] = isDns1123Subdomain(text)
  if (problem !== undefined) throw new InvalidArgumentError(problem)
  return text
}

/** Converts a machine's name to a valid name of a Node. */
export const nodeNameOf = (machine: string): string => {
  const parts = machine
    .toLowerCase()
    .split('.')
    .map((part) => part.replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-|-$/g, ''))
  return parts.filter((part) => part !== '').join('.') || 'node'
}

/** Adds the flags of every command that runs nodes. */
export const addLocalNodeFlags = (command: Command): Command =>
  command
    .option(
      '--node-name <name>',
      'name of the node; several nodes are NAME-0, NAME-1 and so on',
      nodeName,
      nodeNameOf(hostname()),
    )
    .option('--nodes <number>', 'number of simulated nodes in this process', count, 1)
    .option('--image-catalogue <file>', 'YAML file with the command that the process runtime runs for each image')
    .addOption(
      new Option(
        '--unknown-images <what>',
        'how the process runtime treats images that its catalogue lacks: a placeholder runs, or the pull fails',
      )
        .choices(['placeholder', 'fail'])
        .default('placeholder'),
    )
    .option(
      '--container-runtime-endpoint <url>',
      'socket of containerd or CRI-O (default: the first of the usual paths that answers)',
      something,
    )
    .option(
      '--runtime-request-timeout <duration>',
      'time limit of a request to the container runtime (default: 2m)',
      durationMs,
    )
    .option('--pod-pids-limit <number>', 'limit of processes per pod, with a container runtime (default: none)', count)
    .option(
      '--eviction-hard <thresholds>',
      'thresholds below which pods are evicted, such as memory.available<100Mi,nodefs.available<1%; empty: none',
    )
    .option(
      '--shutdown-grace-period <duration>',
      'time to end all pods when the node stops (default: pods keep running)',
      durationMs,
    )
    .option(
      '--shutdown-grace-period-critical-pods <duration>',
      'part of that time that is reserved for critical pods, which end last',
      durationMs,
    )

/** Reads those flags for nodes of this runtime. */
export function readLocalNodeFlags(command: Command, runtime: LocalNodes['runtime']): LocalNodes {
  const flags = command.opts<ParsedFlags>()
  const { nodeName: name, nodes, imageCatalogue, unknownImages, evictionHard } = flags
  if (runtime !== 'simulated' && nodes > 1)
    throw new Error('--nodes: this machine is one node; only simulated ones can be many')
  const shutdown = readShutdown(flags)
  return {
    nodeName: name,
    nodes,
    runtime,
    unknownImages,
    ...readContainerRuntime(flags, runtime),
    ...(imageCatalogue ? { imageCatalogue } : {}),
    ...(shutdown ? { shutdown } : {}),
    ...(evictionHard === undefined ? {} : { evictionHard }),
  }
}

function readContainerRuntime(
  flags: ParsedFlags,
  runtime: LocalNodes['runtime'],
): Pick<LocalNodes, 'containerRuntime'> {
  const { containerRuntimeEndpoint: endpoint, runtimeRequestTimeout: requestTimeoutMs, podPidsLimit } = flags
  if (runtime === 'cri' || runtime === 'auto') {
    return {
      containerRuntime: {
        ...(endpoint ? { endpoint } : {}),
        ...(requestTimeoutMs ? { requestTimeoutMs } : {}),
        ...(podPidsLimit ? { podPidsLimit } : {}),
      },
    }
  }
  const isGiven = endpoint !== undefined || requestTimeoutMs !== undefined || podPidsLimit !== undefined
  if (isGiven)
    throw new Error(
      '--container-runtime-endpoint, --runtime-request-timeout and --pod-pids-limit: only with --runtime cri or auto',
    )
  return {}
}

/** Reads the grace period; undefined if pods keep running. */
function readShutdown({
  shutdownGracePeriod: allMs,
  shutdownGracePeriodCriticalPods: criticalMs = 0,
}: ParsedFlags): ShutdownGrace | undefined {
  if (criticalMs > (allMs ?? 0))
    throw new Error('--shutdown-grace-period-critical-pods: must not be longer than --shutdown-grace-period')
  return allMs === undefined ? undefined : { seconds: allMs / 1000, criticalSeconds: criticalMs / 1000 }
}
