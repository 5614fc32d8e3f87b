import type { Logger } from '../../../base/logger.ts'
import type { CgroupTree } from './cgroups.ts'
import type { SubPaths } from './sub-paths.ts'

interface PodLeftoversOptions {
  /** Undefined if the node has no cgroups for pods. */
  cgroups(): CgroupTree | undefined
  subPaths: SubPaths
  logger: Logger
  /** True if the runtime has sandboxes of the pod. */
  hasSandboxes(uid: string): Promise<boolean>
}

/** Removes what pods have outside of the runtime, cgroups and mounts, after their last sandboxes are gone. */
export class PodLeftovers {
  readonly #o: PodLeftoversOptions
  /** Pods whose sandbox is being created. */
  readonly #creating = new Set<string>()
  /** Pods whose leftovers are being removed. */
  readonly #leaving = new Map<string, Promise<void>>()

  constructor(options: PodLeftoversOptions) {
    this.#o = options
  }

  /** Runs the creation of a sandbox. The pod's cgroup is not removed meanwhile. */
  async creating<T>(uid: string, create: () => Promise<T>): Promise<T> {
    this.#creating.add(uid)
    try {
      await this.#leaving.get(uid)
      return await create()
    } finally {
      this.#creating.delete(uid)
    }
  }

  /** Removes the leftovers of a pod that has lost a sandbox, unless it has others. Failures are logged. */
  remove(uid: string): Promise<void> {
    // Each call asks anew whether the pod has other sandboxes.
    const leaving = (this.#leaving.get(uid) ?? Promise.resolve())
      .then(async () => {
        if (!(await this.#o.hasSandboxes(uid)) && !this.#creating.has(uid)) await this.#clear(uid)
      })
      .catch((error: unknown) => this.#o.logger.warn('cgroups or mounts of a pod could not be removed', { uid, error }))
      .finally(() => this.#leaving.get(uid) === leaving && this.#leaving.delete(uid))
    this.#leaving.set(uid, leaving)
    return leaving
  }

  /** Removes the leftovers of all pods but these: others have lost their sandboxes while no agent ran. */
  async sweep(present: ReadonlySet<string>): Promise<void> {
    const { cgroups, subPaths } = this.#o
    const left = new Set([...((await cgroups()?.pods()) ?? []), ...(await subPaths.pods())])
    for (const uid of left) if (!present.has(uid)) await this.#clear(uid)
  }

  async #clear(uid: string): Promise<void> {
    await this.#o.subPaths.release(uid)
    await this.#o.cgroups()?.remove(uid)
  }
}
