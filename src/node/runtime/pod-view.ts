import type { Logger } from '../../base/logger.ts'
import { podUidLabel } from './labels.ts'
import { type ContainerStatus, type Runtime, RuntimeError, type RuntimeEvent, type SandboxStatus } from './runtime.ts'

/** The sandboxes and containers of one pod in the runtime. */
export interface PodState {
  /** Newest first. */
  readonly sandboxes: readonly SandboxStatus[]
  /** Newest first. */
  readonly containers: readonly ContainerStatus[]
}

const nothing: PodState = { sandboxes: [], containers: [] }

const newestFirst = (
  a: { createdAtMs: number; metadata: { attempt: number } },
  b: { createdAtMs: number; metadata: { attempt: number } },
): number => b.createdAtMs - a.createdAtMs || b.metadata.attempt - a.metadata.attempt

/** The newest container with the name. */
export const findContainer = (state: PodState, name: string): ContainerStatus | undefined =>
  state.containers.find((c) => c.metadata.name === name)

/** The sandbox in which containers are started: the newest one, if it is ready and has its network. */
export function readySandbox(state: PodState, hostNetwork: boolean): SandboxStatus | undefined {
  const sandbox = state.sandboxes[0]
  return sandbox?.state === 'ready' && (hostNetwork || sandbox.ips.length > 0) ? sandbox : undefined
}

/** Reads the termination message of an ended container. Called once for each container. */
type LastWords = (status: ContainerStatus) => Promise<string>

/** A cache of the runtime's state by pod. An event refreshes only the sandbox or container that it names. */
export class PodView {
  readonly #runtime: Runtime
  readonly #logger: Logger
  readonly #pods = new Map<string, PodState>()
  readonly #uidOfSandbox = new Map<string, string>()
  /** The number of lists that have started. */
  #lists = 0
  /**
   * The number of lists that had started when the shown state of each object was read, or the object was dropped. A
   * result that was read earlier never replaces one that was read later.
   */
  readonly #asOf = new Map<string, number>()
  /** The objects that are being read. True if one has changed again meanwhile. */
  readonly #asking = new Map<string, { again: boolean; done: Promise<void> }>()
  readonly #changed: (uid: string) => void
  readonly #lastWords: LastWords | undefined
  #unwatch = () => {}

  /** Without `lastWords`, containers have no termination messages. */
  constructor(runtime: Runtime, changed: (uid: string) => void, logger: Logger, lastWords?: LastWords) {
    this.#runtime = runtime
    this.#lastWords = lastWords
    this.#changed = changed
    this.#logger = logger
  }

