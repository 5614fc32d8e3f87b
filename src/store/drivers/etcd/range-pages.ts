import { RpcError } from '../../../grpc/index.ts'
import type { RangeOptions } from '../../store.ts'
import { isTooLarge } from './errors.ts'
import { type KeyLayout, endOf } from './layout.ts'
import type { Members } from './members.ts'
import { type EtcdKeyValue, etcdMethods } from './messages.ts'

/**
 * Number of keys in the first page of a range. etcd counts the keys behind each page, so the cost of many small pages
 * is quadratic: 100,000 keys of 5 KB took 29 s in pages of 500 and 10 s in larger ones on a busy machine. Pages grow
 * while values are small.
 */
const firstPageKeys = 500
const mostPageKeys = 10_000
const mostPageBytes = 16 << 20
/** A page that failed is requested again with this part of its keys: 500, 32, 2, 1. */
const shrinkBy = 16

interface PageRequest {
  readonly key: Buffer
  readonly rangeEnd: Buffer
  readonly limit: number
  readonly revision: number | undefined
}

/** Some keys of the store, of the same revision as all pages of the range. */
export interface KeyPage {
  kvs: readonly EtcdKeyValue[]
  revision: number
  remaining: number
}

interface PageSource {
  members: Members
  layout: KeyLayout
  currentRevision(): Promise<number>
}

/** Requests each page before the page before it is returned, so that etcd and this process work at the same time. */
export async function* rangePages(source: PageSource, prefix: string, options: RangeOptions): AsyncIterable<KeyPage> {
  const { layout, members } = source
  const start = layout.prefixToEtcd(prefix)
  const rangeEnd = endOf(start)
  const key = options.after === undefined ? start : after(start, layout.toEtcd(options.after))
  if (Buffer.compare(key, rangeEnd) >= 0) {
    yield { kvs: [], revision: options.revision ?? (await source.currentRevision()), remaining: 0 }
    return
  }
  let left = options.limit || Infinity
  let request: PageRequest = { key, rangeEnd, limit: Math.min(firstPageKeys, left), revision: options.revision }
  let reading = readPage(members, layout, request)
  for (;;) {
    const page = await reading
    if (page === 'too large') {
      request = { ...request, limit: Math.ceil(request.limit / shrinkBy) }
      reading = readPage(members, layout, request)
      continue
    }
    const revision = request.revision ?? page.header!.revision
    const kvs = page.kvs.filter(({ key: found }) => layout.isOurs(found))
    left -= kvs.length
    const isLast = !page.more || left <= 0
    if (!isLast) {
      const limit = Math.min(nextPageKeys(page.kvs), left)
      request = { key: behind(page.kvs.at(-1)!.key), rangeEnd, limit, revision }
      reading = readPage(members, layout, request)
      // An error is thrown by the next `await`, unless the caller wants no further page.
      reading.catch(() => undefined)
    }
    yield { kvs, revision, remaining: page.count - page.kvs.length }
    if (isLast) return
  }
}

/**
 * Reads one page. It may exceed the message size limit, or the time limit on a slow link. A page that was late counts
 * as too large if a member answers a small read.
 */
async function readPage(members: Members, layout: KeyLayout, request: PageRequest) {
  try {
    return await members.readLarge(etcdMethods.range, request)
  } catch (e) {
    if (!(e instanceof RpcError) || request.limit === 1) throw e
    if (isTooLarge(e)) return 'too large' as const
    if (e.code !== 'DeadlineExceeded') throw e
    await members.read(etcdMethods.range, { key: layout.fence, limit: 1 })
    return 'too large' as const
  }
}

function nextPageKeys(kvs: readonly EtcdKeyValue[]): number {
  const bytes = kvs.reduce((sum, { value }) => sum + value.length, 0)
  const fitting = Math.floor((mostPageBytes * kvs.length) / Math.max(1, bytes))
  return Math.max(1, Math.min(mostPageKeys, 2 * kvs.length, fitting))
}

/** Returns the key that sorts directly after another. */
const behind = (key: Buffer): Buffer => Buffer.concat([key, Buffer.alloc(1)])

const after = (start: Buffer, key: Buffer): Buffer => (Buffer.compare(key, start) < 0 ? start : behind(key))
