import type {
  Container,
  ExecAction,
  GRPCAction,
  HTTPGetAction,
  Pod,
  TCPSocketAction,
} from '../../api/generated/types.ts'
import type { ContainerStatus } from '../runtime/runtime.ts'

export type ProbeKind = 'startup' | 'liveness' | 'readiness'

/** The actions that a prober runs: the three probes and the lifecycle hooks. */
export interface Handler {
  exec?: ExecAction
  httpGet?: HTTPGetAction
  tcpSocket?: TCPSocketAction
  grpc?: GRPCAction
}

/** The container that a probe or hook is for. */
export interface Target {
  pod: Pod
  spec: Container
  container: ContainerStatus
  podIp: string
}

export interface ProbeOutcome {
  isSuccess: boolean
  /** The output or error, for an event. */
  output: string
}

/** Runs probes and hooks. It never rejects: an error is a failed outcome. */
export interface Prober {
  probe(kind: ProbeKind, handler: Handler, target: Target, timeoutSeconds: number): Promise<ProbeOutcome>
  /** Runs a lifecycle hook other than `sleep`. */
  run(handler: Handler, target: Target, timeoutSeconds: number): Promise<ProbeOutcome>
}
