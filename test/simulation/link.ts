import { ApiError, internalError, serviceUnavailable, tooManyRequests } from '../../src/api/errors.ts'
import type { KubeObject } from '../../src/api/object.ts'
import { type ApiRequest, type Transport, TransportError, type WatchListener } from '../../src/client/index.ts'
import type { Connection } from './api-node.ts'
import { type Call, type CallListener, type Outcome, isWrite, targetOf } from './call.ts'
import { type Faults, longestDelayMs } from './faults.ts'
import type { Process } from './process.ts'
import type { Servers } from './servers.ts'
import type { Timeline } from './timeline.ts'
import { WatchLink } from './watch-link.ts'

/** The state that all connections of a world share. */
export interface Network {
  readonly timeline: Timeline
  readonly servers: Servers
  readonly listeners: readonly CallListener[]
  /** The open watches of all processes. */
  readonly watches: Set<WatchLink>
  /** Another client changes the object that a write is about to reach. */
  touch(target: { plural: string; namespace: string; name: string }): Promise<void>
  /** An earlier revision whose state the server still has. */
  pastRevision(faults: Faults): number
  nextCallNumber(): number
  /** The newest revision of the store. */
  revision(): number
}

/** The connection of one process to the API, with faults. */
export class Link implements Transport {
  readonly #network: Network
  readonly #process: Process
  readonly #faults: Faults

  constructor(network: Network, process: Process, faults: Faults) {
    this.#network = network
    this.#process = process
    this.#faults = faults
  }

  send<T>(request: ApiRequest): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#process.isDead) return // the process never knows
      if (request.signal?.aborted) return reject(request.signal.reason as Error)
      new Exchange(this.#network, this.#process, this.#faults, request, resolve as (answer: unknown) => void, reject).start()
    })
  }

  watch<T extends KubeObject>(request: ApiRequest, listener: WatchListener<T>): () => void {
    const link = new WatchLink(this.#network, this.#process, this.#faults, request, listener as unknown as WatchListener)
    link.open()
    return () => link.close()
  }

  async close(): Promise<void> {}
}

/** One request and its response. */
class Exchange {
  readonly #network: Network
  readonly #process: Process
  readonly #faults: Faults
  #request: ApiRequest
  readonly #resolve: (answer: unknown) => void
  readonly #reject: (error: Error) => void
  readonly #call: Call
  #isSettled = false
  #forget: () => void = () => {}

