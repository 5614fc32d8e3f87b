import type { Clock } from '../../../base/clock.ts'
import {
  Channel,
  type Call,
  type CallReceiver,
  type Decoded,
  type Encodable,
  type MessageFields,
  type Method,
  RpcError,
  parseAddress,
} from '../../../grpc/index.ts'
import { RuntimeError, SandboxNetworkError } from '../../runtime/runtime.ts'

/** Kubelet's default for calls other than creating sandboxes and pulling images. */
const defaultTimeoutMs = 120_000

interface CallLimits {
  /** Undefined: the client's default. 0: none. */
  timeoutMs?: number
  signal?: AbortSignal
}

/** Calls a container runtime over its socket. Errors are RuntimeErrors with the runtime's message. */
export class CriClient {
  readonly #channel: Channel
  readonly #timeoutMs: number

  /** `endpoint` is a path or a URL such as `unix:///run/containerd/containerd.sock`. */
  constructor(endpoint: string, clock: Clock, timeoutMs = defaultTimeoutMs) {
    const address = parseAddress(endpoint.startsWith('/') ? `unix://${endpoint}` : endpoint)
    // Lists of a node with many images and pods are long.
    this.#channel = new Channel({ address, clock, maxMessageBytes: 64 << 20 })
    this.#timeoutMs = timeoutMs
  }

  /** The timeout of calls without one of their own. */
  get timeoutMs(): number {
    return this.#timeoutMs
  }

  async call<Q extends MessageFields, A extends MessageFields>(
    method: Method<Q, A>,
    request: Encodable<Q>,
    limits: CallLimits = {},
  ): Promise<Decoded<A>> {
    const timeoutMs = limits.timeoutMs ?? this.#timeoutMs
    try {
      return await this.#channel.call(method, request, {
        ...(timeoutMs > 0 ? { timeoutMs } : {}),
        signal: limits.signal,
      })
    } catch (e) {
      throw runtimeErrorOf(e)
    }
  }

  /** Opens a call with a stream of responses. */
  open<Q extends MessageFields, A extends MessageFields>(
    method: Method<Q, A>,
    request: Encodable<Q>,
    receiver: CallReceiver<Decoded<A>>,
    metadata = {},
  ): Call<Q, A> {
    const call = this.#channel.open(method, receiver, { metadata })
    call.send(request, true)
    return call
  }

  close(): void {
    this.#channel.close()
  }
}

const codes = new Set(['NotFound', 'AlreadyExists', 'InvalidArgument', 'Unavailable', 'DeadlineExceeded'])

/** Formats errors of a runtime as gRPC and thus Kubernetes do: `rpc error: code = Unknown desc = …`. */
function runtimeErrorOf(error: unknown): unknown {
  if (!(error instanceof RpcError)) return error
  // For a timeout the message is Go's.
  const message =
    error.code === 'DeadlineExceeded' && error.detail.startsWith('no answer within')
      ? 'rpc error: code = DeadlineExceeded desc = context deadline exceeded'
      : error.message
  return new RuntimeError(codes.has(error.code) ? (error.code as RuntimeError['code']) : 'Unknown', message)
}

export const isNotFound = (error: unknown): boolean => error instanceof RuntimeError && error.code === 'NotFound'
export const isUnavailable = (error: unknown): boolean => error instanceof RuntimeError && error.code === 'Unavailable'

/** Ignores NotFound: an object that is gone need not be stopped or removed. */
export const unlessGone = (error: unknown): void => {
  if (!isNotFound(error)) throw error
}

/** Matches the messages of containerd and CRI-O for a failed network setup. */
const networkWords =
  /failed to set ?up network|failed to create network|error adding .* to CNI network|cni plugin not initialized|network namespace|plugin type=/i

/** Converts errors of a sandbox's network to SandboxNetworkErrors. */
export function networkErrorOf(error: unknown): unknown {
  return error instanceof RuntimeError && networkWords.test(error.message)
    ? new SandboxNetworkError(error.message)
    : error
}
