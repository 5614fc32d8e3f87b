import { Readable, type Writable } from 'node:stream'
import type { Pod } from '../../api/generated/types.ts'
import type { Clock } from '../../base/clock.ts'
import { type LogOptions, type LogReader, readLog } from '../logs/index.ts'
import type { Machine } from '../machine/machine.ts'
import { containerNameLabel, podNameLabel, podNamespaceLabel } from '../runtime/labels.ts'
import { type PodState, findContainer, readySandbox } from '../runtime/pod-view.ts'
import { type Attachment, type ContainerStatus, type Runtime, RuntimeError, type Usage } from '../runtime/runtime.ts'
import type { NodeFigures, NodeServer } from './node-server.ts'

/** A request that the pod's present state does not allow, with an HTTP status code. */
export class Refusal extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.name = 'Refusal'
    this.code = code
  }
}

/** Reads the log of a container. */
export type LogSource = (container: ContainerStatus, options: LogOptions, reader: LogReader) => AsyncGenerator<Buffer>

interface PodAccessOptions {
  runtime: Runtime
  machine: Machine
  clock: Clock
  /** Default: reads the log files that the runtime reports. */
  log?: LogSource
  /** Undefined if the pod does not run on this node. */
  pod(namespace: string, name: string): Pod | undefined
  state(uid: string): PodState
  /** The uids of the pods that the runtime has. */
  uids(): readonly string[]
}

const logFiles: LogSource = ({ logPath }, options, reader) => readLog(logPath, options, reader)

/** Access to the pods of a node: logs, commands, ports and usage. */
export class PodAccess implements NodeServer {
  readonly #o: PodAccessOptions

  constructor(options: PodAccessOptions) {
    this.#o = options
  }

  has(namespace: string, name: string): boolean {
    return this.#o.pod(namespace, name) !== undefined
  }

  async logs(
    namespace: string,
    name: string,
    container: string,
    options: LogOptions,
    signal: AbortSignal,
  ): Promise<Readable> {
    const pod = this.#pod(namespace, name)
    const state = this.#o.state(pod.metadata.uid!)
    const logged = loggedContainer(pod, state, container, options.previous)
    const isWritten = () =>
      this.#o.state(pod.metadata.uid!).containers.some((c) => c.id === logged.id && c.state === 'running')
    return Readable.from((this.#o.log ?? logFiles)(logged, options, { clock: this.#o.clock, isWritten, signal }), {
      objectMode: false,
    })
  }

  async exec(
    namespace: string,
    pod: string,
    container: string,
    options: { command: readonly string[]; tty: boolean; stdin: boolean },
  ): Promise<Attachment> {
    return this.#o.runtime.exec(this.#running(namespace, pod, container).id, options)
  }

  async attach(
    namespace: string,
    pod: string,
    container: string,
    options: { tty: boolean; stdin: boolean },
  ): Promise<Attachment> {
    return this.#o.runtime.attach(this.#running(namespace, pod, container).id, options)
  }

