import type { Clock } from '../../../base/clock.ts'
import { RpcError } from '../../../grpc/index.ts'
import { isStorableKey } from '../../byte-order.ts'
import type { CompactorOptions } from '../../compactor.ts'
import { CompactedError, FutureRevisionError, StoreClosedError } from '../../store.ts'
import type { RangeOptions, RangeResult, Store, StoreEvent, Versioned, Watch, Write, WriteResult } from '../../store.ts'
import { Timeline } from '../../timeline.ts'
import { WatchHub } from '../../watch-hub.ts'
import { keepCompacted } from './compaction.ts'
import { Feed } from './feed.ts'
import { type KeyLayout, endOf, readValue } from './layout.ts'
import type { Members } from './members.ts'
import { type EtcdEvent, type EtcdKeyValue, EventType, etcdMethods } from './messages.ts'
import { PendingWrites } from './pending-writes.ts'
import { RecentEvents } from './recent-events.ts'
import { explain } from './errors.ts'
import { Writer } from './writer.ts'

export interface EtcdStoreParts {
  members: Members
  layout: KeyLayout
  /** Names the time of revisions. */
  clock: Clock
  timers: Clock
  /** Watches may begin after this revision. */
  from: number
  /** True if etcd says reliably how far a watch is. */
  hasProgress: boolean
  /** How long a write may take, all attempts together. */
  writeBudgetMs: number
  /** How long a create whose answer was lost is looked for. */
  lookUpMs: number
  random: () => number
}

/** So many keys are read at a time. */
const pageKeys = 500

