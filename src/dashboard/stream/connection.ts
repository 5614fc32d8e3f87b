import type { WebSocket } from 'ws'
import { readJson } from '../../api/json/index.ts'
import type { Clock } from '../../base/clock.ts'
import type { Viewer } from '../login/viewer.ts'
import type { Subscriber } from './channel.ts'
import type { Position } from './table.ts'
import { type Subscription, TopicRefused, type Topics } from './topics.ts'

/** A message from the page: the topics to show, each with the client's position. */
interface Wish {
  topics: { name: string; at?: Position }[]
}

/** Interval of permission checks, so that a user who loses permissions stops receiving data. */
const checkEveryMs = 20_000
/** Maximum number of topics; no page shows more. */
const mostTopics = 8

const isWish = (value: unknown): value is Wish =>
  Array.isArray((value as Wish | null)?.topics) &&
  (value as Wish).topics.length <= mostTopics &&
  (value as Wish).topics.every(({ name }) => typeof name === 'string')

/** The stream of one page. It subscribes to the requested topics while its viewer may see them. */
export class StreamConnection implements Subscriber {
  readonly #socket: WebSocket
  readonly #topics: Topics
  readonly #viewer: Viewer
  readonly #clock: Clock
  readonly #subscribed = new Map<string, Subscription>()
  #cancelCheck = () => {}
  /** Messages are processed sequentially. */
  #turn: Promise<void> = Promise.resolve()

  constructor(socket: WebSocket, topics: Topics, viewer: Viewer, clock: Clock) {
    this.#socket = socket
    this.#topics = topics
    this.#viewer = viewer
    this.#clock = clock
  }

  start(): void {
    const socket = this.#socket
    socket.on('message', (data: Buffer) => this.#read(data))
    socket.on('close', () => this.#end())
    // Handled by 'close', which follows.
    socket.on('error', () => {})
    this.#cancelCheck = this.#clock.after(checkEveryMs, () => this.#check())
  }

  get backlog(): number {
    return this.#socket.bufferedAmount
  }

  send(bytes: Buffer): void {
    this.#socket.send(bytes, { binary: false })
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
    this.#turn = this.#turn.then(() => this.#grant(topics))
  }

  async #grant(wanted: Wish['topics']): Promise<void> {
    for (const [name, subscription] of this.#subscribed) {
      if (wanted.some((topic) => topic.name === name)) continue
      subscription.end()
      this.#subscribed.delete(name)
    }
    for (const { name, at } of wanted) if (!this.#subscribed.has(name)) await this.#subscribe(name, at)
  }

  async #subscribe(name: string, at: Position | undefined): Promise<void> {
    try {
      const subscription = await this.#topics.subscribe(name, this.#viewer, this, at)
      if (this.#socket.readyState === this.#socket.OPEN) this.#subscribed.set(name, subscription)
      else subscription.end()
    } catch (e) {
      const code = e instanceof TopicRefused ? 403 : 503
      this.send(Buffer.from(JSON.stringify({ c: name, error: e instanceof Error ? e.message : String(e), code })))
    }
  }

  /** Subscribes again: channels depend on the viewer's permissions. */
  #check(): void {
    this.#turn = this.#turn.then(async () => {
      for (const [name, subscription] of Array.from(this.#subscribed)) {
        const position = subscription.position()
        subscription.end()
        this.#subscribed.delete(name)
        await this.#subscribe(name, position)
      }
    })
    this.#cancelCheck = this.#clock.after(checkEveryMs, () => this.#check())
  }

  #end(): void {
    this.#cancelCheck()
    void this.#turn.then(() => {
      for (const { end } of this.#subscribed.values()) end()
      this.#subscribed.clear()
    })
  }
}
