import { execFile } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { mkdir, readFile, readdir, rmdir, stat, unlink } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { type Mount, RuntimeError } from '../../runtime/runtime.ts'

const run = promisify(execFile)

/**
 * Mounts parts of volumes where containers cannot replace them. A runtime mounts by path, and a container that can
 * write to a volume may replace the path with a link after it was checked. Therefore each part is mounted here first,
 * compared with the target that was checked, and only then passed to the runtime.
 */
export class SubPaths {
  readonly #root: string

  constructor(root: string) {
    this.#root = root
  }

  /**
   * Replaces each part of a volume in a container's mounts with its own mount. Rejects if a path no longer leads to the
   * target that was checked.
   */
  async secure(uid: string, container: string, attempt: number, mounts: readonly Mount[]): Promise<Mount[]> {
    if (!mounts.some(({ isSubPath }) => isSubPath)) return [...mounts]
    const directory = path.join(this.#root, uid, container)
    // Mounts of earlier containers, which have ended.
    await release(directory)
    const secured: Mount[] = []
    for (const [i, mount] of mounts.entries()) {
      secured.push(
        mount.isSubPath
          ? { ...mount, hostPath: await this.#pin(mount, path.join(directory, String(attempt), String(i))) }
          : mount,
      )
    }
    return secured
  }

  /** The uids of the pods that have mounts, or had them when an agent was killed. */
  pods(): Promise<string[]> {
    return readdir(this.#root).catch(() => [])
  }

  /** Removes all mounts of a pod. */
  async release(uid: string): Promise<void> {
    await release(path.join(this.#root, uid))
  }

  async #pin({ hostPath, identity, containerPath }: Mount, target: string): Promise<string> {
    const isDirectory = (await stat(hostPath)).isDirectory()
    await mkdir(isDirectory ? target : path.dirname(target), { recursive: true, mode: 0o750 })
    if (!isDirectory) closeSync(openSync(target, 'a', 0o640))
    await run('mount', ['--bind', hostPath, target])
    const { dev, ino } = await stat(target, { bigint: true })
    if (identity === undefined || identity === `${dev}:${ino}`) return target
    await run('umount', [target])
    throw new RuntimeError(
      'InvalidArgument',
      `failed to prepare subPath for ${containerPath}: it was replaced meanwhile`,
    )
  }
}

/**
 * Unmounts everything below a directory and removes the mount points, but never their contents: a mount point may still
 * show a volume.
 */
async function release(directory: string): Promise<void> {
  const targets = (await readFile('/proc/self/mounts', 'utf8'))
    .split('\n')
    .map((line) => (line.split(' ')[1] ?? '').replaceAll('\\040', ' '))
    .filter((target) => target.startsWith(`${directory}${path.sep}`))
  for (const target of targets) await run('umount', ['--lazy', target])
  await removePlaces(directory)
}

async function removePlaces(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true }).catch(() => [])) {
    const at = path.join(directory, entry.name)
    await (entry.isDirectory() ? removePlaces(at) : unlink(at))
  }
  await rmdir(directory).catch((e: unknown) => {
    if ((e as NodeJS.ErrnoException).code !== 'ENOENT') throw e
  })
}
