import type { Frame } from '../../src/dashboard/stream/table.ts'
import { Mirror } from './mirror.ts'
import { columnsOf } from './topics.ts'

/** The state of the connection. */
export type Link = 'connecting' | 'live' | 'lost'

export interface Topic {
  readonly name: string
  readonly mirror: Mirror
  /** The reason why the server rejects the topic. */
  error: string | undefined
  /** Called with the ids of rows that were added, changed or removed. Undefined: any row may have changed. */
  readonly listeners: Set<(ids: readonly number[] | undefined) => void>
  users: number
}

const retryMs = [250, 500, 1000, 2000, 5000]
/** An unused topic is kept for this time, so that a view that is opened again shows it at once. */
const keepMs = 30_000

/** The only connection of the page. It subscribes to the topics of the views, and resumes after a disconnection. */
export class Stream {
  link: Link = 'connecting'
  readonly #topics = new Map<string, Topic>()
  readonly #linkListeners = new Set<() => void>()
  readonly #loggedOut: () => void
  #socket: WebSocket | undefined
  #tries = 0

  constructor(loggedOut: () => void) {
    this.#loggedOut = loggedOut
  }

  onLink(fn: () => void): () => void {
    this.#linkListeners.add(fn)
    return () => void this.#linkListeners.delete(fn)
  }

  /** Subscribes to a topic. */
  use(name: string): Topic {
    let topic = this.#topics.get(name)
    if (!topic) {
      topic = {
        name,
        mirror: new Mirror(Object.values(columnsOf(name))),
        error: undefined,
        listeners: new Set(),
        users: 0,
      }
      this.#topics.set(name, topic)
    }
    topic.users++
    this.#wish()
    return topic
  }

  release(topic: Topic): void {
    topic.users--
    setTimeout(() => {
      if (topic.users > 0) return
      this.#topics.delete(topic.name)
      this.#wish()
    }, keepMs)
  }

  /** Connects, and reconnects after each disconnection. */
  start(): void {
    if (!this.#socket) this.#connect()
  }

  #connect(): void {
    const socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/api/stream`)
    this.#socket = socket
    socket.addEventListener('open', () => {
      this.#tries = 0
      this.#set('live')
      this.#wish()
    })
    socket.addEventListener('message', ({ data }) => this.#take(JSON.parse(data as string)))
    socket.addEventListener('close', () => this.#retry())
  }

  /** Sends the topics of the views, each with the position that the page has. */
  #wish(): void {
    if (this.#socket?.readyState !== WebSocket.OPEN) return
    const topics = [...this.#topics.values()].map(({ name, mirror }) => ({
      name,
      ...(mirror.position ? { at: mirror.position } : {}),
    }))
    this.#socket.send(JSON.stringify({ topics }))
  }

  #take({ c, e, error, ...frame }: Frame & { c: string; e: string; error?: string }): void {
    const topic = this.#topics.get(c)
    if (!topic) return
    topic.error = error
    const ids = error === undefined ? topic.mirror.take(e, frame) : undefined
    for (const listener of topic.listeners) listener(frame.s ? undefined : ids)
  }

  #retry(): void {
    this.#set('lost')
    setTimeout(() => void this.#again(), retryMs[Math.min(this.#tries++, retryMs.length - 1)])
  }

  async #again(): Promise<void> {
    // The server rejects every connection of an expired session, which a WebSocket does not report.
    const answer = await fetch('/api/me').catch(() => undefined)
    if (answer?.status === 401) return this.#loggedOut()
    this.#connect()
  }

  #set(link: Link): void {
    this.link = link
    for (const fn of this.#linkListeners) fn()
  }
}