  async connect(namespace: string, name: string, port: number): Promise<{ readable: Readable; writable: Writable }> {
    const pod = this.#pod(namespace, name)
    const sandbox = readySandbox(this.#o.state(pod.metadata.uid!), pod.spec.hostNetwork === true)
    if (!sandbox) throw new Refusal(500, `pod ${name} is not running: it has no sandbox`)
    return this.#o.runtime.connect(sandbox.id, port)
  }

  whenStopped(namespace: string, name: string, tell: () => void): () => void {
    const { runtime, pod: find, state } = this.#o
    const pod = find(namespace, name)
    const sandbox = pod && readySandbox(state(pod.metadata.uid!), pod.spec.hostNetwork === true)
    let isOver = false
    let unwatch = () => {}
    const stopped = () => {
      if (isOver) return
      isOver = true
      unwatch()
      tell()
    }
    if (!sandbox) {
      queueMicrotask(stopped)
      return () => void (isOver = true)
    }
    const look = () =>
      runtime.podSandboxStatus(sandbox.id).then(({ state: now }) => now === 'ready' || stopped(), stopped)
    unwatch = runtime.watch((event) => {
      if (event.sandboxId === sandbox.id) void look()
    })
    return () => {
      isOver = true
      unwatch()
    }
  }

  async figures(): Promise<NodeFigures> {
    const { machine, runtime, state, uids } = this.#o
    const running = uids().flatMap((uid) => state(uid).containers.filter((c) => c.state === 'running'))
    const [{ atMs, cpuNanos, memory }, usages] = await Promise.all([machine.look(), usagesOf(runtime, running)])
    return {
      node: { atMs, cpuNanos, memoryBytes: memory.capacity - memory.available },
      containers: usages.map(({ container: { id, image, labels, startedAtMs }, usage }) => ({
        namespace: labels[podNamespaceLabel] ?? '',
        pod: labels[podNameLabel] ?? '',
        container: labels[containerNameLabel] ?? '',
        id,
        image,
        startedAtMs,
        ...usage,
      })),
    }
  }

  /** The memory usage of a pod's running containers. */
  async memoryOf(uid: string): Promise<{ name: string; memoryBytes: number }[]> {
    const running = this.#o.state(uid).containers.filter((c) => c.state === 'running')
    const usages = await usagesOf(this.#o.runtime, running)
    return usages.map(({ container, usage }) => ({ name: container.metadata.name, memoryBytes: usage.memoryBytes }))
  }

  #pod(namespace: string, name: string): Pod {
    const pod = this.#o.pod(namespace, name)
    if (!pod) throw new Refusal(404, `pod "${name}" not found`)
    return pod
  }

  #running(namespace: string, name: string, container: string): ContainerStatus {
    const found = findContainer(this.#o.state(this.#pod(namespace, name).metadata.uid!), container)
    if (found?.state !== 'running') throw new Refusal(500, `container not found ("${container}")`)
    return found
  }
}

/**
 * The usage of containers. Those without figures are left out: a container may end at any time, and runtimes have no
 * common error for that. Rejects if the runtime does not answer.
 */
async function usagesOf(
  runtime: Runtime,
  containers: readonly ContainerStatus[],
): Promise<{ container: ContainerStatus; usage: Usage }[]> {
  const asked = await Promise.allSettled(containers.map(({ id }) => runtime.containerUsage(id)))
  return asked.flatMap((result, i) => {
    if (result.status === 'fulfilled') return [{ container: containers[i]!, usage: result.value }]
    const { reason } = result
    if (!(reason instanceof RuntimeError) || reason.code === 'Unavailable' || reason.code === 'DeadlineExceeded')
      throw reason
    return []
  })
}

const pullProblems = new Map([
  ['ErrImagePull', "image can't be pulled"],
  ['ImagePullBackOff', 'trying and failing to pull image'],
])

/** The container of a log request. Throws with kubelet's message if there is none. */
function loggedContainer(pod: Pod, state: PodState, name: string, isPrevious: boolean): ContainerStatus {
  const podName = pod.metadata.name!
  const [newest, ...older] = state.containers.filter((c) => c.metadata.name === name && c.state !== 'created')
  if (isPrevious) {
    // A container that has ended and waits for its restart is already the previous one.
    const previous = newest?.state === 'exited' && isWaiting(pod, name) ? newest : older[0]
    if (!previous) throw new Refusal(400, `previous terminated container "${name}" in pod "${podName}" not found`)
    return previous
  }
  if (newest) return newest
  const reason = waitingReason(pod, name)
  if (reason === undefined) throw new Refusal(400, `container "${name}" in pod "${podName}" is not available`)
  throw new Refusal(
    400,
    `container "${name}" in pod "${podName}" is waiting to start: ${pullProblems.get(reason) ?? reason}`,
  )
}

function waitingReason(pod: Pod, name: string): string | undefined {
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = pod.status ?? {}
  const status = [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses].find(
    (s) => s.name === name,
  )
  return status?.state?.waiting ? (status.state.waiting.reason ?? '') : undefined
}

const isWaiting = (pod: Pod, name: string): boolean => waitingReason(pod, name) !== undefined
