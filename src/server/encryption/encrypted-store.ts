import { nextTurn } from '../../base/turns.ts'
import { CompactedError, pagesOf } from '../../store/index.ts'
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
} from '../../store/index.ts'
import type { Encryption } from './encryption.ts'
import { TransformError } from './transformers.ts'

/** Values decrypted in one turn of the event loop: about 2 ms. */
const valuesAtATime = 500

/** A store that encrypts values as a configuration says. Its users see plain text. */
export class EncryptedStore implements Store {
  readonly #inner: Store
  #encryption: Encryption
  /** Plain text by ciphertext of this store's own writes, so that their events need no decryption. */
  readonly #plain = new WeakMap<Buffer, Buffer>()

  /** Revisions up to this one may be superseded, and encrypted with keys that are no longer configured. */
  #unreadUpTo: number

  constructor(inner: Store, encryption: Encryption) {
    this.#inner = inner
    this.#encryption = encryption
    this.#unreadUpTo = inner.revision
  }

  get revision(): number {
    return this.#inner.revision
  }

  get compactedRevision(): number {
    return this.#inner.compactedRevision
  }

  get currentRevision(): Store['currentRevision'] {
    const inner = this.#inner
    return inner.currentRevision && (() => inner.currentRevision!())
  }

  get waitUntilSeen(): Store['waitUntilSeen'] {
    const inner = this.#inner
    return inner.waitUntilSeen && ((revision) => inner.waitUntilSeen!(revision))
  }

  get silenceMs(): Store['silenceMs'] {
    const inner = this.#inner
    return inner.silenceMs && (() => inner.silenceMs!())
  }

  get keepCompacted(): Store['keepCompacted'] {
    const inner = this.#inner
    return inner.keepCompacted && ((options) => inner.keepCompacted!(options))
  }

