import { existsSync } from 'node:fs'
import { mkdir, readFile, readdir, rmdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { LinuxResources, LinuxSandbox } from '../../runtime/runtime.ts'

/** The controllers that limit pods. In cgroup version 1 each has its own hierarchy. */
const controllers = ['cpu', 'memory', 'pids'] as const
const mostWeight = 9999
const mostShares = 262_142

/** Converts shares of version 1 (2 to 262144) to a weight of version 2 (1 to 10000). */
export const weightOf = (shares: number): number => 1 + Math.floor(((shares - 2) * mostWeight) / mostShares)

/** The files that set the limits of a pod's cgroup, by controller. */
export function limitFiles(
  version: 1 | 2,
  { cpuShares, cpuQuota, cpuPeriod, memoryLimitBytes }: LinuxResources,
  pidsLimit: number | undefined,
): Record<(typeof controllers)[number], [string, string][]> {
  const pids: [string, string][] = pidsLimit === undefined ? [] : [['pids.max', String(pidsLimit)]]
  if (version === 2) {
    return {
      cpu: [
        ['cpu.weight', String(weightOf(cpuShares))],
        ...(cpuQuota ? [['cpu.max', `${cpuQuota} ${cpuPeriod}`] as [string, string]] : []),
      ],
      memory: memoryLimitBytes ? [['memory.max', String(memoryLimitBytes)]] : [],
      pids,
    }
  }
  return {
    cpu: [
      ['cpu.shares', String(cpuShares)],
      ...(cpuQuota
        ? ([
            ['cpu.cfs_period_us', String(cpuPeriod)],
            ['cpu.cfs_quota_us', String(cpuQuota)],
          ] as [string, string][])
        : []),
    ],
    memory: memoryLimitBytes ? [['memory.limit_in_bytes', String(memoryLimitBytes)]] : [],
    pids,
  }
}

interface CgroupTreeOptions {
  /** The mount point of the hierarchies: `/sys/fs/cgroup`. */
  mount: string
  /** The name of the cgroup that contains all cgroups of the node's pods. */
  name: string
  /** The maximum number of processes of a pod. Undefined: no limit. */
  pidsLimit?: number | undefined
  /** True if systemd creates the cgroups, from the names of slices. */
  usesSystemd: boolean
}

/**
 * The cgroups above the containers of a node, as in kubelet: one for burstable and one for best-effort pods, and one
 * for each pod. The runtime creates those of containers below them.
 */
export class CgroupTree {
  readonly #o: CgroupTreeOptions
  readonly #version: 1 | 2

  constructor(options: CgroupTreeOptions) {
    this.#o = options
    this.#version = existsSync(path.join(options.mount, 'cgroup.controllers')) ? 2 : 1
  }

  /** The parent cgroup of a pod's containers, in the form that the runtime expects. */
  parentOf(uid: string, qosClass: LinuxSandbox['qosClass']): string {
    const parts = this.#partsOf(uid, qosClass)
    // A dash in a slice's name separates it from its parent's name.
    return this.#o.usesSystemd
      ? `${parts.map((part) => part.replaceAll('-', '_')).join('-')}.slice`
      : `/${parts.join('/')}`
  }

  /** Rejects if cgroups cannot be written. */
  async check(): Promise<void> {
    if (this.#o.usesSystemd) return
    for (const root of this.#hierarchies()) await mkdir(path.join(root, this.#o.name), { recursive: true })
  }

  /** Creates a pod's cgroup with its limits. Rejects if cgroups cannot be written. */
  async make(uid: string, { qosClass, resources }: Pick<LinuxSandbox, 'qosClass' | 'resources'>): Promise<void> {
    if (this.#o.usesSystemd) return
    const parts = this.#partsOf(uid, qosClass)
    const limits = limitFiles(this.#version, resources, this.#o.pidsLimit)
    for (const root of this.#hierarchies()) {
      const directory = path.join(root, ...parts)
      await mkdir(directory, { recursive: true })
      if (this.#version === 2) await this.#delegate(root, parts)
      for (const controller of this.#version === 2
        ? controllers
        : controllers.filter((name) => path.basename(root) === name)) {
        for (const [file, value] of limits[controller]) await writeFile(path.join(directory, file), value)
      }
    }
    await this.#weigh()
  }

  /** The uids of the pods that have cgroups. */
  async pods(): Promise<string[]> {
    if (this.#o.usesSystemd) return []
    const folders = (await this.#allHierarchies()).flatMap((root) =>
      ['', 'burstable', 'besteffort'].map((below) => path.join(root, this.#o.name, below)),
    )
    const names = await Promise.all(folders.map((folder) => readdir(folder).catch(() => [])))
    return [...new Set(names.flat())].filter((name) => name.startsWith('pod')).map((name) => name.slice('pod'.length))
  }

  /** Removes a pod's cgroup and those that containers have left in it. No process runs in them. */
  async remove(uid: string): Promise<void> {
    if (this.#o.usesSystemd) return
    for (const root of await this.#allHierarchies()) {
      for (const qosClass of ['Guaranteed', 'Burstable', 'BestEffort'] as const)
        await removeTree(path.join(root, ...this.#partsOf(uid, qosClass)))
    }
    await this.#weigh()
  }

  /** Removes the tree if it has no pods. */
  async removeIfEmpty(): Promise<void> {
    if (this.#o.usesSystemd) return
    for (const root of await this.#allHierarchies()) {
      for (const below of ['burstable', 'besteffort', ''])
        await rmdir(path.join(root, this.#o.name, below)).catch(() => {})
    }
  }

  #partsOf(uid: string, qosClass: LinuxSandbox['qosClass']): string[] {
    return [this.#o.name, ...(qosClass === 'Guaranteed' ? [] : [qosClass.toLowerCase()]), `pod${uid}`]
  }

  #hierarchies(): string[] {
    if (this.#version === 2) return [this.#o.mount]
    return controllers.map((name) => path.join(this.#o.mount, name)).filter((directory) => existsSync(directory))
  }

  /** Runtimes create cgroups in all hierarchies, also in those without limits. */
  async #allHierarchies(): Promise<string[]> {
    if (this.#version === 2) return [this.#o.mount]
    const names = await readdir(this.#o.mount)
    return names.map((name) => path.join(this.#o.mount, name))
  }

  /** In version 2 a cgroup has only the controllers that its parent delegates. */
  async #delegate(root: string, parts: readonly string[]): Promise<void> {
    for (let depth = 0; depth < parts.length; depth++) {
      const above = path.join(root, ...parts.slice(0, depth))
      const has = (await readFile(path.join(above, 'cgroup.controllers'), 'utf8')).trim().split(' ')
      const wanted = ['cpuset', 'cpu', 'io', 'memory', 'hugetlb', 'pids'].filter((name) => has.includes(name))
      await writeFile(path.join(above, 'cgroup.subtree_control'), wanted.map((name) => `+${name}`).join(' '))
    }
  }

  /** Burstable pods together get the weight of their requests, and best-effort pods the minimum. */
  async #weigh(): Promise<void> {
    const root = this.#version === 2 ? this.#o.mount : path.join(this.#o.mount, 'cpu')
    const file = this.#version === 2 ? 'cpu.weight' : 'cpu.shares'
    const least = this.#version === 2 ? 1 : 2
    const tree = path.join(root, this.#o.name)
    const burstable = path.join(tree, 'burstable')
    const pods = (await readdir(burstable).catch(() => [])).filter((name) => name.startsWith('pod'))
    const weights = await Promise.all(
      pods.map((name) => readFile(path.join(burstable, name, file), 'utf8').then(Number, () => 0)),
    )
    const sum = weights.reduce((total, weight) => total + weight, 0)
    const most = this.#version === 2 ? 10_000 : 262_144
    // A cgroup without pods does not exist.
    await writeFile(path.join(burstable, file), String(Math.min(most, Math.max(least, sum)))).catch(() => {})
    await writeFile(path.join(tree, 'besteffort', file), String(least)).catch(() => {})
  }
}

/** Cgroups are removed from the leaves up. Their files are removed with them. */
async function removeTree(directory: string): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) if (entry.isDirectory()) await removeTree(path.join(directory, entry.name))
  // If a process is still ending in it, it is removed with the pod's next cgroup, or when the node starts.
  await rmdir(directory).catch(() => {})
}
