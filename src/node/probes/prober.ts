import type { Container, ExecAction, GRPCAction, HTTPGetAction, Pod, TCPSocketAction } from '../../api/generated/types.ts'
import type { ContainerStatus } from '../runtime/runtime.ts'

export type ProbeKind = 'startup' | 'liveness' | 'readiness'

/** What is done to find out how a container is, or to tell it something. */
export interface Handler {
  exec?: ExecAction
  httpGet?: HTTPGetAction
  tcpSocket?: TCPSocketAction
  grpc?: GRPCAction
}

/** Where a probe goes. */
export interface Target {
  pod: Pod
  spec: Container
  container: ContainerStatus
  podIp: string
}

export interface ProbeOutcome {
  isSuccess: boolean
  /** What came of it, for an event. */
  output: string
}

/** Looks after containers. It never rejects: what goes wrong is an outcome. */
export interface Prober {
  probe(kind: ProbeKind, handler: Handler, target: Target, timeoutSeconds: number): Promise<ProbeOutcome>
  /** Runs a hook of a container's, but for `sleep`. */
  run(handler: Handler, target: Target, timeoutSeconds: number): Promise<ProbeOutcome>
}