  /** Switches to another configuration. Rejects, without any change, if it cannot decrypt all stored values. */
  async use(encryption: Encryption): Promise<void> {
    for await (const { items } of pagesOf(this.#inner, '')) await this.#readAll(items, encryption)
    const before = this.#encryption
    this.#encryption = encryption
    this.#unreadUpTo = this.#inner.revision
    before.close()
  }

  async get(key: string): Promise<Versioned | undefined> {
    const found = await this.#inner.get(key)
    return found && (await this.#read(found))
  }

  async range(prefix: string, options?: RangeOptions): Promise<RangeResult> {
    const result = await this.#inner.range(prefix, options)
    return { ...result, items: await this.#readAll(result.items, this.#encryption) }
  }

  get pages(): Store['pages'] {
    const inner = this.#inner
    return inner.pages && ((prefix, revision) => this.#readPages(inner.pages!(prefix, revision)))
  }

  async *#readPages(pages: AsyncIterable<Page>): AsyncIterable<Page> {
    for await (const { items, revision } of pages)
      yield { items: await this.#readAll(items, this.#encryption), revision }
  }

  write(op: Write): Promise<WriteResult> {
    const { key, value } = op
    const transformer = this.#encryption.transformerOf(key)
    if (transformer.isPlain) return this.#inner.write(op)
    if (!value) return this.#written(this.#inner.write(op))
    let stored: Buffer
    try {
      stored = transformer.write(value, key)
    } catch (e) {
      return Promise.reject(new TransformError(key, (e as Error).message))
    }
    if (stored !== value) this.#plain.set(stored, value)
    return this.#written(this.#inner.write({ ...op, value: stored }))
  }

  async watch(
    prefix: string,
    fromRevision: number,
    onEvents: (events: readonly StoreEvent[]) => void,
    onEnd?: (why: Error) => void,
    onProgress?: (revision: number) => void,
  ): Promise<Watch> {
    let isOpen = true
    /** Events queued behind one whose key must be fetched from a KMS plug-in. */
    let queue: Promise<void> | undefined
    const end = (why: Error) => {
      if (!isOpen) return
      isOpen = false
      watch?.close()
      onEnd?.(why)
    }
    const deliver = (events: readonly StoreEvent[]): void | Promise<void> => {
      const read = this.#readEvents(events)
      if (!(read instanceof Promise)) return void onEvents(read)
      return read.then((decrypted) => {
        if (isOpen) onEvents(decrypted)
      })
    }
    const take = (events: readonly StoreEvent[]) => {
      const waiting = queue ? queue.then(() => deliver(events)) : deliver(events)
      if (!waiting) return
      const settled: Promise<void> = waiting.catch(end).finally(() => {
        if (queue === settled) queue = undefined
      })
      queue = settled
    }
    let watch: Watch | undefined
    const progress = (revision: number) => {
      if (queue) void queue.then(() => isOpen && onProgress?.(revision))
      else onProgress?.(revision)
    }
    watch = await this.#inner.watch(prefix, fromRevision, take, onEnd && end, onProgress && progress)
    const { close } = watch
    return {
      close: () => {
        isOpen = false
        close.call(watch)
      },
    }
  }

  compact(revision: number): Promise<void> {
    return this.#inner.compact(revision)
  }

  revisionAt(timeMs: number): number | undefined {
    return this.#inner.revisionAt(timeMs)
  }

  size(): number {
    return this.#inner.size()
  }

  close(): Promise<void> {
    this.#encryption.close()
    return this.#inner.close()
  }

  async isStale(key: string): Promise<boolean> {
    const transformer = this.#encryption.transformerOf(key)
    if (transformer.isPlain) return false
    const found = await this.#inner.get(key)
    return found !== undefined && transformer.isStale(found.value)
  }

  async #written(writing: Promise<WriteResult>): Promise<WriteResult> {
    const result = await writing
    return result.ok || !result.current ? result : { ok: false, current: await this.#read(result.current) }
  }

  async #readAll(items: readonly Versioned[], encryption: Encryption): Promise<Versioned[]> {
    const read: Versioned[] = []
    for (const [i, item] of items.entries()) {
      const one = this.#read(item, encryption)
      read.push(one instanceof Promise ? await one : one)
      if (i % valuesAtATime === valuesAtATime - 1) await nextTurn()
    }
    return read
  }

  #read<V extends Versioned>(version: V, encryption = this.#encryption): V | Promise<V> {
    const value = this.#valueOf(version, encryption)
    if (value instanceof Promise) return value.then((plain) => ({ ...version, value: plain }))
    return value === version.value ? version : { ...version, value }
  }

  #valueOf({ key, value }: Versioned, encryption = this.#encryption): Buffer | Promise<Buffer> {
    const known = encryption === this.#encryption ? this.#plain.get(value) : undefined
    return known ?? encryption.transformerOf(key).read(value, key)
  }

  #readEvents(events: readonly StoreEvent[]): readonly StoreEvent[] | Promise<readonly StoreEvent[]> {
    const read = events.map((event) => this.#readEvent(event))
    return read.some((event) => event instanceof Promise) ? Promise.all(read) : (read as StoreEvent[])
  }

  #readEvent(event: StoreEvent): StoreEvent | Promise<StoreEvent> {
    const value = event.type === 'put' ? this.#valueOf(event) : undefined
    if (value instanceof Promise) return value.then((plain) => this.#withPrevious(event, plain))
    if (this.#encryption.transformerOf(event.key).isPlain) return event
    return this.#withPrevious(event, value)
  }

  /**
   * `previous` is decrypted on first access, as the underlying store reads it. If its key may have to be fetched, which
   * is asynchronous, it is decrypted now.
   */
  #withPrevious(event: StoreEvent, value: Buffer | undefined): StoreEvent | Promise<StoreEvent> {
    if (event.revision > this.#unreadUpTo)
      return decrypted(event, value, () => event.previous && (this.#read(event.previous) as Versioned))
    const before = this.#readPrevious(event)
    if (before instanceof Promise) return before.then((previous) => decrypted(event, value, () => previous))
    return decrypted(event, value, () => before ?? event.previous)
  }

  #readPrevious(event: StoreEvent): Versioned | Promise<Versioned> | undefined {
    try {
      return event.previous && this.#read(event.previous)
    } catch (e) {
      // The revision is compacted; reading `previous` reports that.
      if (e instanceof CompactedError) return undefined
      throw e
    }
  }
}

function decrypted(event: StoreEvent, value: Buffer | undefined, previous: () => Versioned | undefined): StoreEvent {
  const { key, revision } = event
  if (event.type === 'delete')
    return {
      type: 'delete',
      key,
      revision,
      get previous() {
        return previous()!
      },
    }
  const { createRevision, mark } = event
  return {
    type: 'put',
    key,
    revision,
    createRevision,
    mark,
    value: value!,
    get previous() {
      return previous()
    },
  }
}
