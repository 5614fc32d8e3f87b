import type { Frame } from '../../src/dashboard/stream/table.ts'
import { Mirror } from './mirror.ts'
import { columnsOf } from './topics.ts'

/** The state of the connection. */
export type Link = 'connecting' | 'live' | 'lost'

export interface Topic {
  readonly name: string
  readonly mirror: Mirror
  /** The reason why the server rejects the topic, with the code of its answer. */
  error: { message: string; code: number } | undefined
  /** Called with the ids of rows that were added, changed or removed. Undefined: any row may have changed. */
  readonly listeners: Set<(ids: readonly number[] | undefined) => void>
  users: number
  /** Cancels the end of an unused topic. */
  keep(): void
}

/** The functions of the browser that a stream uses. */
export interface StreamHost {
  connect(): WebSocket
  /** Returns the status code of a request of this session; undefined if the server cannot be reached. */
  sessionCode(): Promise<number | undefined>
  /** Runs `fn` once after `delayMs`. The returned function cancels it. */
  after(delayMs: number, fn: () => void): () => void
  /** Called if the session has ended. */
  loggedOut(): void
}

export const browserHost = (loggedOut: () => void): StreamHost => ({
  connect: () => new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/api/stream`),
  sessionCode: async () => (await fetch('/api/me').catch(() => undefined))?.status,
  after(delayMs, fn) {
    const timer = setTimeout(fn, delayMs)
    return () => clearTimeout(timer)
  },
  loggedOut,
})

const retryMs = [250, 500, 1000, 2000, 5000]
/** An unused topic is kept for this time, so that a view that is opened again shows it at once. */
const keepMs = 30_000
/** Maximum number of unused topics. A view uses two, and the server accepts eight. */
const mostUnused = 4
/** WebSocket.OPEN */
const isOpen = 1

/** The only connection of the page. It subscribes to the topics of the views, and resumes after a disconnection. */
export class Stream {
  link: Link = 'connecting'
  readonly #host: StreamHost
  /** Unused topics are in the order in which they became unused. */
  readonly #topics = new Map<string, Topic>()
  readonly #linkListeners = new Set<() => void>()
  #socket: WebSocket | undefined
  #tries = 0

  constructor(host: StreamHost) {
    this.#host = host
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
        keep() {},
      }
      this.#topics.set(name, topic)
    }
    topic.keep()
    topic.users++
    this.#wish()
    return topic
  }

  release(topic: Topic): void {
    if (--topic.users > 0) return
    this.#topics.delete(topic.name)
    this.#topics.set(topic.name, topic)
    topic.keep = this.#host.after(keepMs, () => this.#end([topic]))
    const unused = [...this.#topics.values()].filter(({ users }) => users === 0)
    if (unused.length > mostUnused) this.#end(unused.slice(0, -mostUnused))
  }

  /** Connects, and reconnects after each disconnection. */
  start(): void {
    if (!this.#socket) this.#connect()
  }

  #end(topics: readonly Topic[]): void {
    for (const topic of topics) {
      topic.keep()
      this.#topics.delete(topic.name)
    }
    this.#wish()
  }

  #connect(): void {
    const socket = this.#host.connect()
    this.#socket = socket
    socket.addEventListener('open', () => {
      this.#set('live')
      this.#wish()
    })
    socket.addEventListener('message', ({ data }) => {
      // A server that closes each connection at once must not be asked four times a second.
      this.#tries = 0
      this.#take(JSON.parse(data as string))
    })
    socket.addEventListener('close', () => this.#retry())
  }

  /** Sends the topics of the views, each with the position that the page has. */
  #wish(): void {
    if (this.#socket?.readyState !== isOpen) return
    const topics = [...this.#topics.values()]
      .toSorted((a, b) => Number(b.users > 0) - Number(a.users > 0))
      .map(({ name, mirror }) => ({ name, ...(mirror.position ? { at: mirror.position } : {}) }))
    this.#socket.send(JSON.stringify({ topics }))
  }

  #take({ c, e, error, code, ...frame }: Frame & { c: string; e: string; error?: string; code?: number }): void {
    const topic = this.#topics.get(c)
    if (!topic) return
    topic.error = error === undefined ? undefined : { message: error, code: code ?? 503 }
    const ids = error === undefined ? topic.mirror.take(e, frame) : undefined
    for (const listener of topic.listeners) listener(frame.s ? undefined : ids)
  }

  #retry(): void {
    this.#set('lost')
    this.#host.after(retryMs[Math.min(this.#tries++, retryMs.length - 1)]!, () => void this.#again())
  }

  async #again(): Promise<void> {
    // The server rejects every connection of an expired session, which a WebSocket does not report.
    if ((await this.#host.sessionCode()) === 401) return this.#host.loggedOut()
    this.#connect()
  }

  #set(link: Link): void {
    this.link = link
    for (const fn of this.#linkListeners) fn()
  }
}
