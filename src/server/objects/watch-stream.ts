import { type Clock, turnsOf } from '../../base/clock.ts'
import { stepByStep } from '../../base/turns.ts'
import { ApiError, expired, internalError } from '../../api/errors.ts'
import { CompactedError, type Watch } from '../../store/index.ts'
import type { ObjectStore } from './object-store.ts'
import type { Registered } from '../registry/registry.ts'
import type { WatchSpec } from '../requests/request.ts'
import type { CacheEvent, CacheEventType } from './cache-listeners.ts'
import type { StoredObject } from './stored-object.ts'
import { shown } from '../verbs/shown.ts'
import { EventConverter } from './watch-conversion.ts'

/** The interval of bookmarks for a watch that requested them. */
const bookmarkIntervalMs = 60_000

/** Receives the output of a watch. */
export interface WatchReceiver {
  /** The objects at the start of the watch. */
  initial(objects: readonly StoredObject[]): void
  /**
   * True if the receiver can take more history. Otherwise `resume` is called when it can. Absent for a receiver without
   * a limit.
   */
  hasRoom?(resume: () => void): boolean
  /** The events of one commit. */
  events(events: readonly WatchEvent[]): void
  /** All events up to `revision` have been sent. `isInitialEnd` marks the end of the initial objects. */
  bookmark(revision: number, isInitialEnd: boolean): void
  /** The watch has failed. */
  error(error: ApiError): void
  /** The watch has ended: by timeout, or after an error. */
  end(): void
}

export interface WatchEvent {
  type: CacheEventType
  object: StoredObject
}

/**
 * Converts a cache event for a watch with a selector: an object that starts to match is ADDED, one that stops is
 * DELETED.
 */
export function visibleEvent(event: CacheEvent, spec: Pick<WatchSpec, 'prefix' | 'matches'>): WatchEvent | undefined {
  const { object, previous } = event
  if (!object.key.startsWith(spec.prefix)) return undefined
  if (!spec.matches) return event
  const isSeen = event.type !== 'DELETED' && spec.matches(object)
  const wasSeen = previous !== undefined && spec.matches(previous)
  if (isSeen) return { type: wasSeen ? 'MODIFIED' : 'ADDED', object }
  if (!wasSeen) return undefined
  return { type: 'DELETED', object: event.type === 'DELETED' ? object : previous.at(object.revision) }
}

const tooOld = (asked: number, oldest: number) => expired(`too old resource version: ${asked} (${oldest})`)

/** The state of one watch that its parts share. */
interface Delivery {
  readonly objects: ObjectStore
  readonly target: Registered
  readonly spec: WatchSpec
  readonly receiver: WatchReceiver
  deliver(events: readonly CacheEvent[]): void
  /** Ends the watch, and reports an error to the receiver. */
  end(error?: ApiError): void
  /** Called when the watch ends. */
  readonly stops: (() => void)[]
}

/** Runs a watch until its timeout, a failure, or a call of the returned function. */
export function startWatch(
  objects: ObjectStore,
  target: Registered,
  spec: WatchSpec,
  receiver: WatchReceiver,
  clock: Clock,
): () => void {
  const cache = objects.cache(target)
  const stops: (() => void)[] = []
  let isOver = false
  const stop = () => {
    if (isOver) return
    isOver = true
    for (const undo of stops) undo()
  }
  const end = (error?: ApiError) => {
    if (isOver) return
    stop()
    if (error) receiver.error(error)
    receiver.end()
  }
  const { conversion } = target.resource
  const tell = (events: readonly CacheEvent[]) => {
    if (isOver) return
    try {
      const seen: WatchEvent[] = []
      for (const event of events) {
        const visible = visibleEvent(event, spec)
        if (visible) seen.push(visible)
      }
      if (seen.length) receiver.events(seen)
    } catch (e) {
      // A failure ends only this watch, and affects neither other watches nor writers.
      end(failure(e))
    }
  }
  const converter =
    conversion && new EventConverter(conversion, spec.matches !== undefined, tell, (e) => end(failure(e)))
  const deliver = converter ? (events: readonly CacheEvent[]) => converter.events(events) : tell

  stops.push(cache.whenEnded(() => end()))
  if (isOver) return stop
  // Initial objects are sent in their current state, which may be newer than the start of the watch.
  const delivery: Delivery = { objects, target, spec, receiver, deliver, end, stops }
  if (spec.initial !== 'none') sendInitial(delivery, clock)
  else if (spec.from >= objects.revision) stops.push(cache.listen(deliver, spec.wanted))
  else followHistory(delivery)

  const remind = () => {
    if (isOver) return
    const { revision } = objects
    const bookmark = () => isOver || receiver.bookmark(revision, false)
    if (converter) converter.after(bookmark)
    else bookmark()
    stops[bookmarkTimer] = clock.after(bookmarkIntervalMs, remind)
  }
  const bookmarkTimer = stops.length
  stops.push(spec.bookmarks ? clock.after(bookmarkIntervalMs, remind) : () => {})
  if (spec.timeoutMs !== undefined) stops.push(clock.after(spec.timeoutMs, () => end()))
  return stop
}

