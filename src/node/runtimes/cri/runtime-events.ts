import type { Clock } from '../../../base/clock.ts'
import type { Logger } from '../../../base/logger.ts'
import type { RpcError } from '../../../grpc/index.ts'
import type { CriClient } from './cri-client.ts'
import { methods } from './methods.ts'

/** The minimum interval between lists, whatever the number of events. */
const leastGapMs = 50
/** The interval of lists while events arrive, in case one is missed. Without events the interval is kubelet's. */
const withEventsMs = 30_000
const withoutEventsMs = 1000
/** An event may arrive before the runtime's lists show the change. They are then repeated after these delays. */
const againMs: readonly number[] = [50, 200, 800]
const reconnectMs = 500
/** containerd's own events that report changes of pods. */
const containerdFilters = ['/tasks/exit', '/tasks/oom', '/tasks/delete', '/containers/delete'].map(
  (topic) => `topic=="${topic}",namespace=="k8s.io"`,
)

/** The event streams of runtimes, the preferred one first. */
const sources = [
  { name: 'GetContainerEvents', method: methods.events, request: {} },
  { name: 'containerd events', method: methods.containerdEvents, request: { filters: containerdFilters } },
] as const

interface RuntimeEventsOptions {
  client: CriClient
  clock: Clock
  logger: Logger
  /** Lists all objects of the runtime. Resolves with the number of changes since the last list. */
  look(): Promise<number>
}

/**
 * Lists all objects when the runtime reports a change. If it has no event stream, or the stream is broken, all objects
 * are listed once a second.
 */
export class RuntimeEvents {
  readonly #o: RuntimeEventsOptions
  #source = 0
  #isStreaming = false
  #cancelStream = () => {}
  #cancelReconnect = () => {}
  #cancelLook = () => {}
  #lookDueMs = Infinity
  #lastLookMs = 0
  #isLooking = false
  #isLookWanted = false
  #isStopped = false
  /** The index of the next repetition after an event without a visible change. */
  #again = againMs.length

  constructor(options: RuntimeEventsOptions) {
    this.#o = options
  }

  start(): void {
    this.#connect()
    this.#lookAfter(0)
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelStream()
    this.#cancelReconnect()
    this.#cancelLook()
  }

  /** `events` while a stream is open. */
  get mode(): 'events' | 'polling' {
    return this.#isStreaming ? 'events' : 'polling'
  }

  #connect(): void {
    const source = sources[this.#source]
    if (this.#isStopped || !source) return
    const { client, clock, logger } = this.#o
    let hasBegun = false
    const call = client.open<never, never>(
      source.method as never,
      source.request as never,
      {
        message: () => {
          hasBegun = true
          this.#heard()
        },
        closed: (error) => {
          this.#isStreaming = false
          cancelOpen()
          if (this.#isStopped) return
          if (isUnknownCall(error)) {
            this.#source++
            logger.info('the runtime does not support these events', { events: source.name })
            return this.#connect()
          }
          if (hasBegun || error?.code !== 'Unavailable')
            logger.info('the event stream of the runtime has ended', { events: source.name, error: error?.message })
          this.#cancelReconnect = clock.after(reconnectMs, () => this.#connect())
          this.#lookAfter(withoutEventsMs)
        },
      },
      { 'containerd-namespace': 'k8s.io' },
    )
    // A runtime without the call rejects it at once. A stream that is still open is supported.
    const cancelOpen = clock.after(reconnectMs, () => {
      if (call.isOver) return
      this.#isStreaming = true
      this.#lookAfter(0)
    })
    this.#cancelStream = () => {
      cancelOpen()
      call.cancel()
    }
  }

  #heard(): void {
    this.#again = 0
    this.#lookAfter(Math.max(0, this.#lastLookMs + leastGapMs - this.#o.clock.now()))
  }

  /** Schedules the next list no later than after the delay. */
  #lookAfter(delayMs: number): void {
    if (this.#isLooking) this.#isLookWanted ||= delayMs < withoutEventsMs
    const dueMs = this.#o.clock.now() + delayMs
    if (this.#isStopped || dueMs >= this.#lookDueMs) return
    this.#cancelLook()
    this.#lookDueMs = dueMs
    this.#cancelLook = this.#o.clock.after(delayMs, () => void this.#look())
  }

  async #look(): Promise<void> {
    this.#lookDueMs = Infinity
    if (this.#isLooking) {
      this.#isLookWanted = true
      return
    }
    this.#isLooking = true
    this.#isLookWanted = false
    let changes = 0
    try {
      changes = await this.#o.look()
    } catch (error) {
      this.#o.logger.debug('failed to list containers', { error })
    }
    this.#isLooking = false
    this.#lastLookMs = this.#o.clock.now()
    if (changes > 0) this.#again = againMs.length
    if (this.#isLookWanted) return this.#lookAfter(leastGapMs)
    if (this.#again < againMs.length) return this.#lookAfter(againMs[this.#again++]!)
    this.#lookAfter(this.#isStreaming ? withEventsMs : withoutEventsMs)
  }
}

const isUnknownCall = (error: RpcError | undefined): boolean => error?.code === 'Unimplemented'
