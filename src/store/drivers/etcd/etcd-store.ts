import type { Clock } from '../../../base/clock.ts'
import { keptCopy } from '../../../base/kept-bytes.ts'
import type { Logger } from '../../../base/logger.ts'
import { nextTurn } from '../../../base/turns.ts'
import { RpcError } from '../../../grpc/index.ts'
import { isStorableKey } from '../../byte-order.ts'
import type { CompactorOptions } from '../../store.ts'
import { CompactedError, FutureRevisionError, StoreClosedError } from '../../store.ts'
import type {
  Page,
  RangeOptions,
  RangeResult,
  Store,
  StoreEvent,
  Versioned,
  Watch,
  Write,
  WriteResult,
} from '../../store.ts'
import { Timeline } from '../../timeline.ts'
import { WatchHub } from '../../watch-hub.ts'
import { keepCompacted } from './compaction.ts'
import { Feed } from './feed.ts'
import { type KeyLayout, endOf, readValue } from './layout.ts'
import type { Members } from './members.ts'
import { type EtcdEvent, type EtcdKeyValue, EventType, etcdMethods } from './messages.ts'
import { PendingWrites } from './pending-writes.ts'
import { rangePages } from './range-pages.ts'
import { RecentEvents } from './recent-events.ts'
import { explain } from './errors.ts'
import { Writer } from './writer.ts'

export interface EtcdStoreParts {
  members: Members
  layout: KeyLayout
  /** The time of new revisions. */
  clock: Clock
  timers: Clock
  /** The oldest revision that a watch may start after. */
  from: number
  /** True if the server is kine. */
  isKine: boolean
  /** True if progress notifications of this etcd are reliable. */
  hasProgress: boolean
  /** Time limit of a write with all its retries. */
  writeBudgetMs: number
  /** Time limit for finding a create whose response was lost. */
  lookUpMs: number
  random: () => number
  logger: Logger
}

/**
 * A store that other processes also write to. One watch follows the whole store. A response is delayed until the watch
 * has seen the revision that it names.
 */
export class EtcdStore implements Store {
  readonly #parts: EtcdStoreParts
  readonly #feed: Feed
  readonly #hub: WatchHub
  readonly #recent: RecentEvents
  readonly #timeline = new Timeline()
  readonly #pending = new PendingWrites()
  readonly #writer: Writer
  #compacted: number
  #size = 0
  /** The pending request for the current revision, and the one to send after it. */
  #asking: Promise<number> | undefined
  #askingNext: Promise<number> | undefined
  #closing: Promise<void> | undefined

