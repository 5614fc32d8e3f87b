import type { Logger } from '../../base/logger.ts'
import { podUidLabel } from './labels.ts'
import { type ContainerStatus, type Runtime, RuntimeError, type RuntimeEvent, type SandboxStatus } from './runtime.ts'

/** What a runtime has of one pod. */
export interface PodState {
  /** Newest first. */
  readonly sandboxes: readonly SandboxStatus[]
  /** Newest first. */
  readonly containers: readonly ContainerStatus[]
}

const nothing: PodState = { sandboxes: [], containers: [] }

interface Entry {
  readonly sandboxes: Map<string, SandboxStatus>
  readonly containers: Map<string, ContainerStatus>
  /** Made when it is asked for. */
  state: PodState | undefined
}

const newestFirst = (a: { createdAtMs: number; metadata: { attempt: number } }, b: { createdAtMs: number; metadata: { attempt: number } }): number =>
  b.createdAtMs - a.createdAtMs || b.metadata.attempt - a.metadata.attempt

/** The newest container of a name. */
export const findContainer = (state: PodState, name: string): ContainerStatus | undefined => state.containers.find((c) => c.metadata.name === name)

/** The sandbox that containers are started in: the newest, if it is ready and has its network. */
export function readySandbox(state: PodState, hostNetwork: boolean): SandboxStatus | undefined {
  const sandbox = state.sandboxes[0]
  return sandbox?.state === 'ready' && (hostNetwork || sandbox.ips.length > 0) ? sandbox : undefined
}

/** What is to be said of a container that has ended, asked for once. */
export type LastWords = (status: ContainerStatus) => Promise<string>

/** Remembers what the runtime has, by pod: only what an event tells of is asked for anew. */
export class PodView {
  readonly #runtime: Runtime
  readonly #logger: Logger
  readonly #pods = new Map<string, Entry>()
  readonly #uidOfSandbox = new Map<string, string>()
  /** What is being asked for; true where it changed again meanwhile. */
  readonly #asking = new Map<string, { again: boolean; done: Promise<void> }>()
  readonly #changed: (uid: string) => void
  readonly #lastWords: LastWords | undefined
  #unwatch = () => {}

  /** Without `lastWords` containers end as the runtime says, without a word of their own. */
  constructor(runtime: Runtime, changed: (uid: string) => void, logger: Logger, lastWords?: LastWords) {
    this.#runtime = runtime
    this.#lastWords = lastWords
    this.#changed = changed
    this.#logger = logger
  }

  /** Looks at everything once, and from then on at what changes. */
  async start(): Promise<void> {
    this.#unwatch = this.#runtime.watch((event) => void this.#heard(event))
    await this.relist()
  }

  stop(): void {
    this.#unwatch()
  }

