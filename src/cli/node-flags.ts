import { hostname } from 'node:os'
import { type Command, InvalidArgumentError } from 'commander'
import { isDns1123Subdomain } from '../api/validation/names.ts'
import type { LocalNodes, ShutdownGrace } from '../cluster/index.ts'
import { count, durationMs } from './flag-values.ts'

interface ParsedFlags {
  nodeName: string
  nodes: number
  imageCatalogue?: string
  evictionHard?: string
  shutdownGracePeriod?: number
  shutdownGracePeriodCriticalPods?: number
}

const nodeName = (text: string): string => {
  const [problem] = isDns1123Subdomain(text)
  if (problem !== undefined) throw new InvalidArgumentError(problem)
  return text
}

/** A machine's name as that of a node: machines may have names that objects may not. */
export const nodeNameOf = (machine: string): string => {
  const parts = machine.toLowerCase().split('.').map((part) => part.replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-|-$/g, ''))
  return parts.filter((part) => part !== '').join('.') || 'node'
}

/** The flags of every command that runs nodes. */
export const addLocalNodeFlags = (command: Command): Command =>
  command
    .option('--node-name <name>', "the node's name; of many, NAME-0, NAME-1 and so on", nodeName, nodeNameOf(hostname()))
    .option('--nodes <number>', 'how many nodes there are in this process, all of them simulated', count, 1)
    .option('--image-catalogue <file>', 'YAML file that says what the process runtime runs for images')
    .option('--eviction-hard <thresholds>', 'evict pods when the machine has less: memory.available<100Mi,nodefs.available<1%; empty: never')
    .option('--shutdown-grace-period <duration>', 'end the pods when told to stop, within this time (default: pods go on)', durationMs)
    .option('--shutdown-grace-period-critical-pods <duration>', 'the part of it that critical pods have, after all others', durationMs)

/** Reads them, for nodes of this runtime. */
export function readLocalNodeFlags(command: Command, runtime: LocalNodes['runtime']): LocalNodes {
  const flags = command.opts<ParsedFlags>()
  const { nodeName: name, nodes, imageCatalogue, evictionHard } = flags
  if (runtime === 'process' && nodes > 1) throw new Error('--nodes: this machine is one node; only simulated ones can be many')
  const shutdown = readShutdown(flags)
  return {
    nodeName: name, nodes, runtime,
    ...(imageCatalogue ? { imageCatalogue } : {}), ...(shutdown ? { shutdown } : {}), ...(evictionHard === undefined ? {} : { evictionHard }),
  }
}

/** Undefined where pods are to go on. */
function readShutdown({ shutdownGracePeriod: allMs, shutdownGracePeriodCriticalPods: criticalMs = 0 }: ParsedFlags): ShutdownGrace | undefined {
  if (criticalMs > (allMs ?? 0)) throw new Error('--shutdown-grace-period-critical-pods: must not be longer than --shutdown-grace-period')
  return allMs === undefined ? undefined : { seconds: allMs / 1000, criticalSeconds: criticalMs / 1000 }
}
