import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs'
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

/** The runtime that has pods of a node. */
type PodsHome = { kind: 'cri'; endpoint: string } | { kind: 'process' }

/** The runtime that the node of a directory had last. Undefined if it may choose any, because no other has its pods. */
export function homeOfPods(directory: string): PodsHome | undefined {
  const settings = readCriSettings(directory)
  if (settings) return { kind: 'cri', endpoint: settings.endpoint }
  return hasProcessPods(directory) ? { kind: 'process' } : undefined
}

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
export const endNodePods = async (options: EndPodsOptions): Promise<number> =>
  (await endCriPods(options)) + (await endProcessPods(options))

/**
 * Ends the pods that a node has in another runtime than the one that it starts with now: the same volumes must not have
 * two users. Throws if a container runtime that has pods does not answer.
 */
export async function endPodsElsewhere(options: EndPodsOptions, now: CriSettings | 'process'): Promise<void> {
  const before = readCriSettings(options.directory)
  const isSame =
    before && now !== 'process' && before.owner === now.owner && isSameSocket(before.endpoint, now.endpoint)
  const ended = (isSame ? 0 : await endCriPods(options)) + (now === 'process' ? 0 : await endProcessPods(options))
  if (ended > 0) options.logger.warn('the pods of the runtime that the node had before were ended', { pods: ended })
}

const isSameSocket = (a: string, b: string): boolean => a.replace(/^unix:\/\//, '') === b.replace(/^unix:\/\//, '')

function readCriSettings(directory: string): CriSettings | undefined {
  const file = criFile(directory)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as CriSettings) : undefined
}

const processRecords = (directory: string): string => path.join(runtimeDirectory(directory), 'sandboxes')
const hasProcessPods = (directory: string): boolean =>
  existsSync(processRecords(directory)) && readdirSync(processRecords(directory)).length > 0

async function endCriPods({ directory, clock, logger }: EndPodsOptions): Promise<number> {
  const settings = readCriSettings(directory)
  if (!settings) return 0
  const own = { clock, logger, directory: runtimeDirectory(directory) }
  const runtime = await CriRuntime.open({ ...settings, ...own }).catch((cause: unknown) => {
    const why = (cause as Error).message
    throw new Error(
      `pods of this node are containers at ${settings.endpoint}, which does not answer (${why}): start it, or remove ${criFile(directory)} if it is gone for good`,
      { cause },
    )
  })
  const ended = await endAll(runtime)
  rmSync(criFile(directory))
  return ended
}

async function endProcessPods(options: EndPodsOptions): Promise<number> {
  const directory = runtimeDirectory(options.directory)
  return hasProcessPods(options.directory) ? endAll(await ProcessRuntime.open({ ...options, directory })) : 0
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
