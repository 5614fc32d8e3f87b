import type { ApiError } from '../../api/errors.ts'
import { jsonText } from '../../api/json/index.ts'
import type { KubeObject } from '../../api/object.ts'
import { type Clock, turnsOf } from '../../base/clock.ts'
import { everySteps, shortSteps } from '../../base/turns.ts'
import { asPartialMetadata } from '../answers/partial-metadata.ts'
import type { Registered } from '../registry/registry.ts'
import { type StoredObject, watchLine } from '../objects/stored-object.ts'
import { includeObjectOf, watchTables } from '../answers/table.ts'
import type { WatchEvent, WatchReceiver } from '../objects/watch-stream.ts'
import { presentRow, presentWhole } from './encode.ts'
import type { Accepted } from './negotiate.ts'
import type { WatchChunk, WatchChunks } from './watch-chunks.ts'
import { WatchPace } from './watch-pace.ts'

/** Where a watch's bytes go. */
export interface Sink {
  write(chunk: WatchChunk): void
  /** Bytes written and not yet taken by the network. */
  backlog(): number
  /** Calls `resume` whenever the network has taken all of a backlog. */
  onDrain(resume: () => void): void
  end(): void
}

/** With this much unread, what comes next waits as it is, shared with everybody, and is encoded once there is room. */
const maxBacklogBytes = 1 << 20
/** A client that lets this much wait is cut off, so that it costs no more: it can resume from where it was. */
const maxWaitingBytes = 32 << 20
/** So is one that takes nothing of what waits for so long: its connection may be dead, or it only pretends to read. */
const stallMs = 120_000
const line = (type: string, object: object) => Buffer.from(`{"type":"${type}","object":${jsonText(object)}}\n`)

/** What the writers of all watches share, and what to do with a client that does not keep up. */
export interface WriterContext {
  clock: Clock
  chunks: WatchChunks
  onOverrun(): void
}

/** Turns a watch's events into lines for one client, in the form it accepted, as fast as the client reads. */
export class WatchWriter implements WatchReceiver {
  readonly #target: Registered
  readonly #sink: Sink
  readonly #context: WriterContext
  readonly #encode: (event: WatchEvent) => Buffer
  readonly #encodeBookmark: (object: KubeObject) => object
  #gathered: Buffer[] = []
  #gatheredBytes = 0
  /** What has no room yet, in order, behind everything gathered; bookmarks are encoded already. */
  #waiting: (WatchEvent | Buffer)[] = []
  /** How many of these were there at the start: they may wait as long as it takes. */
  #initialLeft = 0
  /** Of the others. */
  #waitingBytes = 0
  #cancelFlush: (() => void) | undefined
  readonly #pace = new WatchPace()
  #isEnded = false
  /** More of what waits is sent in another turn, whatever the sink says. */
  #isInSlice = false
  #cancelStall: (() => void) | undefined
  /** Waits to go on with history. */
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
      this.#encode = target.resource.storedAs ? (e) => line(e.type, presentWhole(target, e.object)) : (e) => e.object.watchLine(e.type)
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

  /** Who lets something wait has to take some of it in time. */
  #expectReading(): void {
    if (this.#waiting.length > 0) this.#cancelStall ??= this.#context.clock.after(stallMs, () => this.#overrun())
  }

  bookmark(revision: number, isInitialEnd: boolean): void {
    if (this.#isEnded) return
    // A typed client decodes this too, so it has the shape of an empty object of its kind.
    const object = this.#target.type.decode({}).object as unknown as KubeObject
    const { apiVersion: _none, kind: _neither, metadata: _nor, ...rest } = object
    const metadata = { resourceVersion: String(revision), ...(isInitialEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}) }
    const bookmark: KubeObject = { kind: this.#target.resource.kind, apiVersion: this.#target.apiVersion, metadata, ...rest }
    const encoded = line('BOOKMARK', this.#encodeBookmark(bookmark))
    if (!this.#hasRoom()) return void this.#waiting.push(encoded)
    this.#gather(encoded)
    // A client does nothing before it has seen the end of what was there.
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

  /** As much as there is room for, in slices. */
  #sendWaiting(): void {
    if (this.#isInSlice) return
    const slices = everySteps(shortSteps, turnsOf(this.#context.clock))
    let sent = 0
    while (!this.#isEnded && !this.#isInSlice && sent < this.#waiting.length && this.#sink.backlog() < maxBacklogBytes) {
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

  /** At once while there is little to send, so that a quiet cluster has no delay; gathered when there is much. */
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