  /** Lists everything once and follows the runtime's events from then on. */
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
    return this.#pods.get(uid) ?? nothing
  }

  /** Lists everything again and reports pods that have changed. */
  async relist(): Promise<void> {
    const list = ++this.#lists
    // The list may lack what was created, and have an older state of what has changed, since it started.
    const isNewer = (id: string) => (this.#asOf.get(id) ?? 0) >= list
    const [sandboxes, listed] = await Promise.all([this.#runtime.listPodSandboxes(), this.#runtime.listContainers()])
    const containers = this.#lastWords ? await Promise.all(listed.map((status) => this.#withLastWords(status))) : listed
    const seen = new Set([...sandboxes, ...containers].map(({ id }) => id))
    const touched = new Set<string>()
    for (const sandbox of sandboxes)
      if (!isNewer(sandbox.id) && this.#putSandbox(sandbox, list)) touched.add(sandbox.metadata.uid)
    for (const container of containers)
      if (!isNewer(container.id) && this.#putContainer(container, list))
        touched.add(container.labels[podUidLabel] ?? '')
    for (const [uid, state] of this.#pods) {
      for (const { id } of [...state.sandboxes, ...state.containers]) {
        if (seen.has(id) || isNewer(id)) continue
        this.#drop(uid, id)
        this.#uidOfSandbox.delete(id)
        touched.add(uid)
      }
    }
    // The marks of objects that are gone are needed by lists that started before their end only.
    for (const [id, asOf] of this.#asOf) if (asOf < list) this.#asOf.delete(id)
    for (const uid of touched) this.#changed(uid)
  }

  /** Resolves when the cache has the present state of a sandbox, or of a container in it. */
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

  async #heard({ kind, sandboxId, containerId }: RuntimeEvent): Promise<void> {
    try {
      const before = this.#uidOfSandbox.get(sandboxId)
      // A deleted object is not read again. A read that started earlier may still return its old state.
      const isSettled = kind === 'deleted' && !this.#asking.has(containerId ?? sandboxId)
      await (isSettled ? this.#deleted(sandboxId, containerId) : this.refresh(sandboxId, containerId))
      const uid = this.#uidOfSandbox.get(sandboxId) ?? before
      if (uid !== undefined) this.#changed(uid)
    } catch (error) {
      this.#logger.warn('failed to read the state of a sandbox or container', { sandboxId, containerId, error })
    }
  }

  async #askSandbox(id: string): Promise<void> {
    const asOf = this.#lists
    try {
      this.#putSandbox(await this.#runtime.podSandboxStatus(id), asOf)
    } catch (e) {
      if (!isGone(e)) throw e
      this.#deleted(id)
    }
  }

  async #askContainer(sandboxId: string, id: string): Promise<void> {
    const asOf = this.#lists
    try {
      this.#putContainer(await this.#withLastWords(await this.#runtime.containerStatus(id)), asOf)
    } catch (e) {
      if (!isGone(e)) throw e
      this.#deleted(sandboxId, id)
    }
  }

  #deleted(sandboxId: string, containerId?: string): void {
    this.#drop(this.#uidOfSandbox.get(sandboxId), containerId ?? sandboxId)
    if (containerId === undefined) this.#uidOfSandbox.delete(sandboxId)
  }

  async #withLastWords(status: ContainerStatus): Promise<ContainerStatus> {
    if (status.state !== 'exited' || !this.#lastWords) return status
    const known = find(this.state(status.labels[podUidLabel] ?? '').containers, status.id)
    return { ...status, message: known?.state === 'exited' ? known.message : await this.#lastWords(status) }
  }

  /** Returns true if the state has changed. */
  #putSandbox(status: SandboxStatus, asOf: number): boolean {
    const { uid } = status.metadata
    if (!this.#isLatest(status.id, asOf)) return false
    const { sandboxes, containers } = this.state(uid)
    this.#uidOfSandbox.set(status.id, uid)
    this.#pods.set(uid, { sandboxes: withStatus(sandboxes, status), containers })
    return find(sandboxes, status.id)?.state !== status.state
  }

  #putContainer(status: ContainerStatus, asOf: number): boolean {
    const uid = this.#uidOfSandbox.get(status.sandboxId) ?? status.labels[podUidLabel]
    if (uid === undefined || !this.#isLatest(status.id, asOf)) return false
    this.#uidOfSandbox.set(status.sandboxId, uid)
    const { sandboxes, containers } = this.state(uid)
    this.#pods.set(uid, { sandboxes, containers: withStatus(containers, status) })
    return find(containers, status.id)?.state !== status.state
  }

  /** Marks the object as read at that time, unless a later read is shown already. */
  #isLatest(id: string, asOf: number): boolean {
    if ((this.#asOf.get(id) ?? 0) > asOf) return false
    this.#asOf.set(id, asOf)
    return true
  }

  #drop(uid: string | undefined, id: string): void {
    this.#asOf.set(id, this.#lists)
    const state = uid === undefined ? undefined : this.#pods.get(uid)
    if (!state) return
    const sandboxes = state.sandboxes.filter((sandbox) => sandbox.id !== id)
    const containers = state.containers.filter((container) => container.id !== id)
    if (sandboxes.length === 0 && containers.length === 0) this.#pods.delete(uid!)
    else this.#pods.set(uid!, { sandboxes, containers })
  }
}

const find = <S extends SandboxStatus | ContainerStatus>(all: readonly S[], id: string): S | undefined =>
  all.find((s) => s.id === id)

/** Replaces the status with the same id, or adds it. */
function withStatus<S extends SandboxStatus | ContainerStatus>(all: readonly S[], status: S): readonly S[] {
  const isKnown = all.some(({ id }) => id === status.id)
  const next = isKnown ? all.map((s) => (s.id === status.id ? status : s)) : all.concat(status)
  return next.sort(newestFirst)
}

const isGone = (e: unknown): boolean => e instanceof RuntimeError && e.code === 'NotFound'
