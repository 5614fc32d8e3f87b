import type { TlsOptions } from 'node:tls'
import { type Decoded, type Encodable, type MessageFields, type Method, RpcError } from '../../src/grpc/index.ts'
import { GrpcServer } from '../../src/grpc/server.ts'
import { CompareTarget, EventType, etcdMethods } from '../../src/store/drivers/etcd/messages.ts'

type Requested<M> = M extends Method<infer Q extends MessageFields, MessageFields> ? Decoded<Q> : never
type Answered<M> = M extends Method<MessageFields, infer A extends MessageFields> ? Encodable<A> : never
type RangeRequest = Requested<typeof etcdMethods.range>
type TxnRequest = Requested<typeof etcdMethods.txn>
type WatchRequest = Requested<typeof etcdMethods.watch>
type WatchResponse = Answered<typeof etcdMethods.watch>

/** A key is kept as Latin-1 text, whose order is that of its bytes. */
interface Version {
  key: string
  /** Undefined for a delete. */
  value: Buffer | undefined
  revision: number
  createRevision: number
  version: number
  previous: Version | undefined
}

interface Watcher {
  id: bigint
  key: string
  rangeEnd: string
  /** Events up to this revision have been sent. */
  sent: number
  send(response: WatchResponse): void
}

export interface FakeEtcdOptions {
  version: string
  /** Accepts what kine accepts, and answers as kine does. */
  isKine?: boolean
}

const mostValueBytes = 1.5 * 1024 * 1024

/**
 * One member with etcd's API and its state in memory: the releases that a test cannot install, and kine. As kine, it
 * accepts only kine's transactions, reads only the key of a watch, has a key of its own, and answers some calls with
 * less.
 */
export class FakeEtcd {
  readonly #options: FakeEtcdOptions
  readonly #server = new GrpcServer()
  readonly #newest = new Map<string, Version>()
  readonly #history: Version[] = []
  readonly #watchers = new Set<Watcher>()
  #revision = 1
  #compacted = 0
  #isHolding = false
  #watches = 0n
  /** The number of calls by method, and of progress requests. */
  readonly calls = { range: 0, put: 0, txn: 0, compact: 0, watch: 0, progress: 0 }
  /** Reported by the status. */
  dbBytes = 4096
  /** Methods that fail, as those of a member that has lost its quorum. */
  readonly lost = new Set<'range' | 'put' | 'txn'>()
  /** Ranges that return more keys than this are never answered, as on a link that is too slow for them. */
  mostKeys = Infinity
  /** The number of keys that ranges have returned or counted. */
  keysVisited = 0