  constructor(parts: EtcdStoreParts) {
    const { members, layout, timers, from, hasProgress, logger } = parts
    this.#parts = parts
    this.#compacted = 0
    this.#recent = new RecentEvents(from)
    const fence = async () => void (await members.once(etcdMethods.put, { key: layout.fence }))
    this.#feed = new Feed({
      members,
      clock: timers,
      logger,
      // The fence sorts before the first key; the watched range must include it.
      range: hasProgress
        ? { key: layout.root, rangeEnd: endOf(layout.root) }
        : { key: layout.fence, rangeEnd: endOf(layout.root) },
      from,
      fence: hasProgress ? undefined : fence,
      onEvents: (events, revision) => this.#take(events, revision),
      onProgress: (revision) => this.#hub.progressed(revision),
      onEnd: (why) => this.#hub.endAll(why),
    })
    const feed = this.#feed
    const recent = this.#recent
    const seen = {
      get revision() {
        return feed.revision
      },
      get compactedRevision() {
        return recent.start
      },
    }
    const between = (after: number, upTo: number, prefix: string) => ({
      events: recent.between(after, upTo, prefix),
      upTo,
    })
    this.#hub = new WatchHub(seen, between, nextTurn)
    this.#writer = new Writer({
      ...parts,
      pending: this.#pending,
      seen: (revision, limitMs) => feed.waitUntilSeen(revision, limitMs),
      currentRevision: () => this.currentRevision(),
      versioned: (kv) => this.#versioned(kv),
    })
  }

  /** Starts the watch. Resolves once every event up to `revision` has been received; rejects after the time limit. */
  async start(revision: number, limitMs: number): Promise<void> {
    this.#feed.start()
    await this.#feed.waitUntilSeen(revision, limitMs)
    void this.#readSize()
  }

  get revision(): number {
    return this.#feed.revision
  }

  get compactedRevision(): number {
    return this.#compacted
  }

  async get(key: string): Promise<Versioned | undefined> {
    this.#assertOpen()
    const { kvs } = await this.#read(() =>
      this.#parts.members.read(etcdMethods.range, { key: this.#parts.layout.toEtcd(key), limit: 1 }),
    )
    return kvs[0] && this.#versioned(kvs[0])
  }

  async range(prefix: string, options: RangeOptions = {}): Promise<RangeResult> {
    const items: Versioned[] = []
    let read = { revision: 0, remaining: 0 }
    for await (const { items: some, ...rest } of this.#readPages(prefix, options)) {
      for (const item of some) items.push(item)
      read = rest
    }
    return { items, ...read }
  }

  pages(prefix: string, revision?: number): AsyncIterable<Page> {
    return this.#readPages(prefix, revision === undefined ? {} : { revision })
  }

  async *#readPages(prefix: string, options: RangeOptions): AsyncIterable<RangeResult> {
    this.#assertOpen()
    const { members, layout } = this.#parts
    const source = { members, layout, currentRevision: () => this.currentRevision() }
    const pages = rangePages(source, prefix, options)[Symbol.asyncIterator]()
    for (;;) {
      const next = await this.#read(() => pages.next(), options.revision)
      if (next.done) return
      const { kvs, ...read } = next.value
      yield { items: kvs.map((kv) => this.#versioned(kv)), ...read }
    }
  }

  write(op: Write): Promise<WriteResult> {
    if (this.#closing) return Promise.reject(new StoreClosedError())
    if (!isStorableKey(op.key)) return Promise.reject(new RangeError('the key is not valid Unicode'))
    if (op.value === undefined && op.expected === 0) return this.get(op.key).then((current) => ({ ok: false, current }))
    return this.#writer.write(op)
  }

  async watch(
    prefix: string,
    fromRevision: number,
    onEvents: (events: readonly StoreEvent[]) => void,
    onEnd?: (why: Error) => void,
    onProgress?: (revision: number) => void,
  ): Promise<Watch> {
    this.#assertOpen()
    return this.#hub.add(prefix, fromRevision, onEvents, onEnd, onProgress)
  }

  async compact(revision: number): Promise<void> {
    this.#assertOpen()
    if (revision <= this.#compacted) return
    try {
      await this.#read(() => this.#parts.members.read(etcdMethods.compact, { revision }), revision)
    } catch (e) {
      // Another server compacted first.
      if (!(e instanceof CompactedError)) throw e
    }
    this.#forget(revision)
  }

  keepCompacted(options: CompactorOptions): () => void {
    return keepCompacted(this.#parts.members, options, {
      compact: (revision) => this.compact(revision),
      compacted: (revision) => this.#forget(revision),
      checked: () => this.#readSize(),
    })
  }

  #forget(revision: number): void {
    if (revision <= this.#compacted) return
    this.#compacted = revision
    this.#recent.forget(revision)
    this.#timeline.forgetBefore(revision)
  }

  revisionAt(timeMs: number): number | undefined {
    return this.#timeline.revisionAt(timeMs)
  }

  /** The size from the last status response: at the start, and after each check of the compactor. */
  size(): number {
    return this.#size
  }

  /**
   * Callers that arrive while a request is pending share the next request: the result of the pending one may be too old
   * for them.
   */
  currentRevision(): Promise<number> {
    if (this.#closing) return Promise.reject(new StoreClosedError())
    if (!this.#asking) return (this.#asking = this.#ask())
    this.#askingNext ??= this.#asking
      .catch(() => 0)
      .then(() => {
        this.#askingNext = undefined
        return (this.#asking = this.#ask())
      })
    return this.#askingNext
  }

  waitUntilSeen(revision: number): Promise<void> {
    return this.#feed.waitUntilSeen(revision, this.#parts.writeBudgetMs)
  }

  silenceMs(): number {
    return this.#parts.members.silenceMs
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const { timers, writeBudgetMs } = this.#parts
    await this.#pending.drained(timers, writeBudgetMs)
    this.#feed.close()
    this.#parts.members.close()
  }

  #ask(): Promise<number> {
    const { members, layout, isKine } = this.#parts
    const asking = this.#read(() => members.read(etcdMethods.range, { key: layout.revisionKey(isKine), limit: 1 }))
      .then(({ header }) => header!.revision)
      .finally(() => {
        if (this.#asking === asking) this.#asking = undefined
      })
    return asking
  }

  #take(events: readonly EtcdEvent[], revision: number): void {
    this.#timeline.add(Math.max(this.#parts.clock.now(), this.#timeline.lastTimeMs), revision)
    const told: StoreEvent[] = []
    for (const event of events) {
      if (!this.#parts.layout.isOurs(event.kv!.key)) continue
      const one = this.#event(event)
      told.push(one)
      this.#recent.add(one)
    }
    if (told.length > 0) this.#hub.publish(told)
    else this.#hub.progressed(revision)
  }

  #event({ type, kv, prevKv }: EtcdEvent): StoreEvent {
    const key = this.#parts.layout.fromEtcd(kv!.key)
    const revision = kv!.modRevision
    const before = prevKv && this.#versioned({ ...prevKv, value: keptCopy(prevKv.value) })
    if (type === EventType.delete) {
      this.#pending.sawDelete(key, before?.revision ?? 0, revision)
      const recent = this.#recent
      return {
        type: 'delete',
        key,
        revision,
        get previous() {
          return before ?? lost(recent)
        },
      }
    }
    const own = this.#pending.sawPut(key, kv!.value, revision)
    const { value, mark } = readValue(kv!.value)
    return {
      type: 'put',
      key,
      revision,
      createRevision: kv!.createRevision,
      value: own ?? keptCopy(value),
      mark,
      previous: before,
    }
  }

  #versioned({ key, value: stored, modRevision, createRevision }: EtcdKeyValue): Versioned {
    const { value, mark } = readValue(stored)
    return { key: this.#parts.layout.fromEtcd(key), value, revision: modRevision, createRevision, mark }
  }

  /** Runs a read and converts errors of etcd to errors of the Store interface. */
  async #read<T>(call: () => Promise<T>, revision = 0): Promise<T> {
    try {
      return await call()
    } catch (e) {
      if (this.#closing) throw new StoreClosedError()
      if (!(e instanceof RpcError)) throw e
      if (e.code === 'OutOfRange' && e.detail.includes('compacted'))
        throw new CompactedError(Math.max(this.#compacted, revision))
      if (e.code === 'OutOfRange' && e.detail.includes('future')) throw new FutureRevisionError(revision, this.revision)
      throw explain(e)
    }
  }

  async #readSize(): Promise<void> {
    try {
      this.#size = (await this.#parts.members.read(etcdMethods.status, {})).dbSize
    } catch {
      // The previous value stays.
    }
  }

  #assertOpen(): void {
    if (this.#closing) throw new StoreClosedError()
  }
}

function lost(recent: RecentEvents): never {
  throw new CompactedError(recent.start)
}