  uids(): string[] {
    return [...this.#pods.keys()]
  }

  state(uid: string): PodState {
    const entry = this.#pods.get(uid)
    if (!entry) return nothing
    entry.state ??= { sandboxes: [...entry.sandboxes.values()].sort(newestFirst), containers: [...entry.containers.values()].sort(newestFirst) }
    return entry.state
  }

  /** Looks at everything again, and tells of what is not as it was. */
  async relist(): Promise<void> {
    const [sandboxes, listed] = await Promise.all([this.#runtime.listPodSandboxes(), this.#runtime.listContainers()])
    const containers = this.#lastWords ? await Promise.all(listed.map((status) => this.#withLastWords(status))) : listed
    const seen = new Set([...sandboxes, ...containers].map(({ id }) => id))
    const touched = new Set<string>()
    for (const sandbox of sandboxes) if (this.#putSandbox(sandbox)) touched.add(sandbox.metadata.uid)
    for (const container of containers) if (this.#putContainer(container)) touched.add(container.labels[podUidLabel] ?? '')
    for (const [uid, entry] of this.#pods) {
      for (const id of [...entry.sandboxes.keys(), ...entry.containers.keys()]) {
        if (seen.has(id)) continue
        this.#drop(uid, id)
        touched.add(uid)
      }
    }
    for (const uid of touched) this.#changed(uid)
  }

  /** Resolves when the state of a sandbox, or of a container in it, is known as it is now. */
  async refresh(sandboxId: string, containerId?: string): Promise<void> {
    const id = containerId ?? sandboxId
    const asking = this.#asking.get(id)
    if (asking) {
      asking.again = true
      return asking.done
    }
    const entry = { again: true, done: Promise.resolve() }
    this.#asking.set(id, entry)
    entry.done = (async () => {
      try {
        while (entry.again) {
          entry.again = false
          await (containerId ? this.#askContainer(sandboxId, containerId) : this.#askSandbox(sandboxId))
        }
      } finally {
        this.#asking.delete(id)
      }
    })()
    return entry.done
  }

  async #heard({ sandboxId, containerId }: RuntimeEvent): Promise<void> {
    try {
      const before = this.#uidOfSandbox.get(sandboxId)
      await this.refresh(sandboxId, containerId)
      const uid = this.#uidOfSandbox.get(sandboxId) ?? before
      if (uid !== undefined) this.#changed(uid)
    } catch (error) {
      this.#logger.warn('the runtime did not say what has changed', { sandboxId, containerId, error })
    }
  }

  async #askSandbox(id: string): Promise<void> {
    try {
      this.#putSandbox(await this.#runtime.podSandboxStatus(id))
    } catch (e) {
      if (!isGone(e)) throw e
      this.#drop(this.#uidOfSandbox.get(id), id)
      this.#uidOfSandbox.delete(id)
    }
  }

  async #askContainer(sandboxId: string, id: string): Promise<void> {
    try {
      this.#putContainer(await this.#withLastWords(await this.#runtime.containerStatus(id)))
    } catch (e) {
      if (!isGone(e)) throw e
      this.#drop(this.#uidOfSandbox.get(sandboxId), id)
    }
  }

  async #withLastWords(status: ContainerStatus): Promise<ContainerStatus> {
    if (status.state !== 'exited' || !this.#lastWords) return status
    const known = this.#pods.get(status.labels[podUidLabel] ?? '')?.containers.get(status.id)
    return { ...status, message: known?.state === 'exited' ? known.message : await this.#lastWords(status) }
  }

  #putSandbox(status: SandboxStatus): boolean {
    const { uid } = status.metadata
    const entry = this.#entry(uid)
    const old = entry.sandboxes.get(status.id)
    this.#uidOfSandbox.set(status.id, uid)
    entry.sandboxes.set(status.id, status)
    entry.state = undefined
    return old?.state !== status.state
  }

  #putContainer(status: ContainerStatus): boolean {
    const uid = this.#uidOfSandbox.get(status.sandboxId) ?? status.labels[podUidLabel]
    if (uid === undefined) return false
    this.#uidOfSandbox.set(status.sandboxId, uid)
    const entry = this.#entry(uid)
    const old = entry.containers.get(status.id)
    entry.containers.set(status.id, status)
    entry.state = undefined
    return old?.state !== status.state
  }

  #drop(uid: string | undefined, id: string): void {
    const entry = uid === undefined ? undefined : this.#pods.get(uid)
    if (!entry) return
    entry.sandboxes.delete(id)
    entry.containers.delete(id)
    entry.state = undefined
    if (entry.sandboxes.size === 0 && entry.containers.size === 0) this.#pods.delete(uid!)
  }

  #entry(uid: string): Entry {
    let entry = this.#pods.get(uid)
    if (!entry) this.#pods.set(uid, (entry = { sandboxes: new Map(), containers: new Map(), state: undefined }))
    return entry
  }
}

const isGone = (e: unknown): boolean => e instanceof RuntimeError && e.code === 'NotFound'
