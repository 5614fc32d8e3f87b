import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../src/base/clock.ts'
import { CompactedError, type Store, StoreUnavailableError, WriteUncertainError, openEtcdStore, startCompactor } from '../src/store/index.ts'
import { CutProxy } from './etcd/cut-proxy.ts'
import { EtcdCluster } from './etcd/etcd-cluster.ts'

let cluster: EtcdCluster
let prefixes = 0
const stores: Store[] = []
const proxies: CutProxy[] = []

beforeAll(async () => {
  cluster = await EtcdCluster.start({ members: 3 })
})
afterAll(() => cluster.stop())
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close()
  for (const proxy of proxies.splice(0)) await proxy.close()
})

const newPrefix = (): string => `/faults-${++prefixes}`

async function open(servers: readonly string[], theirs = newPrefix(), options: object = {}): Promise<Store> {
  const store = await openEtcdStore({ servers, prefix: { ours: '', theirs }, callTimeoutMs: 700, writeBudgetMs: 4000, ...options })
  stores.push(store)
  return store
}

async function proxied(member: number): Promise<{ proxy: CutProxy; url: string }> {
  const proxy = new CutProxy(cluster.members[member]!.clientPort)
  proxies.push(proxy)
  return { proxy, url: await proxy.listen() }
}

const put = (store: Store, key: string, value: string, expected = 0) => store.write({ key, expected, value: Buffer.from(value) })
const text = async (store: Store, key: string) => (await store.get(key))?.value.toString()

describe('a write whose answer was lost', () => {
  it('is found to have happened, and is not made twice', async () => {
    const { proxy, url } = await proxied(0)
    const store = await open([url, cluster.urls[1]!])
    const seen: number[] = []
    await store.watch('/', store.revision, (events) => seen.push(...events.map(({ revision }) => revision)))
    proxy.set('swallow answers')
    const results = await Promise.all(Array.from({ length: 20 }, (_, i) => put(store, `/lost/${i}`, 'x')))
    expect(results.every(({ ok }) => ok)).toBe(true)
    const { items } = await store.range('/lost/')
    expect(items.map(({ revision, createRevision }) => revision === createRevision)).toEqual(results.map(() => true))
    expect(items.map(({ revision }) => revision).toSorted((a, b) => a - b)).toEqual(seen)
  })

  it('and that another writer has replaced since is still a success', async () => {
    const { proxy, url } = await proxied(0)
    const prefix = newPrefix()
    const store = await open([url, cluster.urls[1]!], prefix)
    const other = await open([cluster.urls[2]!], prefix)
    await other.watch('/', other.revision, ([event]) => {
      if (event?.type === 'put' && event.value.toString() === 'mine') void put(other, '/a', 'theirs', event.revision)
    })
    proxy.set('swallow answers')
    const mine = await put(store, '/a', 'mine')
    expect(mine.ok).toBe(true)
    await expect.poll(() => text(store, '/a')).toBe('theirs')
  })

  it('of a delete is not known, where another may have deleted it', async () => {
    const { proxy, url } = await proxied(0)
    const store = await open([url, cluster.urls[1]!])
    const created = await put(store, '/a', 'x')
    proxy.set('swallow answers')
    await expect(store.write({ key: '/a', expected: created.ok ? created.revision : 0, value: undefined })).rejects.toThrow(WriteUncertainError)
    expect(await store.get('/a')).toBeUndefined()
  })

  it('never passes for that of another writer with the same bytes', async () => {
    const { proxy, url } = await proxied(0)
    const prefix = newPrefix()
    const store = await open([url, cluster.urls[1]!], prefix)
    const other = await open([cluster.urls[2]!], prefix)
    const created = await put(store, '/a', 'first')
    const at = created.ok ? created.revision : 0
    // The request itself is lost; meanwhile another writes the very same.
    proxy.set('silent')
    const writing = put(store, '/a', 'same', at)
    expect((await put(other, '/a', 'same', at)).ok).toBe(true)
    expect(await writing).toMatchObject({ ok: false, current: { value: Buffer.from('same') } })
  })

  it('is not known where a create did not come about: it is not sent again', async () => {
    const { proxy, url } = await proxied(0)
    const store = await open([url, cluster.urls[1]!])
    proxy.set('silent')
    await expect(put(store, '/a', 'x')).rejects.toThrow(WriteUncertainError)
    expect(await store.get('/a')).toBeUndefined()
  })
})

