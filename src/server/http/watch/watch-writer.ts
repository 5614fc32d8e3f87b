import type { ApiError } from '../../../api/errors.ts'
import { jsonText } from '../../../api/json/index.ts'
import type { KubeObject } from '../../../api/object.ts'
import { type Clock, turnsOf } from '../../../base/clock.ts'
import { everySteps, shortSteps } from '../../../base/turns.ts'
import { asPartialMetadata } from '../../answers/partial-metadata.ts'
import type { Registered } from '../../registry/registry.ts'
import { type StoredObject, watchLine } from '../../objects/stored-object.ts'
import { includeObjectOf, watchTables } from '../../answers/table.ts'
import type { WatchEvent, WatchReceiver } from '../../objects/watch-stream.ts'
import { presentRow, presentWhole } from '../answer/encode.ts'
import type { Accepted } from '../answer/negotiate.ts'
import type { Sink, WatchChunks } from './watch-chunks.ts'
import { WatchPace } from './watch-pace.ts'

/** With this backlog, further events wait unencoded, shared with other watchers. */
const maxBacklogBytes = 1 << 20
/** A client with more waiting bytes is disconnected; it can resume from its last event. */
const maxWaitingBytes = 32 << 20
/** A client that reads nothing for this long is disconnected, since its connection may be dead. */
const stallMs = 120_000
const line = (type: string, object: object) => Buffer.from(`{"type":"${type}","object":${jsonText(object)}}\n`)

/** Shared by the writers of all watches. `onOverrun` handles a client that is too slow. */
interface WriterContext {
  clock: Clock
  chunks: WatchChunks
  onOverrun(): void
}

/** Encodes the events of a watch for one client, in the negotiated form and at the client's pace. */
export class WatchWriter implements WatchReceiver {
  readonly #target: Registered
  readonly #sink: Sink
  readonly #context: WriterContext
  readonly #encode: (event: WatchEvent) => Buffer
  readonly #encodeBookmark: (object: KubeObject) => object
  #gathered: Buffer[] = []
  #gatheredBytes = 0
  /** Events without room, in order, after everything gathered. Bookmarks are already encoded. */
  #waiting: (WatchEvent | Buffer)[] = []
  /** The number of initial objects among them, which may wait indefinitely. */
  #initialLeft = 0
  /** The size of the other waiting events. */
  #waitingBytes = 0
  #cancelFlush: (() => void) | undefined
  readonly #pace = new WatchPace()
  #isEnded = false
  /** Waiting events continue in another turn, even if the sink has room. */
  #isInSlice = false
  #cancelStall: (() => void) | undefined
  /** Resumes the replay of history. */
  #onRoom: (() => void) | undefined

