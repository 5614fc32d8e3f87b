import type { Clock } from '../../../base/clock.ts'
import type { Logger } from '../../../base/logger.ts'
import type { RpcError } from '../../../grpc/index.ts'
import type { CriClient } from './cri-client.ts'
import { methods } from './methods.ts'

/** Looks are at least so far apart, however many events there are. */
const leastGapMs = 50
/**
 * While events come, everything is looked at this often in case one was missed; without events, as often as kubelet
 * looks.
 */
const withEventsMs = 30_000
const withoutEventsMs = 1000
/** An event may come before the runtime's own lists say the same: then it is looked again after so long. */
const againMs: readonly number[] = [50, 200, 800]
const reconnectMs = 500
/** containerd's own events that say that something has changed in pods. */
const containerdFilters = ['/tasks/exit', '/tasks/oom', '/tasks/delete', '/containers/delete'].map(
  (topic) => `topic=="${topic}",namespace=="k8s.io"`,
)

/** The streams of events that a runtime may have, the best first. */
const sources = [
  { name: 'GetContainerEvents', method: methods.events, request: {} },
  { name: 'containerd events', method: methods.containerdEvents, request: { filters: containerdFilters } },
] as const

interface RuntimeEventsOptions {
  client: CriClient
  clock: Clock
  logger: Logger
  /** Looks at everything that the runtime has; answers how much has changed since the last look. */
  look(): Promise<number>
}

/**
 * Has everything looked at when the runtime says that something has changed. Where it has no stream of events, or the
 * stream is broken, everything is looked at once a second.
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
  /** How often a look after an event has found nothing new. */
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
            logger.info('the runtime has no such events', { events: source.name })
            return this.#connect()
          }
          if (hasBegun || error?.code !== 'Unavailable')
            logger.info('the events of the runtime have ended', { events: source.name, error: error?.message })
          this.#cancelReconnect = clock.after(reconnectMs, () => this.#connect())
          this.#lookAfter(withoutEventsMs)
        },
      },
      { 'containerd-namespace': 'k8s.io' },
    )
    // A runtime that refuses the call does so at once: a stream that lives is one that it has.
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

  /** Sees to it that the next look is no later than this. */
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
      this.#o.logger.debug('the runtime did not say what it has', { error })
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
