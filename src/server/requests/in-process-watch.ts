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

/** Gets the events of a watch in the same process, in order, in microtasks: never while a commit is being told to others. */
export interface InProcessWatcher {
  opened(): void
  /** Objects are the stored ones themselves, frozen. */
  event(type: WatchEvent['type'] | 'BOOKMARK', object: KubeObject): void
  /** Comes once, last: with an ApiError where the watch failed, another where the server ended, none where it is simply over. */
  closed(error: Error | undefined): void
}

/** Watches without sockets, encoding or copies. The returned function ends the watch: then only `closed` follows. */
export function watchInProcess(server: ApiServer, request: InProcessRequest, watcher: InProcessWatcher): () => void {
  const remote = server.aggregator.forPath(request.path)
  if (remote) return watchOther(server, remote, request, watcher)
  const undo: (() => void)[] = []
  let mail: Mail | undefined
  let isOver = false
  const end = (error: Error | undefined) => {
    if (isOver) return
    isOver = true
    for (const fn of undo.splice(0)) fn()
    // What was sent stands before the end of it.
    if (mail) mail.close(error)
    else queueMicrotask(() => watcher.closed(error))
  }
  const begin = ({ kind, audit, result: { target, watch } }: OpenedWatch) => {
    if (audit) undo.push(() => audit.done(200))
    if (isOver) return audit?.done(200)
    mail = new Mail(target, watcher, end, turnsOf(server.parts.clock))
    const stop = startWatch(server.parts.objects, target, watch, mail, server.parts.clock)
    const open = server.requestMetrics.watching(kind)
    open.inc()
    undo.push(stop, () => open.inc(-1))
    undo.push(server.whenEnded(end))
    // It may have ended within these calls, before there was anything to undo.
    if (isOver) for (const fn of undo.splice(0)) fn()
  }
  openInProcess(server, request).then(begin, end)
  return () => {
    mail?.discard()
    end(undefined)
  }
}

/** Watches what another API server serves. */
function watchOther(server: ApiServer, remote: Remote, request: InProcessRequest, watcher: InProcessWatcher): () => void {
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

/** So many are handed on at once: who waits for another turn may wait behind others. */
const manyLetters = 64

type Letter = WatchEvent | { type: 'BOOKMARK'; object: KubeObject }

/** Holds what a watch says until the current turn is over, and hands it on in order. */
class Mail implements WatchReceiver {
  readonly #target: Registered
  readonly #watcher: InProcessWatcher
  readonly #end: (error: Error | undefined) => void
  readonly #turns: Turns
  #letters: Letter[] = []
  #isScheduled = false
  #isOpened = false
  #isDiscarded = false
  /** Nothing is added any more; `closed` is told once what is there has been handed on. */
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
    for (const object of objects) this.#letters.push({ type: 'ADDED', object })
    this.#schedule()
  }

  events(events: readonly WatchEvent[]): void {
    for (const event of events) this.#letters.push(event)
    this.#schedule()
  }

  bookmark(revision: number, isInitialEnd: boolean): void {
    const annotations = isInitialEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}
    const metadata = { resourceVersion: String(revision), ...annotations }
    this.#letters.push({ type: 'BOOKMARK', object: deepFreeze({ kind: this.#target.resource.kind, apiVersion: this.#target.apiVersion, metadata }) })
    this.#schedule()
  }

  error(error: Error): void {
    this.#error = error
  }

  end(): void {
    this.#end(this.#error)
  }

  /** What has not been handed on is not wanted any more. */
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
    const letters = this.#letters
    // The changes of a few writes are told at once.
    const slices = letters.length > manyLetters ? everySteps(shortSteps, this.#turns) : endlessTurn
    this.#letters = []
    try {
      if (!this.#isOpened && !this.#isDiscarded) this.#watcher.opened()
      this.#isOpened = true
      for (const [i, letter] of letters.entries()) {
        if (this.#isDiscarded) break
        this.#watcher.event(letter.type, letter.type === 'BOOKMARK' ? letter.object : frozenObject(this.#target, letter.object))
        if (slices.isSpent) return this.#goOn(letters.slice(i + 1), slices)
      }
    } catch (e) {
      // Who cannot take one event gets no others: it would not know what it has missed.
      this.discard()
      this.#end(e instanceof Error ? e : new Error(String(e)))
    }
    if (!this.#isClosed || this.#isDone) return
    this.#isDone = true
    this.#watcher.closed(this.#error)
  }

  /** Hands on the rest in another turn, before anything that has come since. */
  #goOn(rest: readonly Letter[], turns: Turns): void {
    this.#letters = [...rest, ...this.#letters]
    this.#isScheduled = true
    void turns.next().then(() => this.#deliver())
  }
}
