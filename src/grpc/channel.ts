import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Clock } from '../base/clock.ts'
import { ClientConnection, type Field, Heartbeat, type HeartbeatOptions } from '../http2/index.ts'
import { type Address, authorityOf, dial } from './address.ts'
import { Call, type CallOptions, type CallReceiver, type Method } from './call.ts'
import type { Decoded, Encodable, MessageFields } from './message.ts'
import { RpcError } from './status.ts'

export interface ChannelOptions {
  address: Address
  clock: Clock
  connectTimeoutMs?: number
  /** The maximum size of a received message. A larger one fails the call. */
  maxMessageBytes?: number
  /** The keepalive settings while calls are in progress. By default, gRPC servers allow one ping in 5 minutes. */
  heartbeat?: HeartbeatOptions
}

interface Ready {
  kind: 'ready'
  connection: ClientConnection
  heartbeat: Heartbeat | undefined
}

/** A call that waits for the connection. */
interface Waiting {
  start(ready: Ready): void
  fail(error: RpcError): void
  /** True if the call keeps waiting after a failed attempt to connect. */
  isPatient: boolean
}

type State =
  | { kind: 'idle' }
  | { kind: 'connecting' }
  | Ready
  /** The last attempt to connect failed. The next one is made after a pause. */
  | { kind: 'failed'; error: RpcError; cancelPause: () => void }
  | { kind: 'closed' }

/** The back-off between attempts to connect, which doubles after each failure. */
const firstPauseMs = 50
const longestPauseMs = 5000
const windowBytes = 4 << 20
const connectionWindowBytes = 32 << 20

/**
 * Calls to one server over one connection. The first call opens it, and the next call after it was lost opens another.
 */
export class Channel {
  readonly #options: ChannelOptions
  readonly #addressed: readonly Field[]
  readonly #waiting = new Set<Waiting>()
  #state: State = { kind: 'idle' }
  #failures = 0

