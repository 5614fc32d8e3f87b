import { afterEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../src/base/clock.ts'
import { Logger } from '../src/base/logger.ts'
import { VirtualClock } from '../src/base/virtual-clock.ts'
import type { TlsSource } from '../src/grpc/index.ts'
import { createAuthority, issueClientCertificate, issueServerCertificate } from '../src/server/index.ts'
import { describeStore } from '../src/store/conformance/index.ts'
import { CompactedError, type Store, StoreUnavailableError, WriteUncertainError, openEtcdStore, snapshotOf, startCompactor } from '../src/store/index.ts'
import { type Reply, TestServer } from './integration/server.ts'
import { FakeEtcd, type FakeEtcdOptions } from './etcd/fake-etcd.ts'

const releases: [string, FakeEtcdOptions][] = [
  ['etcd 3.5.13', { version: '3.5.13' }],
  ['etcd 3.6.0', { version: '3.6.0' }],
  ['kine', { version: '3.5.13', isKine: true }],
]

const fakes: FakeEtcd[] = []
const stores: Store[] = []

async function start(options: FakeEtcdOptions): Promise<{ etcd: FakeEtcd; url: string }> {
  const etcd = new FakeEtcd(options)
  fakes.push(etcd)
  return { etcd, url: await etcd.listen() }
}

async function open(url: string, options: object = {}): Promise<Store> {
  const store = await openEtcdStore({ servers: [url], prefix: { ours: '', theirs: '/registry' }, ...options })
  stores.push(store)
  return store
}

afterEach(async () => {
  for (const store of stores.splice(0)) await store.close()
  for (const etcd of fakes.splice(0)) await etcd.close()
})

const put = (store: Store, key: string, value = 'x') => store.write({ key, expected: 0, value: Buffer.from(value) })

for (const [name, options] of releases) {
  describeStore(name, async () => {
    const { url } = await start(options)
    const prefix = { ours: '', theirs: '/registry' }
    return { open: (clock) => openEtcdStore({ servers: [url], prefix, clock, timers: systemClock }), remove: async () => undefined }
  }, { isShared: true })
}

describe.each(releases)('the progress of a watch of %s', (_, options) => {
  it('says that nothing else has happened, without a write', async () => {
    const { etcd, url } = await start(options)
    const store = await open(url)
    const progress: number[] = []
    await store.watch('/', store.revision, () => {}, undefined, (revision) => progress.push(revision))
    // A key of another program: no event of it arrives.
    const revision = etcd.put('/other/key', 'x')
    expect(await store.currentRevision!()).toBe(revision)
    await store.waitUntilSeen!(revision)
    expect(store.revision).toBe(revision)
    expect(progress).toEqual([revision])
    expect(etcd.calls.put).toBe(0)
    expect(etcd.revision).toBe(revision)
  })

  it('is awaited until the events have come', async () => {
    const { etcd, url } = await start(options)
    const store = await open(url)
    const seen: number[] = []
    await store.watch('/', store.revision, (events) => seen.push(...events.map((event) => event.revision)))
    etcd.hold()
    const revision = etcd.put('/registry/a', 'x')
    let isSeen = false
    const waiting = store.waitUntilSeen!(revision).then(() => (isSeen = true))
    const asked = etcd.calls.progress
    await expect.poll(() => etcd.calls.progress, { timeout: 10_000 }).toBeGreaterThan(asked + 1)
    expect({ isSeen, seen, revision: store.revision }).toEqual({ isSeen: false, seen: [], revision: revision - 1 })
    etcd.release()
    await waiting
    expect(seen).toEqual([revision])
  })

  it('is asked of another watch, if one stays silent', async () => {
    const { etcd, url } = await start(options)
    const store = await open(url)
    const { watch } = etcd.calls
    etcd.hold()
    const revision = etcd.put('/registry/a', 'x')
    const waiting = store.waitUntilSeen!(revision)
    await expect.poll(() => etcd.calls.watch, { timeout: 10_000 }).toBe(watch + 1)
    etcd.release()
    await waiting
    expect((await store.get('/a'))?.revision).toBe(revision)
  })
})

describe('members of different releases', () => {
  /** Opens a store, lets it wait for a revision without an event, and tells how often it wrote its fence. */
  async function fences(others: readonly string[]): Promise<number> {
    const { etcd, url } = await start({ version: '3.5.13' })
    const store = await openEtcdStore({ servers: [url, ...others], prefix: { ours: '', theirs: '/registry' } })
    stores.push(store)
    await store.waitUntilSeen!(etcd.put('/other/key', 'x'))
    return etcd.calls.put
  }

  it('are asked for progress only if all of them report it reliably', async () => {
    const [newer, older, gone] = [await start({ version: '3.6.0' }), await start({ version: '3.4.23' }), await start({ version: '3.6.0' })]
    expect(await fences([newer.url])).toBe(0)
    expect(await fences([newer.url, older.url])).toBeGreaterThan(0)
    await gone.etcd.close()
    expect(await fences([gone.url])).toBeGreaterThan(0)
  })
})

describe('kine', () => {
  const kine: FakeEtcdOptions = { version: '3.5.13', isKine: true }

  it('is followed by its progress, whatever release it claims to be', async () => {
    const { etcd, url } = await start({ ...kine, version: '3.5.0' })
    const store = await open(url)
    const revision = etcd.put('/other/key', 'x')
    await store.waitUntilSeen!(revision)
    expect((await put(store, '/a')).ok).toBe(true)
    expect(etcd.calls.put).toBe(0)
  })

  it('has a key of its own, which is none of the store', async () => {
    const { url } = await start(kine)
    const store = await open(url)
    await put(store, '/a')
    expect((await store.range('')).items.map(({ key }) => key)).toEqual(['/a'])
    await put(store, '/z')
    const limited = async (options: object) => (await store.range('', options)).items.map(({ key }) => key)
    expect(await limited({ limit: 1 })).toEqual(['/a'])
    expect(await limited({ limit: 1, after: '/a' })).toEqual(['/z'])
    expect(await limited({ limit: 2 })).toEqual(['/a', '/z'])
  })

  it('tells what stands in the way of a delete', async () => {
    const { url } = await start(kine)
    const store = await open(url)
    const created = await put(store, '/a')
    expect(await store.write({ key: '/a', expected: 1, value: undefined })).toMatchObject({ ok: false, current: { key: '/a', revision: created.ok && created.revision } })
    // Nothing is known of this key, which is no success.
    expect(await store.write({ key: '/never', expected: 1, value: undefined })).toEqual({ ok: false, current: undefined })
  })

  it('that says no release is refused in a sentence', async () => {
    const { url } = await start({ ...kine, version: '' })
    await expect(open(url)).rejects.toThrow('the server reports no version of etcd: kine needs --emulated-etcd-version')
  })
})

describe.each(releases)('a server of %s that never wins the vote to compact', (_, options) => {
  it('forgets what the winner compacts, and knows the size of the database', async () => {
    const { etcd, url } = await start(options)
    const [winner, loser] = [await open(url), await open(url)]
    const clocks = [new VirtualClock(0), new VirtualClock(0)]
    const stops: (() => void)[] = []
    const rounds = [winner, loser].map((store, i) => async () => {
      const { txn } = etcd.calls
      const clock = clocks[i]!
      if (stops.length <= i) stops.push(startCompactor(store, { clock, maxAgeMs: 1000, maxRevisions: 1, intervalMs: 1 }))
      else clock.advance(1000)
      await expect.poll(() => etcd.calls.txn > txn && clock.pending, { timeout: 10_000 }).toBe(1)
    })
    let firstMs = 0
    for (let made = 1; made <= 4; made++) {
      await put(winner, `/${made}`)
      firstMs ||= Date.now()
      for (const round of rounds) await round()
    }
    expect(etcd.calls.compact).toBe(3)
    expect(loser.compactedRevision).toBe(winner.compactedRevision)
    expect(loser.compactedRevision).toBeGreaterThan(0)
    // The start of the timeline is forgotten with the history.
    await expect(loser.watch('/', loser.compactedRevision - 1, () => {})).rejects.toThrow(CompactedError)
    expect(loser.revisionAt(firstMs)).toBeUndefined()
    etcd.dbBytes = 9000
    for (const round of rounds) await round()
    await expect.poll(() => loser.size(), { timeout: 10_000 }).toBe(9000)
    for (const stop of stops) stop()
  })
})

describe('a watch that delivers nothing', () => {
  it('ends the opening of the store in a sentence', async () => {
    const { etcd, url } = await start({ version: '3.5.13' })
    etcd.hold()
    etcd.put('/registry/a', 'x')
    await expect(open(url, { openTimeoutMs: 300 })).rejects.toThrow(/cannot be used: the watch of etcd has not delivered revision 2 in time/)
  })
})

describe('a watch that starts in the past', () => {
  it('is told how far it has caught up, also where the last revisions are none of its events', async () => {
    const { etcd, url } = await start({ version: '3.5.13' })
    const store = await open(url)
    const from = etcd.put('/registry/a', 'x')
    const revision = etcd.put('/other/key', 'x')
    await store.waitUntilSeen!(revision)
    const progress: number[] = []
    await store.watch('/', from, () => {}, undefined, (seen) => progress.push(seen))
    await expect.poll(() => progress, { timeout: 10_000 }).toEqual([revision])
  })

  it('gets its events in slices, with other work between them', async () => {
    const { etcd, url } = await start({ version: '3.5.13' })
    const store = await open(url)
    const from = store.revision
    for (let i = 0; i < 2000; i++) etcd.put(`/registry/${i}`, 'x')
    await store.waitUntilSeen!(etcd.revision)
    const turns: number[] = []
    let turn = 0
    const count = () => void (turn++, (turns.length < 4 && turn < 1000) && setImmediate(count))
    let seen = 0
    await store.watch('/', from, (events) => {
      turns.push(turn)
      seen += events.length
    })
    count()
    await expect.poll(() => seen, { timeout: 10_000 }).toBe(2000)
    expect(new Set(turns).size).toBe(4)
  })
})

describe('a watch that falls silent', () => {
  it('delays a waiter until its time limit; then nothing more is asked of it', async () => {
    const { etcd, store, timers } = await openOnTimers({ writeBudgetMs: 300 })
    etcd.hold()
    const revision = etcd.put('/registry/a', 'x')
    const failed = expect(store.waitUntilSeen!(revision)).rejects.toThrow(new StoreUnavailableError(`the watch of etcd has not delivered revision ${revision} in time`))
    await pass(timers, store, 400)
    await failed
    expect(etcd.calls.progress).toBeGreaterThan(0)
    await expectQuiet(etcd, timers, store)
  })

  it('leaves a write that etcd has answered uncertain, and a refused one unavailable', async () => {
    const { etcd, store, timers } = await openOnTimers({ writeBudgetMs: 300, callTimeoutMs: 200 })
    await put(store, '/a')
    etcd.hold()
    const failed = Promise.all([
      expect(put(store, '/b')).rejects.toThrow(WriteUncertainError),
      expect(put(store, '/a')).rejects.toThrow(StoreUnavailableError),
    ])
    await store.currentRevision!()
    await pass(timers, store, 600)
    await failed
  })

  it('delays the end of the store until the time limit of its writes', async () => {
    const { etcd, store, timers } = await openOnTimers({ writeBudgetMs: 300 })
    etcd.hold()
    const failed = expect(put(store, '/a')).rejects.toThrow(WriteUncertainError)
    await store.currentRevision!()
    const closed: true[] = []
    const closing = store.close().then(() => closed.push(true))
    for (let i = 0; i < 100 && closed.length === 0; i++) {
      timers.advance(100)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await closing
    await failed
  })
})

describe('a read of a version that does not exist yet', () => {
  it('does not disturb the watch of the server: it is asked nothing more, and is not replaced', async () => {
    const { etcd, store, timers } = await openOnTimers({ prefix: { ours: '/registry', theirs: '/registry' } })
    const server = await TestServer.start({ store })
    const { watch } = etcd.calls
    const nodes = '/api/v1/nodes'
    const answered: true[] = []
    const reading = server.get(`${nodes}?resourceVersion=999999999999`).finally(() => answered.push(true))
    for (let i = 0; i < 1000 && answered.length === 0; i++) {
      server.clock.advance(100)
      await pass(timers, store, 100)
    }
    const { code, body } = await reading
    expect([code, body.message]).toEqual([504, expect.stringContaining('Too large resource version: 999999999999')])
    await expectQuiet(etcd, timers, store)
    expect(etcd.calls.watch).toBe(watch)
    expect((await server.get(`${nodes}?resourceVersion=${store.revision}`)).code).toBe(200)
    await server.close()
  })
})

describe('a server whose etcd has lost its quorum', () => {
  const maps = '/api/v1/namespaces/default/configmaps'

  it('refuses fresh reads and writes, serves what it knows, and reports that it is not ready', async () => {
    const lines: string[] = []
    const logger = new Logger((line) => lines.push(line))
    const { etcd, store, timers } = await openOnTimers({ logger, prefix: { ours: '/registry', theirs: '/registry' } })
    const server = await TestServer.start({ store })
    const make = (name: string) => server.create(maps, { metadata: { name } })
    /** Lets time pass until the request is answered. */
    const inTime = async (asked: Promise<Reply>): Promise<Reply> => {
      const answers: Reply[] = []
      void asked.then((reply) => answers.push(reply))
      for (let i = 0; i < 10_000 && answers.length === 0; i++) {
        await new Promise((resolve) => setImmediate(resolve))
        timers.advance(5)
      }
      return answers[0]!
    }
    expect((await make('a')).code).toBe(201)
    expect((await server.get('/readyz/etcd-readiness')).code).toBe(200)
    expect(await server.metric('coxswain_store_silence_seconds')).toBe(0)

    etcd.lost.add('txn')
    const uncertain = await inTime(make('b'))
    expect([uncertain.code, uncertain.body.reason]).toEqual([504, 'Timeout'])
    etcd.lost.add('range')
    for (const asked of [server.get(`${maps}/a`), server.get(maps), make('c'), server.delete(`${maps}/a`)]) {
      const { code, headers, body } = await inTime(asked)
      expect([code, headers['retry-after'], body.reason, body.message]).toEqual([503, '1', 'ServiceUnavailable', expect.stringContaining('etcd cannot be reached')])
    }
    expect((await server.get(`${maps}?resourceVersion=0`)).body.items).toHaveLength(1)

    timers.advance(10_000)
    const ready = await server.get('/readyz')
    expect([ready.code, ready.text]).toEqual([500, expect.stringMatching(/\[-\]etcd failed: the store has not answered for \d+ s\n\[-\]etcd-readiness failed: /)])
    expect((await server.get('/livez')).code).toBe(200)
    expect(await server.metric('coxswain_store_silence_seconds')).toBeGreaterThan(10)
    expect(server.errors).toEqual([])

    etcd.lost.clear()
    expect((await inTime(server.get(`${maps}/a`))).code).toBe(200)
    expect((await server.get('/readyz')).code).toBe(200)
    expect((await inTime(make('c'))).code).toBe(201)
    await server.close()
  })

  it('logs once that its watch was lost, and that it continues', async () => {
    const lines: string[] = []
    const { etcd, url } = await start({ version: '3.5.13' })
    await open(url, { logger: new Logger((line) => lines.push(line)) })
    const said = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>).map(({ level, msg, member }) => [level, msg, member])
    etcd.disconnect()
    await expect.poll(said, { timeout: 10_000 }).toEqual([['warn', 'the watch of etcd was lost', url], ['info', 'the watch of etcd continues', url]])
  })
})

describe('the certificates for etcd', () => {
  it('are read for each connection, so that renewed ones need no restart', async () => {
    const now = Date.now()
    const [authority, stranger] = [createAuthority(now), createAuthority(now)]
    const { certificate: cert, key } = issueServerCertificate(authority, ['127.0.0.1'], now)
    const etcd = new FakeEtcd({ version: '3.5.13' })
    fakes.push(etcd)
    const url = await etcd.listen({ cert, key, ca: authority.certificate, requestCert: true, rejectUnauthorized: true })
    const issue = (by: typeof authority) => {
      const pair = issueClientCertificate(by, { commonName: 'apiserver' }, now)
      return { ca: authority.certificate, cert: pair.certificate, key: pair.key }
    }
    let files: TlsSource = issue(authority)
    const store = await open(url, { tls: () => files, callTimeoutMs: 500, writeBudgetMs: 1000 })
    expect((await put(store, '/a')).ok).toBe(true)
    files = issue(stranger)
    etcd.disconnect()
    await expect(put(store, '/b')).rejects.toThrow()
    files = issue(authority)
    await expect.poll(() => put(store, `/${Math.random()}`).then(({ ok }) => ok, () => false), { timeout: 15_000 }).toBe(true)
  })
})

describe('a page that is too large for the link', () => {
  it('is read in parts, if a small read is answered', async () => {
    const { etcd, store, timers } = await openOnTimers({})
    for (let i = 0; i < 40; i++) etcd.put(`/registry/a/${String(i).padStart(2, '0')}`, 'x')
    etcd.mostKeys = 10
    const { watch } = etcd.calls
    const found: Promise<string[]> = store.range('/a/').then(({ items }) => items.map(({ key }) => key))
    const read: string[][] = []
    void found.then((keys) => read.push(keys))
    for (let i = 0; i < 2000 && read.length === 0; i++) await pass(timers, store, 50)
    expect(read).toEqual([Array.from({ length: 40 }, (_, i) => `/a/${String(i).padStart(2, '0')}`)])
    // Other calls on the connection go on.
    expect(etcd.calls.watch).toBe(watch)
  })
})

/** Opens a store whose timers run only when the test lets time pass. The event of a write tells it that it has started. */
async function openOnTimers(options: object) {
  const { etcd, url } = await start({ version: '3.5.13' })
  etcd.put('/registry/first', 'x')
  const timers = new VirtualClock()
  return { etcd, timers, store: await open(url, { timers, ...options }) }
}

/** Lets time pass in steps. etcd has answered earlier messages before each of them. */
async function pass(timers: VirtualClock, store: Store, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 50) {
    timers.advance(50)
    await store.currentRevision!()
  }
}

