import { describe, expect, it } from 'vitest'
import { TestServer, configMap, configMaps, settle } from './server.ts'
import { useTestServer } from './use-test-server.ts'

let server: TestServer
useTestServer((started) => {
  server = started
})

const names = (lines: { type: string; object: any }[]) => lines.map(({ type, object }) => `${type} ${object.metadata.name}`)
const revisionOf = async () => (await server.get(configMaps)).body.metadata.resourceVersion as string

describe('a watch', () => {
  it('sends what is there, then what changes, each with its resource version', async () => {
    await server.create(configMaps, configMap('a'))
    const watch = await server.watch(configMaps)
    expect(await watch.takeNames()).toEqual(['ADDED a'])
    const { body } = await server.create(configMaps, configMap('b'))
    await server.patch(`${configMaps}/b`, { data: { x: '1' } })
    await server.delete(`${configMaps}/a`)
    const lines = await watch.take()
    expect(names(lines)).toEqual(['ADDED b', 'MODIFIED b', 'DELETED a'])
    const versions = lines.map((l) => Number(l.object.metadata.resourceVersion))
    expect(versions[0]).toBe(Number(body.metadata.resourceVersion))
    expect(versions).toEqual([versions[0], versions[0]! + 1, versions[0]! + 2])
  })

  it('marks the end of what is there with a bookmark, when asked to', async () => {
    await server.create(configMaps, configMap('a'))
    const watch = await server.watch(`${configMaps}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`)
    const [added, bookmark, ...more] = await watch.take()
    expect(added!.type).toBe('ADDED')
    expect(bookmark).toMatchObject({
      type: 'BOOKMARK',
      object: {
        kind: 'ConfigMap',
        metadata: { resourceVersion: added!.object.metadata.resourceVersion, annotations: { 'k8s.io/initial-events-end': 'true' } },
      },
    })
    expect(more).toEqual([])
  })

  it('says after a minute how far it has seen everything, though nothing of its own has changed', async () => {
    const watch = await server.watch(`${configMaps}?allowWatchBookmarks=true&resourceVersion=${await revisionOf()}`)
    const other = await server.create('/api/v1/namespaces', { metadata: { name: 'elsewhere' } })
    server.clock.advance(59_000)
    expect(await watch.take()).toEqual([])
    server.clock.advance(1_000)
    const [bookmark] = await watch.take()
    expect(bookmark).toMatchObject({ type: 'BOOKMARK', object: { metadata: { resourceVersion: other.body.metadata.resourceVersion } } })
    server.clock.advance(60_000)
    expect(await watch.take()).toHaveLength(1)
  })

  it('sends no bookmarks to who did not ask for them', async () => {
    const watch = await server.watch(configMaps)
    server.clock.advance(120_000)
    expect(await watch.take()).toEqual([])
  })

  it('shows objects as they come into sight of its selector and leave it', async () => {
    const watch = await server.watch(`${configMaps}?labelSelector=${encodeURIComponent('color=red')}`)
    await server.create(configMaps, configMap('a', {}, { color: 'blue' }))
    expect(await watch.take()).toEqual([])
    await server.patch(`${configMaps}/a`, { metadata: { labels: { color: 'red' } } })
    await server.patch(`${configMaps}/a`, { data: { x: '1' } })
    const left = await server.patch(`${configMaps}/a`, { metadata: { labels: { color: 'blue' } }, data: { x: '2' } })
    await server.delete(`${configMaps}/a`)
    const lines = await watch.take()
    expect(names(lines)).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a'])
    // It left as it was last seen, at the revision of the change that took it out of sight.
    expect(lines[2]!.object).toMatchObject({ data: { x: '1' }, metadata: { labels: { color: 'red' }, resourceVersion: left.body.metadata.resourceVersion } })
  })

  it('follows one object by name, and no other whose name starts the same', async () => {
    await server.create(configMaps, configMap('a'))
    await server.create(configMaps, configMap('ab'))
    const watch = await server.watch(`${configMaps}?fieldSelector=metadata.name%3Da`)
    await server.patch(`${configMaps}/ab`, { data: { x: '1' } })
    await server.patch(`${configMaps}/a`, { data: { x: '1' } })
    expect(await watch.takeNames()).toEqual(['ADDED a', 'MODIFIED a'])
  })

  it('stays in its namespace', async () => {
    await server.create('/api/v1/namespaces', { metadata: { name: 'default-2' } })
    const watch = await server.watch(`${configMaps}?resourceVersion=${await revisionOf()}`)
    await server.create('/api/v1/namespaces/default-2/configmaps', configMap('b'))
    await server.create(configMaps, configMap('a'))
    expect(await watch.takeNames()).toEqual(['ADDED a'])
  })

  it('ends when its time is up, and not before', async () => {
    const watch = await server.watch(`${configMaps}?timeoutSeconds=30`)
    server.clock.advance(29_999)
    expect(watch.exchange.isEnded).toBe(false)
    server.clock.advance(1)
    expect(watch.exchange.isEnded).toBe(true)
    await server.create(configMaps, configMap('late'))
    expect(await watch.take()).toEqual([])
  })

  it('that names no time ends between half an hour and an hour later', async () => {
    const watch = await server.watch(configMaps)
    server.clock.advance(30 * 60_000 - 1)
    expect(watch.exchange.isEnded).toBe(false)
    server.clock.advance(30 * 60_000 + 1)
    expect(watch.exchange.isEnded).toBe(true)
  })

  it('leaves nothing behind when its client hangs up', async () => {
    const timers = server.clock.pending
    const old = await revisionOf()
    await server.create(configMaps, configMap('a'))
    const watches = [
      await server.watch(`${configMaps}?allowWatchBookmarks=true`),
      await server.watch(`${configMaps}?resourceVersion=${old}&allowWatchBookmarks=true`),
    ]
    await settle()
    expect(await server.metric('apiserver_longrunning_requests', { resource: 'configmaps' })).toBe(2)
    for (const watch of watches) watch.exchange.hangUp()
    expect(server.clock.pending).toBe(timers)
    expect(await server.metric('apiserver_longrunning_requests', { resource: 'configmaps' })).toBe(0)
    expect(await server.metric('apiserver_watch_cache_watchers', { resource: 'configmaps' })).toBe(0)
  })

  it('is refused when there are too many already, and possible again when one has gone', async () => {
    const small = await TestServer.start({ maxWatches: 1 })
    const first = await small.watch(configMaps)
    const { code, headers, body } = await small.get(`${configMaps}?watch=true`)
    expect([code, headers['retry-after'], body.reason]).toEqual([429, '1', 'TooManyRequests'])
    first.exchange.hangUp()
    await small.watch(configMaps)
    await small.close()
  })
})