  constructor(options: ChannelOptions) {
    this.#options = options
    const { address } = options
    const isSecure = address.kind === 'tcp' && address.tls !== undefined
    this.#addressed = [
      { name: ':method', value: 'POST' },
      { name: ':scheme', value: isSecure ? 'https' : 'http' },
      { name: ':authority', value: authorityOf(address) },
    ]
  }

  /** True if the connection is open and accepts calls. */
  get isReady(): boolean {
    return this.#state.kind === 'ready' && this.#state.connection.isUsable
  }

  /** Runs a unary call. Rejects with an RpcError. */
  call<Q extends MessageFields, A extends MessageFields>(
    method: Method<Q, A>,
    request: Encodable<Q>,
    options: CallOptions = {},
  ): Promise<Decoded<A>> {
    return new Promise((resolve, reject) => {
      let answer: Decoded<A> | undefined
      const call = this.open(
        method,
        {
          message: (received) => void (answer = received),
          closed: (error) => {
            if (error) reject(error)
            else if (answer === undefined) reject(new RpcError('Internal', 'the call succeeded without an answer'))
            else resolve(answer)
          },
        },
        options,
      )
      call.send(request, true)
    })
  }

  /** Starts a streaming call, in which both sides may send any number of messages. */
  open<Q extends MessageFields, A extends MessageFields>(
    method: Method<Q, A>,
    receiver: CallReceiver<Decoded<A>>,
    options: CallOptions = {},
  ): Call<Q, A> {
    const { clock, maxMessageBytes = 16 << 20 } = this.#options
    const fields = this.#fields(method.path, options)
    let heartbeat: Heartbeat | undefined
    const call = new Call(
      method,
      {
        message: (message) => receiver.message(message),
        closed: (error) => {
          heartbeat?.ended()
          this.#waiting.delete(waiting)
          receiver.closed(error)
        },
      },
      options,
      clock,
      maxMessageBytes,
    )
    const waiting: Waiting = {
      isPatient: options.waitForReady ?? false,
      fail: (error) => call.fail(error),
      start(ready) {
        if (call.isOver) return
        heartbeat = ready.heartbeat
        heartbeat?.began()
        call.start(ready.connection, fields)
      },
    }
    // Deferred, so that the caller has the call before it fails.
    if (options.signal?.aborted) queueMicrotask(() => call.cancel())
    else if (this.#state.kind === 'ready' && this.#state.connection.isUsable) waiting.start(this.#state)
    else this.#wait(waiting)
    return call
  }

  /** Closes the connection and fails every call. */
  close(): void {
    const state = this.#state
    this.#state = { kind: 'closed' }
    if (state.kind === 'failed') state.cancelPause()
    if (state.kind === 'ready') state.connection.destroy()
    this.#failWaiting(closedError(), true)
  }

  /** Closes the connection, whose calls fail. The next call opens another one. */
  disconnect(why: Error): void {
    if (this.#state.kind === 'ready') this.#state.connection.destroy(why)
  }

  #fields(path: string, { timeoutMs, metadata = {} }: CallOptions): Field[] {
    const fields: Field[] = [
      ...this.#addressed,
      { name: ':path', value: path },
      { name: 'content-type', value: 'application/grpc' },
      { name: 'te', value: 'trailers' },
    ]
    if (timeoutMs !== undefined) fields.push({ name: 'grpc-timeout', value: grpcTimeout(timeoutMs) })
    for (const [name, value] of Object.entries(metadata)) fields.push({ name, value })
    return fields
  }

  #wait(waiting: Waiting): void {
    this.#waiting.add(waiting)
    const state = this.#state
    if (state.kind === 'closed') queueMicrotask(() => waiting.fail(closedError()))
    else if (state.kind === 'failed') {
      if (!waiting.isPatient) queueMicrotask(() => waiting.fail(state.error))
    } else if (state.kind !== 'connecting') void this.#connect()
  }

  async #connect(): Promise<void> {
    const { address, clock, connectTimeoutMs = 5000 } = this.#options
    this.#state = { kind: 'connecting' }
    try {
      const socket = await dial(address, connectTimeoutMs, clock)
      if (!this.#isConnecting()) return void socket.destroy()
      if (address.kind === 'tcp' && address.tls && (socket as TLSSocket).alpnProtocol !== 'h2') {
        socket.destroy()
        throw new Error('the server does not speak HTTP/2')
      }
      this.#state = this.#greet(socket)
      this.#failures = 0
      const started = Array.from(this.#waiting)
      this.#waiting.clear()
      for (const waiting of started) waiting.start(this.#state)
    } catch (e) {
      if (this.#isConnecting()) this.#failed(e as Error)
    }
  }

  #isConnecting(): boolean {
    return this.#state.kind === 'connecting'
  }

  #greet(socket: Socket): Ready {
    const { clock, heartbeat: pulse } = this.#options
    const connection: ClientConnection = new ClientConnection({
      socket,
      streamWindow: windowBytes,
      connectionWindow: connectionWindowBytes,
      onHeard: () => heartbeat?.heard(),
      onLeaving: () => this.#lost(connection),
      onClosed: () => {
        heartbeat?.stop()
        this.#lost(connection)
      },
    })
    const heartbeat = pulse && new Heartbeat(connection, pulse, clock)
    return { kind: 'ready', connection, heartbeat }
  }

  /** Calls in progress stay on the old connection. The next call opens another one. */
  #lost(connection: ClientConnection): void {
    if (this.#state.kind === 'ready' && this.#state.connection === connection) this.#state = { kind: 'idle' }
  }

  #failed(cause: Error): void {
    const { address, clock } = this.#options
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** this.#failures++)
    const at = address.kind === 'unix' ? `unix:${address.path}` : authorityOf(address)
    const error = new RpcError('Unavailable', `connection error: ${at}: ${cause.message}`, true)
    // A timer instead of a deadline, because the system clock may be changed meanwhile.
    const cancelPause = clock.after(pauseMs, () => {
      this.#state = { kind: 'idle' }
      if (this.#waiting.size > 0) void this.#connect()
    })
    this.#state = { kind: 'failed', error, cancelPause }
    this.#failWaiting(error, false)
  }

  #failWaiting(error: RpcError, areAll: boolean): void {
    for (const waiting of Array.from(this.#waiting)) if (areAll || !waiting.isPatient) waiting.fail(error)
  }
}

const closedError = (): RpcError => new RpcError('Canceled', 'the channel is closed', true)

/** The timeout header in milliseconds, of at most eight digits. */
const grpcTimeout = (timeoutMs: number): string =>
  timeoutMs < 1e8 ? `${Math.ceil(timeoutMs)}m` : `${Math.ceil(timeoutMs / 1000)}S`
