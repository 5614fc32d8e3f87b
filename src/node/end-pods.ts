import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Clock } from '../base/clock.ts'
import { replaceFile } from '../base/durable-files.ts'
import type { Logger } from '../base/logger.ts'
import type { Random } from '../base/random.ts'
import type { Runtime } from './runtime/runtime.ts'
import { CriRuntime, type CriRuntimeOptions } from './runtimes/cri/index.ts'
import { ProcessRuntime } from './runtimes/process/index.ts'

/** The directory in which the runtime of a node keeps its state. */
export const runtimeDirectory = (directory: string): string => path.join(directory, 'runtime')

/** The settings by which the pods of a container runtime are found again. */
type CriSettings = Pick<CriRuntimeOptions, 'endpoint' | 'owner' | 'cgroupTree'>

const criFile = (directory: string): string => path.join(directory, 'cri.json')

/** Remembers which container runtime has the pods of a node. */
export const keepCriSettings = (directory: string, settings: CriSettings): void =>
  replaceFile(criFile(directory), JSON.stringify(settings))

interface EndPodsOptions {
  directory: string
  clock: Clock
  random: Random
  logger: Logger
}

/**
 * Ends all pods that a node has left in its directory, at once, and returns the number of those that still ran.
 * No agent may run meanwhile. Throws if the node's container runtime does not answer.
 */
export async function endNodePods(options: EndPodsOptions): Promise<number> {
  const { directory } = options
  const ended = existsSync(criFile(directory)) ? await endAll(await openCri(options)) : 0
  if (!existsSync(path.join(runtimeDirectory(directory), 'containers'))) return ended
  return ended + (await endAll(await ProcessRuntime.open({ ...options, directory: runtimeDirectory(directory) })))
}

function openCri({ directory, clock, logger }: EndPodsOptions): Promise<CriRuntime> {
  const settings = JSON.parse(readFileSync(criFile(directory), 'utf8')) as CriSettings
  return CriRuntime.open({ ...settings, clock, logger, directory: runtimeDirectory(directory) })
}

async function endAll(runtime: Runtime): Promise<number> {
  try {
    const running = (await runtime.listContainers()).filter(({ state }) => state === 'running')
    for (const { id } of await runtime.listPodSandboxes()) await runtime.removePodSandbox(id)
    return new Set(running.map(({ sandboxId }) => sandboxId)).size
  } finally {
    await runtime.close()
  }
}
