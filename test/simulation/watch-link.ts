import { ApiError, internalError } from '../../src/api/errors.ts'
import { type ApiRequest, TransportError, type WatchEvent, type WatchListener } from '../../src/client/index.ts'
import { targetOf } from './call.ts'
import type { Faults } from './faults.ts'
import type { Network } from './link.ts'
import type { Process } from './process.ts'

type Letter = { kind: 'opened' } | { kind: 'event'; event: WatchEvent } | { kind: 'closed'; error: Error | undefined }

/** The time of the last message, including bookmarks, by process and kind. */
const heardAtMs = new WeakMap<Process, Map<string, number>>()

/** The kinds that a process has watched, with the time of the last message. The next watch may not be open yet. */
export const heardBy = (process: Process): ReadonlyMap<string, number> => heardAtMs.get(process) ?? new Map<string, number>()

/** A watch between the server and one process. Its messages arrive in order, with the delay of the stream. */
export class WatchLink {
  readonly plural: string
  readonly process: Process
  readonly #network: Network
  readonly #faults: Faults
  readonly #request: ApiRequest
  readonly #listener: WatchListener
  /** Messages in transit, in order of arrival. */
  #letters: { letter: Letter; atMs: number }[] = []
  #isDelivering = false
  #lastAtMs = 0
  #lagMs = 0
  #state: 'open' | 'frozen' | 'over' = 'open'
  #end: () => void = () => {}

  constructor(network: Network, process: Process, faults: Faults, request: ApiRequest, listener: WatchListener) {
    this.#network = network
    this.process = process
    this.#faults = faults
    this.#request = { ...request, signal: undefined }
    this.#listener = listener
    this.plural = targetOf(request.path).plural
    request.signal?.addEventListener('abort', () => this.close(), { once: true })
  }

  open(): void {
    this.#network.watches.add(this)
    this.process.onDeath(() => this.#stop())
    // No event arrives before the watch was returned.
    queueMicrotask(() => this.#connect())
  }

  /** The process closes the watch. */
  close(): void {
    if (this.#state === 'over') return
    this.#stop()
    queueMicrotask(() => {
      if (!this.process.isDead) this.#listener.closed(undefined)
    })
  }

  /** Sets the delay of messages from now on. */
  lag(ms: number): void {
    this.#lagMs = ms
  }

  /** True if it is silent and its process has not noticed yet. */
  get isFrozen(): boolean {
    return this.#state === 'frozen'
  }

  /** Stays open without further messages. */
  freeze(): void {
    if (this.#state !== 'open') return
    this.#state = 'frozen'
    this.#letters = []
  }

  /** Loses the messages in transit and the connection. */
  break(): void {
    if (this.#state === 'over') return
    this.#state = 'open'
    this.#letters = []
    this.#lagMs = 0
    this.#lastAtMs = 0
    this.#post({ kind: 'closed', error: new TransportError('the connection was reset', false) })
  }

  #connect(): void {
    if (this.#state === 'over') return
    const delayMs = this.#faults.messageMs()
    const connection = this.#network.servers.connect(this.process)
    if (!connection) return this.#post({ kind: 'closed', error: new TransportError('connection refused', true) })
    if (this.#faults.happens('refusedWatch')) return this.#post({ kind: 'closed', error: internalError('no watch today') })
    if (this.#request.query?.sendInitialEvents && this.#faults.happens('staleList')) {
      const error = new ApiError(422, 'Invalid', 'this server does not begin with what is there')
      return this.#post({ kind: 'closed', error })
    }
    const stopWaiting = connection.whenCut((error) => this.#post({ kind: 'closed', error }))
    this.#end = stopWaiting
    const begin = () => {
      stopWaiting()
      if (this.#state === 'over') return
      this.#end = connection.transport.watch(this.#request, {
        opened: () => this.#post({ kind: 'opened' }),
        event: (event) => {
          this.#post({ kind: 'event', event })
          if (event.type !== 'BOOKMARK' && this.#faults.happens('duplicateEvent')) this.#post({ kind: 'event', event })
        },
        closed: (error) => this.#post({ kind: 'closed', error }),
      })
    }
    if (delayMs === 0 && connection.process.isRunning) begin()
    else connection.process.receive(delayMs, begin)
  }

  #post(letter: Letter): void {
    if (this.#state !== 'open') return
    const { nowMs } = this.#network.timeline
    const atMs = Math.max(this.#lastAtMs, nowMs + this.#lagMs + this.#faults.eventMs())
    if (this.#letters.length === 0 && !this.#isDelivering && atMs <= nowMs && this.process.isRunning) return this.#deliver(letter)
    this.#lastAtMs = atMs
    this.#letters.push({ letter, atMs })
    if (this.#letters.length === 1) this.#wait()
  }

  #wait(): void {
    const next = this.#letters[0]
    if (!next) return
    this.process.receive(Math.max(0, next.atMs - this.#network.timeline.nowMs), () => {
      // The stream may have been broken or frozen meanwhile.
      if (this.#letters[0] !== next || this.#state !== 'open') return
      this.#letters.shift()
      this.#deliver(next.letter)
      this.#wait()
    })
  }

  #deliver(letter: Letter): void {
    if (this.#state !== 'open') return
    this.#isDelivering = true
    try {
      if (letter.kind === 'opened') this.#listener.opened()
      else if (letter.kind === 'event') {
        this.#noteHeard()
        this.#listener.event(letter.event)
      }
      else {
        this.#stop()
        this.#listener.closed(letter.error)
      }
    } finally {
      this.#isDelivering = false
    }
  }

  #noteHeard(): void {
    const ofProcess = heardAtMs.get(this.process) ?? new Map<string, number>()
    heardAtMs.set(this.process, ofProcess.set(this.plural, this.#network.timeline.nowMs))
  }

  #stop(): void {
    if (this.#state === 'over') return
    this.#state = 'over'
    this.#letters = []
    this.#network.watches.delete(this)
    this.#end()
  }
}
