import { systemClock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import { findRuntime } from '../../node/index.ts'

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
}

/** The chosen container runtime, and a text that describes it. */
export interface ChosenRuntime {
  nodes: { runtime: Exclude<RuntimeName, 'auto'>; containerRuntime?: ContainerRuntimeFlags }
  says: string
}

const asProcesses =
  'Pods are processes of this machine; an image without a command answers HTTP on the ports it declares.'

/**
 * Chooses the container runtime. `auto` uses a CRI runtime that is ready, else processes of this machine. Throws if
 * `cri` is requested and nothing answers.
 */
export async function chooseRuntime(
  { runtime, containerRuntime = {} }: Wanted,
  logger?: Logger,
): Promise<ChosenRuntime> {
  if (runtime === 'simulated')
    return { nodes: { runtime }, says: 'Nodes are simulated: pods run no processes and start without delay.' }
  if (runtime === 'process') return { nodes: { runtime }, says: asProcesses }
  const { endpoint } = containerRuntime
  const found = await findRuntime(systemClock, endpoint === undefined ? undefined : [endpoint])
  if (found.endpoint !== undefined) {
    logger?.info('using a container runtime for pods', { runtime: found.runtime, endpoint: found.endpoint })
    return {
      nodes: { runtime: 'cri', containerRuntime: { ...containerRuntime, endpoint: found.endpoint } },
      says: `Pods are containers of ${found.runtime} at ${found.endpoint}.`,
    }
  }
  // A runtime that is not ready yet will run pods later; its node reports the condition.
  if (runtime === 'cri' && endpoint !== undefined && found.isThere)
    return {
      nodes: { runtime, containerRuntime },
      says: `The container runtime at ${endpoint} is not ready: ${found.why}.`,
    }
  if (runtime === 'cri') throw new Error(`--runtime cri: ${found.why}`)
  logger?.info('running pods as processes: no container runtime is ready', { why: found.why })
  return { nodes: { runtime: 'process' }, says: asProcesses }
}