describe('a watch from a resource version', () => {
  it('replays what has happened since, in order, and goes on without a gap', async () => {
    const from = await revisionOf()
    await server.create(configMaps, configMap('a'))
    await server.patch(`${configMaps}/a`, { data: { x: '1' } })
    await server.create('/api/v1/namespaces', { metadata: { name: 'elsewhere' } })
    await server.delete(`${configMaps}/a`)
    const watch = await server.watch(`${configMaps}?resourceVersion=${from}`)
    await server.create(configMaps, configMap('b'))
    await server.create(configMaps, configMap('c'))
    expect(await watch.takeNames()).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a', 'ADDED b', 'ADDED c'])
  })

  it('judges history by its selector as it was then', async () => {
    const from = await revisionOf()
    await server.create(configMaps, configMap('a', {}, { color: 'red' }))
    await server.patch(`${configMaps}/a`, { metadata: { labels: { color: 'blue' } } })
    const watch = await server.watch(`${configMaps}?resourceVersion=${from}&labelSelector=color%3Dred`)
    expect(await watch.takeNames()).toEqual(['ADDED a', 'DELETED a'])
  })

  it('sees each of many changes once and in order, whenever it starts in the midst of them', async () => {
    const watches = []
    const from = Number(await revisionOf())
    for (let i = 0; i < 60; i++) {
      const writing = [1, 2, 3].map((n) => server.create(configMaps, configMap(`o-${i}-${n}`)))
      const start = from + Math.floor(i / 2)
      watches.push({ start, watch: await server.watch(`${configMaps}?resourceVersion=${start}`) })
      await Promise.all(writing)
    }
    for (const { start, watch } of watches) {
      const versions = (await watch.take()).map((l) => Number(l.object.metadata.resourceVersion))
      expect(versions).toEqual(Array.from({ length: from + 180 - start }, (_, n) => start + 1 + n))
    }
  })

  it('moves over to the cache once it has caught up', async () => {
    const from = await revisionOf()
    await server.create(configMaps, configMap('a'))
    await server.create('/api/v1/namespaces', { metadata: { name: 'elsewhere' } })
    const watch = await server.watch(`${configMaps}?resourceVersion=${from}`)
    expect(await watch.takeNames()).toEqual(['ADDED a'])
    await server.create(configMaps, configMap('b'))
    expect(await server.metric('apiserver_watch_cache_watchers', { resource: 'configmaps' })).toBe(1)
    await server.create(configMaps, configMap('c'))
    expect(await watch.takeNames()).toEqual(['ADDED b', 'ADDED c'])
  })

  it('that is compacted away is told so, in a Status, and ends', async () => {
    const from = await revisionOf()
    for (const name of ['a', 'b', 'c']) await server.create(configMaps, configMap(name))
    await server.store.compact(server.store.revision)
    const watch = await server.watch(`${configMaps}?resourceVersion=${from}`)
    const [line, ...more] = await watch.take()
    expect(more).toEqual([])
    expect(line).toEqual({
      type: 'ERROR',
      object: {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: `too old resource version: ${from} (${server.store.compactedRevision})`,
        reason: 'Expired',
        code: 410,
      },
    })
    expect(watch.exchange.isEnded).toBe(true)
  })

  it('goes on from the very revision that history was compacted to', async () => {
    await server.create(configMaps, configMap('a'))
    await server.store.compact(server.store.revision)
    const from = server.store.revision
    await server.patch(`${configMaps}/a`, { data: { x: '1' } })
    const watch = await server.watch(`${configMaps}?resourceVersion=${from}`)
    expect(await watch.takeNames()).toEqual(['MODIFIED a'])
  })
})

