import type { Readable, Writable } from 'node:stream'
import type { LogOptions } from '../logs/index.ts'
import type { Attachment, Usage } from '../runtime/runtime.ts'

/** What one container takes. */
export interface ContainerFigures extends Usage {
  namespace: string
  pod: string
  container: string
  id: string
  image: string
  startedAtMs: number
}

/** What a node and all that runs on it take. */
export interface NodeFigures {
  node: Usage
  containers: readonly ContainerFigures[]
}

/**
 * What people see of the pods of a node through the API server: the door that logs, exec, attach, port-forward and top
 * come in by.
 */
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
  /** Calls `tell` once when the pod has stopped, at once if it does not run. The returned function takes that back. */
  whenStopped(namespace: string, pod: string, tell: () => void): () => void
  figures(): Promise<NodeFigures>
}
