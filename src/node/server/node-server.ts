import type { Readable, Writable } from 'node:stream'
import type { LogOptions } from '../logs/index.ts'
import type { Attachment, Usage } from '../runtime/runtime.ts'

/** The resource usage of one container. */
export interface ContainerFigures extends Usage {
  namespace: string
  pod: string
  container: string
  id: string
  image: string
  startedAtMs: number
}

/** The resource usage of a node and its containers. */
export interface NodeFigures {
  node: Usage
  containers: readonly ContainerFigures[]
}

/** Serves requests for a node's pods that come through the API server: logs, exec, attach, port-forward and top. */
export interface NodeServer {
  logs(namespace: string, pod: string, container: string, options: LogOptions, signal: AbortSignal): Promise<Readable>
  exec(
    namespace: string,
    pod: string,
    container: string,
    options: { command: readonly string[]; tty: boolean; stdin: boolean },
  ): Promise<Attachment>
  attach(
    namespace: string,
    pod: string,
    container: string,
    options: { tty: boolean; stdin: boolean },
  ): Promise<Attachment>
  connect(namespace: string, pod: string, port: number): Promise<{ readable: Readable; writable: Writable }>
  /** Calls `tell` once when the pod has stopped, or at once if it does not run. The returned function cancels. */
  whenStopped(namespace: string, pod: string, tell: () => void): () => void
  figures(): Promise<NodeFigures>
}