  constructor(options: FakeEtcdOptions) {
    this.#options = options
    if (options.isKine) this.put('/registry/health', '{"health":"true"}')
    const member = options.isKine ? {} : { clusterId: 1n, memberId: 1n }
    const header = () => ({ ...member, revision: this.#revision })
    this.#server
      .unary(etcdMethods.status, () => ({ header: header(), version: options.version, dbSize: this.dbBytes, leader: 1n }))
      .unary(etcdMethods.range, (request) => {
        this.calls.range++
        this.#requireQuorum('range')
        const found = this.#range(request)
        return found.kvs.length > this.mostKeys ? new Promise<never>(() => {}) : { header: header(), ...found }
      })
      .unary(etcdMethods.put, ({ key, value }) => {
        this.calls.put++
        this.#requireQuorum('put')
        if (options.isKine) throw new RpcError('Unknown', 'put is not supported')
        this.#write(text(key), value)
        return { header: header() }
      })
      .unary(etcdMethods.txn, (request) => {
        this.calls.txn++
        this.#requireQuorum('txn')
        const { succeeded, responses } = this.#txn(request)
        return { header: header(), succeeded, responses }
      })
      .unary(etcdMethods.compact, ({ revision }) => {
        this.calls.compact++
        this.compact(revision)
        return { header: header() }
      })
      .stream(etcdMethods.watch, (call) => {
        const own: Watcher[] = []
        call.onMessage((request) => {
          if (request.create) own.push(this.#watch(request.create, (response) => void call.send(response)))
          else if (request.progress) this.#progress(own, (response) => void call.send(response))
        })
        call.onGone = () => own.forEach((watcher) => this.#watchers.delete(watcher))
      })
  }

  /** Resolves to the URL. */
  listen(tls?: TlsOptions): Promise<string> {
    return this.#server.listen({ port: 0, ...(tls ? { tls } : {}) })
  }

  close(): Promise<void> {
    return this.#server.close()
  }

  get revision(): number {
    return this.#revision
  }

  /** Writes as another client. */
  put(key: string, value: string): number {
    return this.#write(key, Buffer.from(value)).revision
  }

  compact(revision: number): void {
    this.#requireReadable(revision, this.#compacted + 1)
    this.#compacted = revision
  }

  /** Withholds events and progress, as a member whose watches have fallen behind. */
  hold(): void {
    this.#isHolding = true
  }

  release(): void {
    this.#isHolding = false
    for (const watcher of this.#watchers) this.#send(watcher)
  }

  /** Closes all connections. */
  disconnect(): void {
    this.#server.disconnect()
  }

  #range({ key, rangeEnd, limit, revision }: RangeRequest) {
    this.#requireReadable(revision, this.#compacted)
    const at = revision || this.#revision
    const keys = rangeEnd.length === 0 ? [text(key)] : [...this.#newest.keys()].filter(this.#isIn(text(key), text(rangeEnd))).toSorted(byText)
    const found = keys.flatMap((one) => stateAt(this.#newest.get(one), at) ?? [])
    this.keysVisited += found.length
    const kvs = limit > 0 ? found.slice(0, limit) : found
    return { kvs: kvs.map(keyValue), more: kvs.length < found.length, count: found.length }
  }

  #isIn(key: string, rangeEnd: string): (one: string) => boolean {
    if (!this.#options.isKine) return (one) => key <= one && one < rangeEnd
    // kine computes a prefix from the end, and takes the key for the last one of the page before, or for the prefix.
    const prefix = rangeEnd.slice(0, -1) + String.fromCharCode(rangeEnd.charCodeAt(rangeEnd.length - 1) - 1)
    const folder = prefix.endsWith('/') ? prefix : `${prefix}/`
    const last = key.replace(/\0+$/, '')
    return (one) => one.startsWith(folder) && (last === folder || one > last)
  }

  #txn({ compare, success, failure }: TxnRequest): Answered<typeof etcdMethods.txn> {
    const [condition] = compare
    const [action] = success
    const [otherwise] = failure
    const isSimple = compare.length === 1 && success.length === 1 && failure.length === 1 && otherwise!.range
    if (!condition || !action || !isSimple || condition.result !== 0) throw unsupported()
    const key = text(condition.key)
    const isCompaction = condition.target === CompareTarget.version && key === 'compact_rev_key' && action.put
    if (condition.target !== CompareTarget.mod && !isCompaction) throw unsupported()
    const current = stateAt(this.#newest.get(key), this.#revision)
    const holds = isCompaction
      ? (current?.version ?? 0) === (condition.version ?? 0)
      : (current?.revision ?? 0) === (condition.modRevision ?? 0)
    if (holds && action.put) {
      if (action.put.value.length > mostValueBytes)
        throw new RpcError('InvalidArgument', 'etcdserver: request is too large')
      this.#write(key, action.put.value)
      return { succeeded: true, responses: [{ put: {} }] }
    }
    const kvs = current ? [keyValue(current)] : []
    if (action.delete && this.#options.isKine) {
      // kine answers a delete with the version that it has found. A delete of a key without history succeeds.
      const succeeded = holds || !this.#newest.has(key)
      if (holds && current) this.#write(key, undefined)
      return { succeeded, responses: [{ delete: { previous: kvs } }] }
    }
    if (holds && action.delete) {
      if (current) this.#write(key, undefined)
      return { succeeded: true, responses: [{ delete: { deleted: current ? 1 : 0 } }] }
    }
    return { succeeded: false, responses: [{ range: { kvs, count: kvs.length } }] }
  }

  #write(key: string, value: Buffer | undefined): Version {
    const before = this.#newest.get(key)
    const current = before?.value === undefined ? undefined : before
    const revision = ++this.#revision
    const createRevision = current?.createRevision ?? revision
    const version = { key, value, revision, createRevision, version: (current?.version ?? 0) + 1, previous: before }
    this.#newest.set(key, version)
    this.#history.push(version)
    for (const watcher of this.#watchers) this.#send(watcher)
    return version
  }

  #watch(create: NonNullable<WatchRequest['create']>, send: Watcher['send']): Watcher {
    this.calls.watch++
    const key = text(create.key)
    // kine takes a key that ends with a slash for a prefix, any other for itself, and does not read the end.
    const end = this.#options.isKine ? (key.endsWith('/') ? after(key) : '') : text(create.rangeEnd)
    const sent = (create.startRevision || this.#revision + 1) - 1
    const watcher = { id: ++this.#watches, key, rangeEnd: end, sent, send }
    const { id: watchId } = watcher
    send({ header: { revision: this.#revision }, watchId, created: true })
    if (sent < this.#compacted) send({ header: { revision: this.#revision }, watchId, canceled: true, compactRevision: this.#compacted })
    else {
      this.#watchers.add(watcher)
      this.#send(watcher)
    }
    return watcher
  }

  #send(watcher: Watcher): void {
    if (this.#isHolding) return
    const { id: watchId, key, rangeEnd } = watcher
    const isWatched = (one: string) => (rangeEnd === '' ? one === key : key <= one && one < rangeEnd)
    // Revisions start at 2.
    const events = this.#history.slice(watcher.sent - 1).filter((version) => isWatched(version.key))
    watcher.sent = this.#revision
    if (events.length > 0) watcher.send({ header: { revision: this.#revision }, watchId, events: events.map(eventOf) })
  }

  /** Answers only if no watch of the call is behind. */
  #progress(own: readonly Watcher[], send: Watcher['send']): void {
    this.calls.progress++
    if (own.every(({ sent }) => sent === this.#revision)) send({ header: { revision: this.#revision }, watchId: -1n })
  }

  #requireQuorum(method: 'range' | 'put' | 'txn'): void {
    if (this.lost.has(method)) throw new RpcError('Unavailable', 'etcdserver: leader changed')
  }

  #requireReadable(revision: number, oldest: number): void {
    if (revision > this.#revision)
      throw new RpcError('OutOfRange', 'etcdserver: mvcc: required revision is a future revision')
    if (revision > 0 && revision < oldest)
      throw new RpcError('OutOfRange', 'etcdserver: mvcc: required revision has been compacted')
  }
}

const text = (bytes: Buffer): string => bytes.toString('latin1')
const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
const unsupported = (): RpcError => new RpcError('Unknown', 'unsupported transaction')

/** Returns the first key after all keys that start with a prefix of ASCII characters. */
const after = (prefix: string): string => prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)

function stateAt(newest: Version | undefined, revision: number): Version | undefined {
  let version = newest
  while (version && version.revision > revision) version = version.previous
  return version?.value === undefined ? undefined : version
}

const keyValue = ({ key, value, revision, createRevision, version }: Version) => ({
  key: Buffer.from(key, 'latin1'),
  value: value ?? Buffer.alloc(0),
  modRevision: revision,
  createRevision: value ? createRevision : 0,
  version: value ? version : 0,
})

const eventOf = (version: Version) => ({
  type: version.value ? EventType.put : EventType.delete,
  kv: keyValue(version),
  ...(version.previous?.value ? { prevKv: keyValue(version.previous) } : {}),
})