  constructor(target: Registered, accepted: Accepted, query: URLSearchParams, sink: Sink, context: WriterContext) {
    this.#target = target
    this.#sink = sink
    this.#context = context
    sink.onDrain(() => this.#sendWaiting())
    const { transform } = accepted
    if (transform?.kind === 'Table') {
      const includeObject = includeObjectOf(query)
      const tables = watchTables(target.resource, { version: transform.version, includeObject })
      this.#encode = (e) => line(e.type, tables.event(presentRow(target, e.object, includeObject), context.clock.now()))
      this.#encodeBookmark = (o) => tables.bookmark(o)
    } else if (transform) {
      this.#encode = (e) => line(e.type, asPartialMetadata(presentWhole(target, e.object), transform.version))
      this.#encodeBookmark = (o) => asPartialMetadata(o, transform.version)
    } else {
      this.#encode = target.resource.storedAs
        ? (e) => line(e.type, presentWhole(target, e.object))
        : (e) => e.object.watchLine(e.type)
      this.#encodeBookmark = (o) => o
    }
  }

  initial(objects: readonly StoredObject[]): void {
    for (const object of objects) this.#waiting.push({ type: 'ADDED', object })
    this.#initialLeft = objects.length
    this.#sendWaiting()
    this.#expectReading()
  }

  hasRoom(resume: () => void): boolean {
    if (this.#hasRoom()) return true
    this.#onRoom = resume
    return false
  }

  events(events: readonly WatchEvent[]): void {
    if (this.#isEnded) return
    if (this.#hasRoom()) {
      for (const event of events) this.#gather(this.#encode(event))
      this.#schedule(events.length)
      return
    }
    for (const event of events) {
      this.#waiting.push(event)
      this.#waitingBytes += event.object.size
    }
    if (this.#waitingBytes > maxWaitingBytes) this.#overrun()
    else this.#expectReading()
  }

  #overrun(): void {
    this.#drop()
    this.#context.onOverrun()
  }

  /** A client with waiting events must read some of them in time. */
  #expectReading(): void {
    if (this.#waiting.length > 0) this.#cancelStall ??= this.#context.clock.after(stallMs, () => this.#overrun())
  }

  bookmark(revision: number, isInitialEnd: boolean): void {
    if (this.#isEnded) return
    // Typed clients decode bookmarks, so they have the shape of an empty object of the kind.
    const object = this.#target.type.decode({}).object as unknown as KubeObject
    const { apiVersion: _none, kind: _neither, metadata: _nor, ...rest } = object
    const metadata = {
      resourceVersion: String(revision),
      ...(isInitialEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
    }
    const bookmark: KubeObject = {
      kind: this.#target.resource.kind,
      apiVersion: this.#target.apiVersion,
      metadata,
      ...rest,
    }
    const encoded = line('BOOKMARK', this.#encodeBookmark(bookmark))
    if (!this.#hasRoom()) return void this.#waiting.push(encoded)
    this.#gather(encoded)
    // Clients wait for the end of the initial list, so it is sent at once.
    if (isInitialEnd) this.#flush()
    else this.#schedule(1)
  }

  error(error: ApiError): void {
    this.#gather(watchLine('ERROR', Buffer.from(JSON.stringify(error.toStatus()))))
  }

  end(): void {
    this.#flush()
    this.#drop()
    this.#sink.end()
  }

  #hasRoom(): boolean {
    return this.#waiting.length === 0 && this.#sink.backlog() + this.#gatheredBytes < maxBacklogBytes
  }

  /** Sends waiting events in slices, as far as there is room. */
  #sendWaiting(): void {
    if (this.#isInSlice) return
    const slices = everySteps(shortSteps, turnsOf(this.#context.clock))
    let sent = 0
    while (
      !this.#isEnded &&
      !this.#isInSlice &&
      sent < this.#waiting.length &&
      this.#sink.backlog() < maxBacklogBytes
    ) {
      while (this.#gatheredBytes < maxBacklogBytes && sent < this.#waiting.length) {
        this.#gather(this.#encodeWaiting(this.#waiting[sent++]!))
        if (!slices.isSpent) continue
        this.#isInSlice = true
        break
      }
      this.#flush()
    }
    this.#waiting.splice(0, sent)
    if (sent > 0) {
      this.#cancelStall?.()
      this.#cancelStall = undefined
      this.#expectReading()
    }
    if (this.#isInSlice) void slices.next().then(() => this.#nextSlice())
    else if (this.#hasRoom()) this.#tellRoom()
  }

  #nextSlice(): void {
    this.#isInSlice = false
    this.#sendWaiting()
  }

  #tellRoom(): void {
    const resume = this.#onRoom
    this.#onRoom = undefined
    if (!this.#isEnded) resume?.()
  }

  #encodeWaiting(next: WatchEvent | Buffer): Buffer {
    if (Buffer.isBuffer(next)) return next
    if (this.#initialLeft > 0) this.#initialLeft--
    else this.#waitingBytes -= next.object.size
    return this.#encode(next)
  }

  /** Sends at once while there are few events, so that a quiet cluster has no delay; batches them otherwise. */
  #schedule(events: number): void {
    const waitMs = this.#pace.delayMs(this.#context.clock.now(), events)
    if (waitMs === 0 || this.#gatheredBytes >= maxBacklogBytes) this.#flush()
    else this.#cancelFlush ??= this.#context.clock.after(waitMs, () => this.#flush())
  }

  #gather(encoded: Buffer): void {
    this.#gathered.push(encoded)
    this.#gatheredBytes += encoded.length
  }

  #flush(): void {
    this.#cancelFlush?.()
    this.#cancelFlush = undefined
    if (this.#isEnded || this.#gathered.length === 0) return
    const chunk = this.#context.chunks.of(this.#gathered)
    this.#gathered = []
    this.#gatheredBytes = 0
    this.#sink.write(chunk)
  }

  #drop(): void {
    this.#isEnded = true
    this.#cancelFlush?.()
    this.#cancelStall?.()
    this.#gathered = []
    this.#waiting = []
  }
}
