import type { WebSocket } from 'ws'
import { readJson } from '../../api/json/index.ts'
import type { Clock } from '../../base/clock.ts'
import type { Viewer } from '../login/viewer.ts'
import type { Subscriber } from './channel.ts'
import type { Position } from './table.ts'
import { type Grant, type Subscription, TopicRefused } from './topics.ts'

/** A message from the page: the topics to show, each with the client's position. */
interface Wish {
  topics: { name: string; at?: Position }[]
}

/** The topics that a connection may subscribe to. */
export interface TopicSource {
  /** Determines what a viewer may see of a topic. Rejects with TopicRefused if it is nothing. */
  grant(topic: string, viewer: Viewer): Promise<Grant>
  subscribe(grant: Grant, subscriber: Subscriber, position?: Position): Subscription
}

/** A topic that the page wants. */
interface Wanted {
  name: string
  /** The client's position while it is not subscribed. */
  at: Position | undefined
  subscription?: Subscription | undefined
  /** The error that the client was told. */
  error?: string | undefined
  /** The time of the first of the failed checks since the last successful one. */
  failingSinceMs?: number | undefined
}

/** Interval of permission checks, so that a user who loses permissions stops receiving data. */
const checkEveryMs = 20_000
/** Interval of checks after one that failed. */
const retryMs = 2000
/** A subscription whose permissions could not be checked for this time ends. */
const unconfirmedMs = 60_000
/** Maximum number of topics; no page shows more. */
const mostTopics = 8
/** Close code of a session that has ended. */
export const loggedOutCode = 4401

const isWish = (value: unknown): value is Wish =>
  Array.isArray((value as Wish | null)?.topics) &&
  (value as Wish).topics.every((topic) => typeof (topic as { name?: unknown } | null)?.name === 'string')

/** The stream of one page. It subscribes to the requested topics while its viewer may see them. */
export class StreamConnection implements Subscriber {
  readonly #socket: WebSocket
  readonly #topics: TopicSource
  readonly #viewer: Viewer
  readonly #clock: Clock
  readonly #wanted = new Map<string, Wanted>()
  #wish: Wish['topics'] = []
  #cancelCheck = () => {}
  #cancelRetry: (() => void) | undefined
  /** False after a ping that has not been answered. */
  #isAlive = true
  /** Messages and checks are processed sequentially. */
  #turn: Promise<void> = Promise.resolve()

  constructor(socket: WebSocket, topics: TopicSource, viewer: Viewer, clock: Clock) {
    this.#socket = socket
    this.#topics = topics
    this.#viewer = viewer
    this.#clock = clock
  }

  start(): void {
    const socket = this.#socket
    const loggedOut = () => socket.close(loggedOutCode, 'the session has ended')
    socket.on('message', (data: Buffer) => this.#read(data))
    socket.on('pong', () => (this.#isAlive = true))
    socket.on('close', () => {
      this.#viewer.ended.removeEventListener('abort', loggedOut)
      this.#end()
    })
    // Handled by 'close', which follows.
    socket.on('error', () => {})
    if (this.#viewer.ended.aborted) return loggedOut()
    this.#viewer.ended.addEventListener('abort', loggedOut)
    this.#planCheck()
  }

  get backlog(): number {
    return this.#socket.bufferedAmount
  }

  send(bytes: Buffer): void {
    this.#socket.send(bytes, { binary: false })
  }

  get #isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN
  }

  #read(data: Buffer): void {
    let value: unknown
    try {
      value = readJson(data.toString())
    } catch {
      // Invalid; handled below.
    }
    if (!isWish(value)) return this.#socket.close(1008, 'not a valid message of the page')
    const { topics } = value
    this.#wish = topics
    this.#turn = this.#turn.then(() => {
      // Only the last of several messages counts.
      if (this.#wish === topics) return this.#want(topics)
    })
  }

  async #want(topics: Wish['topics']): Promise<void> {
    for (const [name, { subscription }] of this.#wanted) {
      if (topics.some((topic) => topic.name === name)) continue
      subscription?.end()
      this.#wanted.delete(name)
    }
    for (const { name, at } of topics) {
      if (this.#wanted.has(name)) continue
      if (this.#wanted.size === mostTopics) {
        this.#say(name, `a page may show at most ${mostTopics} topics`, 429)
        continue
      }
      const wanted: Wanted = { name, at }
      this.#wanted.set(name, wanted)
      await this.#check(wanted)
    }
  }

  /** Subscribes to a topic, or ends its subscription, by the viewer's present permissions. */
  async #check(wanted: Wanted): Promise<void> {
    const { name } = wanted
    try {
      const grant = await this.#topics.grant(name, this.#viewer)
      if (!this.#isOpen) return
      wanted.failingSinceMs = undefined
      wanted.error = undefined
      // Viewers with other permissions have another channel.
      if (wanted.subscription?.key === grant.key) return
      this.#unsubscribe(wanted)
      wanted.subscription = this.#topics.subscribe(grant, this, wanted.at)
    } catch (e) {
      if (!this.#isOpen) return
      const message = e instanceof Error ? e.message : String(e)
      const isRefused = e instanceof TopicRefused
      const nowMs = this.#clock.now()
      wanted.failingSinceMs = isRefused ? undefined : (wanted.failingSinceMs ?? nowMs)
      if (!isRefused) this.#planRetry()
      if (!isRefused && wanted.subscription && nowMs - wanted.failingSinceMs! < unconfirmedMs) return
      this.#unsubscribe(wanted)
      if (wanted.error !== message) this.#say(name, message, isRefused ? e.code : 503)
      wanted.error = message
    }
  }

  #unsubscribe(wanted: Wanted): void {
    if (!wanted.subscription) return
    wanted.at = wanted.subscription.position()
    wanted.subscription.end()
    wanted.subscription = undefined
  }

  #say(name: string, error: string, code: number): void {
    this.send(Buffer.from(JSON.stringify({ c: name, error, code })))
  }

  #planCheck(): void {
    this.#cancelCheck = this.#clock.after(checkEveryMs, () => {
      // A computer that sleeps does not end its connections.
      if (!this.#isAlive) return this.#socket.terminate()
      this.#isAlive = false
      this.#socket.ping()
      this.#checkAll(() => true)
      this.#planCheck()
    })
  }

  #planRetry(): void {
    this.#cancelRetry ??= this.#clock.after(retryMs, () => {
      this.#cancelRetry = undefined
      this.#checkAll(({ failingSinceMs }) => failingSinceMs !== undefined)
    })
  }

  #checkAll(concerns: (wanted: Wanted) => boolean): void {
    this.#turn = this.#turn.then(async () => {
      for (const wanted of [...this.#wanted.values()].filter(concerns)) if (this.#isOpen) await this.#check(wanted)
    })
  }

  #end(): void {
    this.#cancelCheck()
    void this.#turn.then(() => {
      this.#cancelRetry?.()
      for (const { subscription } of this.#wanted.values()) subscription?.end()
      this.#wanted.clear()
    })
  }
}