  constructor(network: Network, process: Process, faults: Faults, request: ApiRequest, resolve: (answer: unknown) => void, reject: (error: Error) => void) {
    this.#network = network
    this.#process = process
    this.#faults = faults
    this.#request = { ...request, signal: undefined }
    this.#resolve = resolve
    this.#reject = reject
    this.#call = {
      ...targetOf(request.path),
      number: isWrite(request) ? network.nextCallNumber() : 0,
      process,
      method: request.method,
      body: request.body,
      sentAtMs: network.timeline.nowMs,
      arrivedAtMs: undefined,
      arrivedAtRevision: undefined,
      asksNewest: !isWrite(request) && !request.query?.resourceVersion && !request.query?.continue,
      outcome: undefined,
      told: 'nothing',
    }
    const { signal } = request
    if (!signal) return
    const onAbort = () => {
      if (this.#settle()) {
        this.#call.told = 'gave up'
        this.#tell('answered')
        reject(signal.reason as Error)
      }
    }
    signal.addEventListener('abort', onAbort, { once: true })
    this.#forget = () => signal.removeEventListener('abort', onAbort)
  }

  start(): void {
    this.#tell('sent')
    const faults = this.#faults
    if (faults.happens('unsent')) return this.#fail(new TransportError('connection refused', true), faults.messageMs())
    if (faults.happens('lostRequest')) return this.#fail(new TransportError('timed out', false), faults.timeoutMs())
    const isLate = isWrite(this.#call) && faults.happens('lateRequest')
    const delayMs = isLate ? faults.between(1, longestDelayMs) : faults.messageMs()
    const connection = this.#network.servers.connect(this.#process)
    if (!connection) return this.#fail(new TransportError('connection refused', true), delayMs)
    // Until there is a response, the connection may be cut, wherever the request is.
    const stop = connection.whenCut((error) => this.#fail(error, 0))
    const forget = this.#forget
    this.#forget = () => {
      stop()
      forget()
    }
    if (isLate) this.#fail(new TransportError('the connection was reset', false), faults.between(0, delayMs))
    if (delayMs === 0 && connection.process.isRunning) return void this.#arrive(connection)
    // The sender must not change a body in transit.
    const { body } = this.#request
    if (body !== undefined) this.#request = { ...this.#request, body: JSON.parse(JSON.stringify(body)) as unknown }
    connection.process.receive(delayMs, () => void this.#arrive(connection))
  }

  async #arrive(connection: Connection): Promise<void> {
    const call = this.#call
    const faults = this.#faults
    call.arrivedAtMs = this.#network.timeline.nowMs
    call.arrivedAtRevision = this.#network.revision()
    this.#tell('arrived')
    if (faults.happens('errorBefore')) return this.#fail(refusal(faults), faults.messageMs())
    if (isWrite(call) && call.name && faults.happens('rival')) await this.#network.touch(call)
    const { path, query } = this.#request
    // Lists of whole kinds fill caches, which reject old ones. Lists of a namespace must be true.
    const isForCache = call.method === 'GET' && !call.name && !path.includes('/namespaces/') && !query?.continue
    if (isForCache && faults.happens('staleList')) {
      const past = { resourceVersion: String(this.#network.pastRevision(faults)), resourceVersionMatch: 'Exact' }
      this.#request = { ...this.#request, query: { ...query, ...past } }
      call.asksNewest = false
    }
    const outcome = await connection.transport.send<KubeObject>(this.#request).then(
      (object): Outcome => ({ object }),
      (error: Error): Outcome => ({ error }),
    )
    if (connection.process.isDead) return // the outcome is on the disk or not, and no process remains to report it
    call.outcome = outcome
    this.#tell('happened')
    if (isWrite(call) && !outcome.error && faults.happens('errorAfter')) {
      return this.#fail(faults.isHeads() ? internalError('it is unclear what happened') : new ApiError(504, 'Timeout', 'the server did not answer in time'), faults.messageMs())
    }
    if (faults.happens('lostAnswer')) return this.#fail(new TransportError('timed out', false), faults.timeoutMs())
    this.#deliver(faults.messageMs(), () => {
      call.told = 'the truth'
      this.#tell('answered')
      if (outcome.error) this.#reject(outcome.error)
      else this.#resolve(outcome.object)
    })
  }

  #fail(error: Error, delayMs: number): void {
    this.#deliver(delayMs, () => {
      this.#call.told = 'an error'
      this.#tell('answered')
      this.#reject(error)
    })
  }

  #deliver(delayMs: number, tell: () => void): void {
    const settle = () => {
      if (this.#settle()) tell()
    }
    if (delayMs === 0 && this.#process.isRunning) settle()
    else this.#process.receive(delayMs, settle)
  }

  /** False if the call is settled, or its process is dead. */
  #settle(): boolean {
    if (this.#isSettled || this.#process.isDead) return false
    this.#isSettled = true
    this.#forget()
    return true
  }

  #tell(event: keyof CallListener): void {
    for (const listener of this.#network.listeners) listener[event]?.(this.#call)
  }
}

/** The error of a server that has not processed the request. */
function refusal(faults: Faults): ApiError {
  return faults.pick([
    () => internalError('out of order'),
    () => serviceUnavailable('the server is currently unable to handle the request'),
    () => new ApiError(503, 'ServiceUnavailable', 'come back later', { retryAfterSeconds: 1 }),
    () => tooManyRequests('slow down', 1),
  ])()
}