/** Fails if the store asks its watch for progress, or replaces it, within the time that it needs to find it stuck. */
async function expectQuiet({ calls }: FakeEtcd, timers: VirtualClock, store: Store): Promise<void> {
  const { progress, watch } = calls
  await pass(timers, store, 2000)
  expect({ progress: calls.progress, watch: calls.watch }).toEqual({ progress, watch })
}

describe('the time limit of a write', () => {
  it('holds although the clock of the machine is set back', async () => {
    const { etcd, url } = await start({ version: '3.5.13' })
    const store = await open(url, { callTimeoutMs: 100, writeBudgetMs: 300 })
    const created = await put(store, '/a')
    await etcd.close()
    const writing = store.write({ key: '/a', expected: created.ok ? created.revision : 0, value: Buffer.from('y') })
    const reading = store.currentRevision!()
    reading.catch(() => undefined)
    const real = Date.now
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => real() - 3_600_000)
    try {
      // Uncertain, if it was sent before the connection was lost.
      await expect(writing).rejects.toThrow(/^etcd cannot be reached|^the outcome of the write is not known/)
      await expect(reading).rejects.toThrow(StoreUnavailableError)
    } finally {
      clock.mockRestore()
    }
  }, 10_000)
})

describe('a snapshot of etcd', () => {
  it('reads keys in pages that grow, and so does not pay for all later keys again and again', async () => {
    const { etcd, url } = await start({ version: '3.5.13' })
    const count = 20_000
    for (let i = 0; i < count; i++) etcd.put(`/registry/pods/default/pod-${String(i).padStart(6, '0')}`, `value ${i}`)
    const store = await open(url)
    const { range } = etcd.calls
    const before = etcd.keysVisited
    const { pages } = await snapshotOf(store)
    // Not part of the snapshot.
    await put(store, '/pods/default/another')
    const keys = new Set<string>()
    for await (const page of pages) for (const { key } of page) keys.add(key)
    expect(keys.size).toBe(count)
    expect(keys.has('/pods/default/another')).toBe(false)
    // Pages of 500, 1,000, 2,000, 4,000, 8,000 and the rest; each counts the keys behind it.
    expect(etcd.calls.range - range).toBeLessThan(10)
    expect(etcd.keysVisited - before).toBeLessThan(6 * count)
  })
})