describe('a watch', () => {
  it('goes on with another member without a gap when its own is cut off, killed or paused', async () => {
    const { proxy, url } = await proxied(0)
    const prefix = newPrefix()
    const store = await open([url, ...cluster.urls.slice(1)], prefix)
    const other = await open(cluster.urls.slice(1), prefix)
    const seen: number[] = []
    await store.watch('/', store.revision, (events) => seen.push(...events.map(({ revision }) => revision)))
    const written: number[] = []
    const writeSome = async () => {
      for (let i = 0; i < 20; i++) {
        const result = await put(other, '/k', String(i), written.at(-1) ?? 0)
        expect(result.ok).toBe(true)
        written.push(result.ok ? result.revision : 0)
      }
    }
    await writeSome()
    proxy.set('refuse')
    await writeSome()
    await expect.poll(() => seen.length, { timeout: 10_000 }).toBe(written.length)
    await cluster.members[1]!.kill()
    await writeSome()
    cluster.members[1]!.start()
    await expect.poll(() => seen.length, { timeout: 10_000 }).toBe(written.length)
    // Without it there would be no quorum.
    await cluster.members[1]!.untilAccepting()
    cluster.members[2]!.pause()
    await writeSome()
    cluster.members[2]!.resume()
    await expect.poll(() => seen.length, { timeout: 15_000 }).toBe(written.length)
    expect(seen).toEqual(written)
  })

  it('ends when history was compacted while it was cut off', async () => {
    const { proxy, url } = await proxied(0)
    const prefix = newPrefix()
    const store = await open([url], prefix)
    const other = await open([cluster.urls[1]!], prefix)
    const ended: Error[] = []
    await store.watch('/', store.revision, () => {}, (why) => ended.push(why))
    proxy.set('refuse')
    for (let i = 0; i < 3; i++) await put(other, `/k/${i}`, 'x')
    await other.compact(other.revision)
    proxy.set('pass')
    await expect.poll(() => ended, { timeout: 10_000 }).toEqual([expect.any(CompactedError)])
  })
})

describe('without a quorum', () => {
  it('writes and fresh reads are refused in time, and go on when it is back', async () => {
    const store = await open(cluster.urls)
    expect((await put(store, '/before', 'x')).ok).toBe(true)
    cluster.members[0]!.pause()
    cluster.members[1]!.pause()
    try {
      const failure: unknown = await put(store, '/during', 'x').catch((e: unknown) => e)
      expect(failure instanceof WriteUncertainError || failure instanceof StoreUnavailableError).toBe(true)
      await expect(store.currentRevision!()).rejects.toThrow(StoreUnavailableError)
    } finally {
      cluster.members[0]!.resume()
      cluster.members[1]!.resume()
    }
    await expect.poll(async () => (await put(store, `/after/${Math.random()}`, 'x').catch(() => undefined))?.ok, { timeout: 15_000 }).toBe(true)
    expect(await text(store, '/before')).toBe('x')
  })

  it('nothing that listens is told in a sentence', async () => {
    await expect(openEtcdStore({ servers: ['http://127.0.0.1:1'], openTimeoutMs: 300 })).rejects.toThrow(/^the etcd servers http:\/\/127\.0\.0\.1:1 cannot be used: .*ECONNREFUSED/)
  })
})

describe('two stores in one etcd', () => {
  it('see each other: what one has written, the other has seen once it asked for the current revision', async () => {
    const prefix = newPrefix()
    const [one, other] = [await open(cluster.urls, prefix), await open(cluster.urls.toReversed(), prefix)]
    const known = new Map<string, string>()
    await other.watch('/', other.revision, (events) => {
      for (const event of events) if (event.type === 'put') known.set(event.key, event.value.toString())
    })
    for (let i = 0; i < 50; i++) {
      expect((await put(one, `/k/${i}`, String(i))).ok).toBe(true)
      await other.waitUntilSeen!(await other.currentRevision!())
      expect(known.get(`/k/${i}`)).toBe(String(i))
    }
  })

  it('compact in turn', async () => {
    const prefix = newPrefix()
    const [one, other] = [await open(cluster.urls, prefix), await open(cluster.urls, prefix)]
    const first = await put(one, '/a', '1')
    const compactions: number[] = []
    const stops = [one, other].map((store) => {
      const compact = store.compact.bind(store)
      store.compact = (revision) => {
        compactions.push(revision)
        return compact(revision)
      }
      return startCompactor(store, { clock: systemClock, maxAgeMs: 200, maxRevisions: 1, intervalMs: 1 })
    })
    await put(one, '/a', '2', first.ok ? first.revision : 0)
    await expect.poll(() => compactions.length, { timeout: 10_000 }).toBeGreaterThan(3)
    for (const stop of stops) stop()
    // Each revision once, though both tried.
    expect(new Set(compactions).size).toBe(compactions.length)
    await expect(one.range('/', { revision: first.ok ? first.revision : 0 })).rejects.toThrow(CompactedError)
  })
})
