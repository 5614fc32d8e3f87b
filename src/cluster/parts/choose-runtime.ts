import { systemClock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import { findRuntime, homeOfPods } from '../../node/index.ts'

/** The values of `--runtime`. */
export type RuntimeName = 'auto' | 'cri' | 'process' | 'simulated'

export interface ContainerRuntimeFlags {
  /** Default: the first of the usual sockets that answers. */
  endpoint?: string
  requestTimeoutMs?: number
  podPidsLimit?: number
}

interface Wanted {
  runtime: RuntimeName
  containerRuntime?: ContainerRuntimeFlags
  /** The directory of the node. */
  directory: string
}

interface ChoiceOptions {
  logger?: Logger
  /** Default: the usual sockets of container runtimes. */
  sockets?: readonly string[]
}

/** The chosen container runtime, and a text that describes it. */
export interface ChosenRuntime {
  nodes: { runtime: Exclude<RuntimeName, 'auto'>; containerRuntime?: ContainerRuntimeFlags }
  says: string
}

const asProcesses =
  'Pods are processes of this machine; an image without a command answers HTTP on the ports it declares.'

/**
 * Chooses the container runtime. `auto` keeps the runtime that has the pods of the node. Without pods it uses a CRI
 * runtime that is ready, else processes of this machine. Throws if the runtime that is requested or has the pods does
 * not answer.
 */
export async function chooseRuntime(
  { runtime, containerRuntime = {}, directory }: Wanted,
  { logger, sockets }: ChoiceOptions = {},
): Promise<ChosenRuntime> {
  if (runtime === 'simulated')
    return { nodes: { runtime }, says: 'Nodes are simulated: pods run no processes and start without delay.' }
  if (runtime === 'process') return { nodes: { runtime }, says: asProcesses }
  const home = homeOfPods(directory)
  if (runtime === 'auto' && home?.kind === 'process') {
    logger?.info('pods are processes of this machine, as before; --runtime cri ends them and uses a container runtime')
    return { nodes: { runtime: 'process' }, says: asProcesses }
  }
  const kept = home?.kind === 'cri' ? home.endpoint : undefined
  const endpoint = containerRuntime.endpoint ?? kept
  const found = await findRuntime(systemClock, endpoint, sockets)
  if (found.endpoint !== undefined) {
    logger?.info('using a container runtime for pods', { runtime: found.runtime, endpoint: found.endpoint })
    return {
      nodes: { runtime: 'cri', containerRuntime: { ...containerRuntime, endpoint: found.endpoint } },
      says: `Pods are containers of ${found.runtime} at ${found.endpoint}.`,
    }
  }
  // A runtime that is not ready yet will run pods later; its node reports the condition.
  if ((runtime === 'cri' || kept !== undefined) && endpoint !== undefined && found.isThere)
    return {
      nodes: { runtime: 'cri', containerRuntime: { ...containerRuntime, endpoint } },
      says: `The container runtime at ${endpoint} is not ready: ${found.why}.`,
    }
  if (runtime === 'cri') throw new Error(`--runtime cri: ${found.why}`)
  if (kept !== undefined)
    throw new Error(
      `--runtime auto: the pods of this node are containers, but the runtime does not answer: ${found.why}`,
    )
  logger?.info('running pods as processes: no container runtime is ready', { why: found.why })
  return { nodes: { runtime: 'process' }, says: asProcesses }
}