const failure = (e: unknown): ApiError =>
  e instanceof ApiError ? e : internalError(e instanceof Error ? e.message : String(e))

/** Sends the initial objects, filtered in slices. Events that arrive meanwhile are delivered after them. */
function sendInitial({ objects, target, spec, receiver, deliver, end, stops }: Delivery, clock: Clock): void {
  const { prefix, matches, wanted, initial } = spec
  const cache = objects.cache(target)
  const { revision } = objects
  const values = shown(target, cache.snapshot(prefix).values)
  const send = (found: readonly StoredObject[]) => {
    receiver.initial(found)
    if (initial === 'events and bookmark') receiver.bookmark(revision, true)
  }
  if (!matches && !(values instanceof Promise)) {
    send(values)
    stops.push(cache.listen(deliver, wanted))
    return
  }
  let held: (readonly CacheEvent[])[] | undefined = []
  let isOver = false
  stops.push(
    cache.listen((events) => (held ? void held.push(events) : deliver(events)), wanted),
    () => (isOver = true),
  )
  const found: StoredObject[] = []
  const choose = (stored: StoredObject) => {
    try {
      if (!isOver && (!matches || matches(stored))) found.push(stored)
    } catch (e) {
      end(failure(e))
    }
  }
  const chooseAll = (all: readonly StoredObject[]) =>
    stepByStep(turnsOf(clock), all, choose, () => {
      if (isOver) return
      send(found)
      const waited = held ?? []
      held = undefined
      for (const events of waited) deliver(events)
    })
  if (values instanceof Promise) values.then(chooseAll).catch((e: unknown) => end(failure(e)))
  else chooseAll(values)
}

/** Starts a watch at an old revision: the store replays its log at the receiver's pace until the cache takes over. */
function followHistory({ objects, target, spec, receiver, deliver, end, stops }: Delivery): void {
  let isClosed = false
  let history: Watch | undefined
  const close = () => {
    history?.close()
    history = undefined
  }
  stops.push(() => {
    isClosed = true
    close()
  })
  const fail = (e: unknown) => end(e instanceof CompactedError ? tooOld(spec.from, e.compactedRevision) : failure(e))
  const from = (start: number): void => {
    let isOver = false
    const follow = (events: readonly CacheEvent[], revision: number) => {
      deliver(events)
      if (isClosed || isOver || !history) return
      // The cache applies a commit before any other listener. Once the replay has reached its revision, there is no
      // gap.
      const isCurrent = revision === objects.revision
      if (!isCurrent && (receiver.hasRoom?.(() => isClosed || from(revision)) ?? true)) return
      isOver = true
      close()
      if (isCurrent) stops.push(objects.cache(target).listen(deliver, spec.wanted))
    }
    objects.watchFrom(target, spec.prefix, start, follow, fail).then((watch) => {
      if (isClosed) watch.close()
      else history = watch
    }, fail)
  }
  from(spec.from)
}
