import { deepFreeze } from '../../api/json/index.ts'
import type { KubeObject } from '../../api/object.ts'
import { turnsOf } from '../../base/clock.ts'
import { type Turns, endlessTurn, everySteps, shortSteps } from '../../base/turns.ts'
import { type Remote, watchRemote } from '../aggregation/index.ts'
import type { ApiServer } from '../api-server.ts'
import { type InProcessRequest, type OpenedWatch, allowRemote, frozenObject, openInProcess } from './in-process.ts'
import type { Registered } from '../registry/registry.ts'
import type { StoredObject } from '../objects/stored-object.ts'
import { type WatchEvent, type WatchReceiver, startWatch } from '../objects/watch-stream.ts'

/** Receives the events of an in-process watch, in order, in microtasks: never while a commit is being distributed. */
interface InProcessWatcher {
  opened(): void
  /** Objects are the stored ones, frozen. */
  event(type: WatchEvent['type'] | 'BOOKMARK', object: KubeObject): void
  /**
   * Called once, last: with an ApiError if the watch failed, with another error if the server ended, otherwise with
   * undefined.
   */
  closed(error: Error | undefined): void
}

/**
 * Watches without sockets, encoding or copies. The returned function ends the watch; after that only `closed` is
 * called.
 */
export function watchInProcess(server: ApiServer, request: InProcessRequest, watcher: InProcessWatcher): () => void {
  const remote = server.aggregator.forPath(request.path)
  if (remote) return watchOther(server, remote, request, watcher)
  const undo: (() => void)[] = []
  let queue: WatchQueue | undefined
  let isOver = false
  const end = (error: Error | undefined) => {
    if (isOver) return
    isOver = true
    for (const fn of undo.splice(0)) fn()
    // Pending events are delivered before the end.
    if (queue) queue.close(error)
    else queueMicrotask(() => watcher.closed(error))
  }
  const begin = ({ kind, audit, result: { target, watch } }: OpenedWatch) => {
    if (audit) undo.push(() => audit.done(200))
    if (isOver) return audit?.done(200)
    queue = new WatchQueue(target, watcher, end, turnsOf(server.parts.clock))
    const stop = startWatch(server.parts.objects, target, watch, queue, server.parts.clock)
    const open = server.requestMetrics.watching(kind)
    open.inc()
    undo.push(stop, () => open.inc(-1))
    undo.push(server.whenEnded(end))
    // The watch may have ended during these calls, before `undo` was filled.
    if (isOver) for (const fn of undo.splice(0)) fn()
  }
  openInProcess(server, request).then(begin, end)
  return () => {
    queue?.discard()
    end(undefined)
  }
}

/** Watches a resource of an extension API server. */
function watchOther(
  server: ApiServer,
  remote: Remote,
  request: InProcessRequest,
  watcher: InProcessWatcher,
): () => void {
  let end = () => {}
  let isOver = false
  const begin = () => {
    if (isOver) watcher.closed(undefined)
    else end = watchRemote(server.aggregator.access, remote, request, watcher)
  }
  const watched = { ...request, query: { ...request.query, watch: 'true' } }
  allowRemote(server, watched).then(begin, (e: unknown) => watcher.closed(e as Error))
  return () => {
    isOver = true
    end()
  }
}

/**
 * Up to this many events are delivered in one turn, because waiting for another turn may take long on a busy server.
 */
const manyEvents = 64

type QueuedEvent = WatchEvent | { type: 'BOOKMARK'; object: KubeObject }

/** Queues the events of a watch until the current turn ends, then delivers them in order. */
class WatchQueue implements WatchReceiver {
  readonly #target: Registered
  readonly #watcher: InProcessWatcher
  readonly #end: (error: Error | undefined) => void
  readonly #turns: Turns
  #events: QueuedEvent[] = []
  #isScheduled = false
  #isOpened = false
  #isDiscarded = false
  /** No more events are queued; `closed` is called once the queue is empty. */
  #isClosed = false
  #isDone = false
  #error: Error | undefined

  constructor(target: Registered, watcher: InProcessWatcher, end: (error: Error | undefined) => void, turns: Turns) {
    this.#target = target
    this.#watcher = watcher
    this.#end = end
    this.#turns = turns
    this.#schedule()
  }

  initial(objects: readonly StoredObject[]): void {
    for (const object of objects) this.#events.push({ type: 'ADDED', object })
    this.#schedule()
  }

  events(events: readonly WatchEvent[]): void {
    for (const event of events) this.#events.push(event)
    this.#schedule()
  }

  bookmark(revision: number, isInitialEnd: boolean): void {
    const annotations = isInitialEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}
    const metadata = { resourceVersion: String(revision), ...annotations }
    this.#events.push({
      type: 'BOOKMARK',
      object: deepFreeze({ kind: this.#target.resource.kind, apiVersion: this.#target.apiVersion, metadata }),
    })
    this.#schedule()
  }

  error(error: Error): void {
    this.#error = error
  }

  end(): void {
    this.#end(this.#error)
  }

  /** Drops undelivered events. */
  discard(): void {
    this.#isDiscarded = true
  }

  close(error: Error | undefined): void {
    this.#isClosed = true
    this.#error = error
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    queueMicrotask(() => this.#deliver())
  }

  #deliver(): void {
    this.#isScheduled = false
    const events = this.#events
    // Few events need no slices.
    const slices = events.length > manyEvents ? everySteps(shortSteps, this.#turns) : endlessTurn
    this.#events = []
    try {
      if (!this.#isOpened && !this.#isDiscarded) this.#watcher.opened()
      this.#isOpened = true
      for (const [i, event] of events.entries()) {
        if (this.#isDiscarded) break
        this.#watcher.event(
          event.type,
          event.type === 'BOOKMARK' ? event.object : frozenObject(this.#target, event.object),
        )
        if (slices.isSpent) return this.#goOn(events.slice(i + 1), slices)
      }
    } catch (e) {
      // A watcher that throws gets no more events: it would not know which ones it missed.
      this.discard()
      this.#end(e instanceof Error ? e : new Error(String(e)))
    }
    if (!this.#isClosed || this.#isDone) return
    this.#isDone = true
    this.#watcher.closed(this.#error)
  }

  /** Delivers the rest in another turn, before newer events. */
  #goOn(rest: readonly QueuedEvent[], turns: Turns): void {
    this.#events = [...rest, ...this.#events]
    this.#isScheduled = true
    void turns.next().then(() => this.#deliver())
  }
}
