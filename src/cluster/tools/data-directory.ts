import { execFile } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { systemClock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import { systemRandom } from '../../base/random.ts'
import { endNodePods } from '../../node/index.ts'
import { directoryOwner } from '../../store/index.ts'
import { nodeDirectoryOf } from '../serving/serve-options.ts'

/** Every data directory that a server has opened contains at least one of these. */
const markers = ['db', 'pki', 'kubeconfig']

/** Returns the processes that use a data directory or a subdirectory, such as the store's or the node's. */
export async function processesUsing(dataDir: string): Promise<number[]> {
  requireDirectory(dataDir)
  const parts = readdirSync(dataDir, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const directories = [dataDir, ...parts.map((entry) => path.join(dataDir, entry.name))]
  const pids = await Promise.all(directories.map((directory) => directoryOwner(directory)))
  return [...new Set(pids.filter((pid) => pid !== undefined))]
}

export interface Stopped {
  pids: readonly number[]
  /** Processes that still ran after `withinMs`. */
  stillRunning: readonly number[]
}

const pollMs = 50

/** Sends SIGTERM to the processes that use a data directory, and waits for them to exit. */
export async function stopProcessesUsing(dataDir: string, withinMs: number): Promise<Stopped> {
  const pids = await processesUsing(dataDir)
  for (const pid of pids) process.kill(pid, 'SIGTERM')
  let stillRunning = pids
  for (let waitedMs = 0; stillRunning.length > 0 && waitedMs < withinMs; waitedMs += pollMs) {
    await delay(pollMs)
    const using = await processesUsing(dataDir)
    stillRunning = stillRunning.filter((pid) => using.includes(pid))
  }
  return { pids, stillRunning }
}

/**
 * Ends the pods that the node of a data directory has left running, and removes the directory. Returns the number of
 * pods. Throws, and changes nothing, if a process uses the directory or it is not a data directory.
 */
export async function resetDataDirectory(dataDir: string, logger: Logger): Promise<number> {
  const directory = path.resolve(dataDir)
  requireDirectory(dataDir)
  if (!markers.some((name) => existsSync(path.join(directory, name))))
    throw new Error(`--data-dir: ${dataDir} is not a data directory of coxswain: it has none of ${markers.join(', ')}`)
  const [pid] = await processesUsing(directory)
  if (pid !== undefined)
    throw new Error(`the data directory ${dataDir} is in use by process ${pid}: stop it first with coxswain stop`)
  const ended = await endNodePods({
    directory: nodeDirectoryOf(directory),
    clock: systemClock,
    random: systemRandom,
    logger,
  })
  await unmountBelow(directory)
  rmSync(directory, { recursive: true, force: true })
  return ended
}

/** Unmounts the volumes of containers. A mounted directory may contain files of other programs. */
async function unmountBelow(directory: string): Promise<void> {
  // Later mounts may cover earlier ones.
  for (const point of mountsBelow(directory).toReversed())
    await promisify(execFile)('umount', [point]).catch((e: unknown) => {
      throw new Error(`${point} is still mounted: unmount it first, so that nothing behind it is removed`, { cause: e })
    })
}

/** Returns mount points inside a directory. Only Linux has this list, and only there do pods have mounts. */
function mountsBelow(directory: string): string[] {
  const table = '/proc/self/mounts'
  if (!existsSync(table)) return []
  // Spaces in paths are escaped as \040.
  const points = readFileSync(table, 'utf8')
    .split('\n')
    .flatMap((line) => line.split(' ')[1]?.replaceAll('\\040', ' ') ?? [])
  return points.filter((point) => point.startsWith(`${directory}/`))
}

function requireDirectory(dataDir: string): void {
  if (!existsSync(dataDir)) throw new Error(`--data-dir: ${dataDir} does not exist`)
}