describe('a watch that starts while others write', () => {
  it('never shows an object older than it has shown it before', async () => {
    await server.create(configMaps, configMap('a', { n: '0' }))
    for (let n = 1; n <= 40; n++) {
      const writing = server.patch(`${configMaps}/a`, { data: { n: String(n) } })
      // At every moment of the write's way: it is committed before, while or after the watch begins.
      for (let step = 0; step < n; step++) await Promise.resolve()
      const watch = await server.watch(configMaps)
      await writing
      const seen = (await watch.take()).map((l) => Number(l.object.data.n))
      expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b))
      expect(seen.at(-1)).toBe(n)
      watch.exchange.hangUp()
    }
  })
})

describe('a watcher that does not read', () => {
  const big = 'x'.repeat(500_000)

  it('is sent the rest once it reads on, with nothing missing', async () => {
    const watch = await server.watch(configMaps)
    watch.exchange.isReading = false
    for (let i = 0; i < 12; i++) await server.create(configMaps, configMap(`o-${String(i).padStart(2, '0')}`, { big }))
    const before = await watch.takeNames()
    expect(before.length).toBeGreaterThan(0)
    expect(before.length).toBeLessThan(6)
    watch.exchange.readOn()
    await server.create(configMaps, configMap('o-12'))
    const all = [...before, ...(await watch.takeNames())]
    expect(all).toEqual(Array.from({ length: 13 }, (_, i) => `ADDED o-${String(i).padStart(2, '0')}`))
  })

  it('is cut off once too much waits for it, while others go on', async () => {
    const slow = await server.watch(configMaps)
    const quick = await server.watch(configMaps)
    slow.exchange.isReading = false
    let made = 0
    while (!slow.exchange.isDestroyed && made < 100) await server.create(configMaps, configMap(`o-${made++}`, { big }))
    // 32 MB may wait, and a little is on its way.
    expect(made).toBeGreaterThan(60)
    expect(made).toBeLessThan(80)
    expect(await quick.take()).toHaveLength(made)
    expect(await server.metric('apiserver_longrunning_requests', { resource: 'configmaps' })).toBe(1)
  })

  it('is given what was there at the start however much that is', async () => {
    for (let i = 0; i < 80; i++) await server.create(configMaps, configMap(`o-${i}`, { big }))
    const watch = await server.watch(`${configMaps}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`)
    let lines = (await watch.take()).length
    watch.exchange.isReading = false
    expect(watch.exchange.isDestroyed).toBe(false)
    for (let turn = 0; turn < 100 && lines < 81; turn++) {
      watch.exchange.readOn()
      lines += (await watch.take()).length
    }
    expect(lines).toBe(81)
  })
})