/** A store that other processes write to, too. One watch follows all of it; answers wait until that has seen what they tell of. */
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
  /** The question for the current revision that is under way, and the one that is asked after it. */
  #asking: Promise<number> | undefined
  #askingNext: Promise<number> | undefined
  #closing: Promise<void> | undefined

  constructor(parts: EtcdStoreParts) {
    const { members, layout, timers, from, hasProgress } = parts
    this.#parts = parts
    this.#compacted = 0
    this.#recent = new RecentEvents(from)
    const fence = async () => void (await members.once(etcdMethods.put, { key: layout.fence }))
    this.#feed = new Feed({
      members,
      clock: timers,
      // A fence lies before the first key, within what is followed.
      range: hasProgress ? { key: layout.root, rangeEnd: endOf(layout.root) } : { key: layout.fence, rangeEnd: endOf(layout.root) },
      from,
      fence: hasProgress ? undefined : fence,
      onEvents: (events, revision) => this.#take(events, revision),
      onProgress: (revision) => this.#hub.progressed(revision),
      onEnd: (why) => this.#hub.endAll(why),
    })
    const feed = this.#feed
    const recent = this.#recent
    const seen = {
      get revision() { return feed.revision },
      get compactedRevision() { return recent.start },
    }
    this.#hub = new WatchHub(seen, (after, upTo, prefix) => ({ events: recent.between(after, upTo, prefix), upTo }))
    this.#writer = new Writer({ ...parts, pending: this.#pending, seen: (revision) => feed.waitUntilSeen(revision), currentRevision: () => this.currentRevision(), versioned: (kv) => this.#versioned(kv) })
  }

  /** Begins to follow etcd. Resolves once everything up to `revision` is known. */
  async start(revision: number): Promise<void> {
    this.#feed.start()
    await this.#feed.waitUntilSeen(revision)
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
    const { kvs } = await this.#read(() => this.#parts.members.read(etcdMethods.range, { key: this.#parts.layout.toEtcd(key), limit: 1 }))
    return kvs[0] && this.#versioned(kvs[0])
  }

  async range(prefix: string, options: RangeOptions = {}): Promise<RangeResult> {
    this.#assertOpen()
    const { members, layout } = this.#parts
    const start = layout.prefixToEtcd(prefix)
    const rangeEnd = endOf(start)
    const limit = options.limit || Infinity
    const items: Versioned[] = []
    let revision = options.revision
    let key = options.after === undefined ? start : after(start, layout.toEtcd(options.after))
    for (;;) {
      if (Buffer.compare(key, rangeEnd) >= 0) return { items, revision: revision ?? (await this.currentRevision()), remaining: 0 }
      const request = { key, rangeEnd, limit: Math.min(pageKeys, limit - items.length), revision }
      const page = await this.#read(() => members.read(etcdMethods.range, request), revision)
      revision ??= page.header!.revision
      for (const kv of page.kvs) items.push(this.#versioned(kv))
      const remaining = page.count - page.kvs.length
      if (!page.more || items.length >= limit) return { items, revision, remaining }
      key = behind(page.kvs.at(-1)!.key)
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
      // Another server was faster.
      if (!(e instanceof CompactedError)) throw e
    }
    this.#compacted = Math.max(this.#compacted, revision)
    this.#recent.forget(revision)
    this.#timeline.forgetBefore(revision)
  }

  keepCompacted(options: CompactorOptions): () => void {
    return keepCompacted(this.#parts.members, options, async (revision) => {
      await this.compact(revision)
      await this.#readSize()
    })
  }

  revisionAt(timeMs: number): number | undefined {
    return this.#timeline.revisionAt(timeMs)
  }

  /** As etcd said last: at the start, and after each compaction. */
  size(): number {
    return this.#size
  }

  /** Whoever asks while a question is under way gets the answer to the next one: that one's may be too old for it. */
  currentRevision(): Promise<number> {
    if (this.#closing) return Promise.reject(new StoreClosedError())
    if (!this.#asking) return (this.#asking = this.#ask())
    this.#askingNext ??= this.#asking.catch(() => 0).then(() => {
      this.#askingNext = undefined
      return (this.#asking = this.#ask())
    })
    return this.#askingNext
  }

  waitUntilSeen(revision: number): Promise<void> {
    return this.#feed.waitUntilSeen(revision)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#pending.drained()
    this.#feed.close()
    this.#parts.members.close()
  }

  #ask(): Promise<number> {
    const { members, layout } = this.#parts
    const asking = this.#read(() => members.read(etcdMethods.range, { key: layout.fence, limit: 1 }))
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
    const before = prevKv && this.#versioned(prevKv)
    if (type === EventType.delete) {
      this.#pending.sawDelete(key, before?.revision ?? 0, revision)
      const recent = this.#recent
      return { type: 'delete', key, revision, get previous() { return before ?? lost(recent) } }
    }
    const own = this.#pending.sawPut(key, kv!.value, revision)
    const { value, mark } = readValue(kv!.value)
    return { type: 'put', key, revision, createRevision: kv!.createRevision, value: own ?? value, mark, previous: before }
  }

  #versioned({ key, value: stored, modRevision, createRevision }: EtcdKeyValue): Versioned {
    const { value, mark } = readValue(stored)
    return { key: this.#parts.layout.fromEtcd(key), value, revision: modRevision, createRevision, mark }
  }

  /** Errors of etcd in the words of the store. */
  async #read<T>(call: () => Promise<T>, revision = 0): Promise<T> {
    try {
      return await call()
    } catch (e) {
      if (this.#closing) throw new StoreClosedError()
      if (!(e instanceof RpcError)) throw e
      if (e.code === 'OutOfRange' && e.detail.includes('compacted')) throw new CompactedError(Math.max(this.#compacted, revision))
      if (e.code === 'OutOfRange' && e.detail.includes('future')) throw new FutureRevisionError(revision, this.revision)
      throw explain(e)
    }
  }

  async #readSize(): Promise<void> {
    try {
      this.#size = (await this.#parts.members.read(etcdMethods.status, {})).dbSize
    } catch {
      // The figure of before stands.
    }
  }

  #assertOpen(): void {
    if (this.#closing) throw new StoreClosedError()
  }
}

function lost(recent: RecentEvents): never {
  throw new CompactedError(recent.start)
}

/** The first key behind another. */
const behind = (key: Buffer): Buffer => Buffer.concat([key, Buffer.alloc(1)])

const after = (start: Buffer, key: Buffer): Buffer => (Buffer.compare(key, start) < 0 ? start : behind(key))
