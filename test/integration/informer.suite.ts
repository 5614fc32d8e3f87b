import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ApiError } from '../../src/api/errors.ts'
import type { ConfigMap } from '../../src/api/generated/types.ts'
import { MetricsRegistry } from '../../src/base/metrics.ts'
import type { InformerHandler, SharedInformerOptions, WatchEvent } from '../../src/client/index.ts'
import { InformerFactory, SharedInformer, configmaps } from '../../src/client/index.ts'
import type { World } from './worlds.ts'

const named = (name: string, data: Record<string, string> = {}, labels: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', labels },
  data,
})

/** Notes what a handler is told. */
function diary(): { told: string[]; handler: InformerHandler<ConfigMap> } {
  const told: string[] = []
  const shown = (o: ConfigMap) => `${o.metadata.name}${o.data?.v ? ` ${o.data.v}` : ''}`
  return {
    told,
    handler: {
      add: (o, isInitial) => told.push(`${isInitial ? 'there' : 'add'} ${shown(o)}`),
      update: (old, o) => told.push(`update ${shown(old)} to ${shown(o)}`),
      delete: (o, isFinal) => told.push(`delete ${shown(o)}${isFinal ? '' : ', missed'}`),
    },
  }
}

/** The behaviour of every informer, with any transport. */
export function informerSuite(what: string, makeWorld: () => Promise<World>): void {
  describe(`SharedInformer ${what}`, () => {
    let world: World
    let registry: MetricsRegistry
    let informers: { stop(): void }[]

    beforeEach(async () => {
      world = await makeWorld()
      registry = new MetricsRegistry()
      informers = []
    })

    afterEach(async () => {
      for (const informer of informers) informer.stop()
      await world.close()
    })

    const { create, update, remove } = {
      create: (name: string, v = '', labels?: Record<string, string>) => world.client.create(configmaps, named(name, v ? { v } : {}, labels) as ConfigMap),
      update: (name: string, v: string) => world.client.patch(configmaps, 'default', name, { data: { v } }, { type: 'merge' }),
      remove: (name: string) => world.client.delete(configmaps, 'default', name),
    }

    function informerOf(options: Partial<SharedInformerOptions<ConfigMap>> = {}): SharedInformer<ConfigMap> {
      const { transport, clock, random } = world
      const informer = new SharedInformer({ transport, clock, random, type: configmaps, metrics: registry, ...options })
      informers.push(informer)
      return informer
    }

    async function started(options?: Partial<SharedInformerOptions<ConfigMap>>): Promise<SharedInformer<ConfigMap>> {
      const informer = informerOf(options)
      informer.start()
      await informer.synced(AbortSignal.timeout(10_000))
      await world.until('the watch is open', () => informer.state.kind === 'Watching')
      return informer
    }

    const metric = (name: string, labels: string) => Number(new RegExp(`^${name}\\{[^}]*${labels}[^}]*\\} (\\S+)$`, 'm').exec(registry.text())?.[1] ?? 0)
    const restarts = (reason: string) => metric('informer_watch_restarts_total', `reason="${reason}"`)
    const newest = async () => (await world.client.list(configmaps, 'default')).metadata.resourceVersion!
    /** Waits until everything that was written has been seen. */
    const caughtUp = async (informer: SharedInformer<ConfigMap>) => {
      await create(`marker-${Number(await newest())}`)
      const marker = (await world.client.list(configmaps, 'default')).metadata.resourceVersion!
      await world.until('it has seen everything', () => informer.lastSyncResourceVersion === marker)
    }
    const keys = (informer: SharedInformer<ConfigMap>) => informer.list().map((o) => o.metadata.name!).filter((n) => !n.startsWith('marker')).sort()
    const without = (told: string[]) => told.filter((t) => !t.includes('marker'))

    describe.each([
      ['begun by a list', false],
      ['begun by a watch', true],
    ])('%s', (_, stream) => {
      test('tells what is there and then every change, in order, after it has it', async () => {
        await create('a', '1')
        await create('b', '1')
        const { told, handler } = diary()
        const informer = informerOf({ stream })
        informer.addHandler(handler)
        informer.addHandler({ update: (_old, o) => expect(informer.get('default/a')).toBe(o) })
        informer.start()
        await informer.synced()
        expect(informer.hasSynced).toBe(true)
        await create('c', '1')
        await update('a', '2')
        await remove('b')
        await caughtUp(informer)
        expect(without(told)).toEqual(['there a 1', 'there b 1', 'add c 1', 'update a 1 to a 2', 'delete b 1'])
        expect(keys(informer)).toEqual(['a', 'c'])
        expect(informer.get('default/a')!.data).toEqual({ v: '2' })
        expect(informer.get('default/b')).toBeUndefined()
      })

      test('tells of very many in slices, and of what happens meanwhile behind them', async () => {
        for (let i = 0; i < 40; i++) await create(`a-${String(i).padStart(2, '0')}`)
        const { told, handler } = diary()
        const { clock } = world
        let slices = 0
        const turns = {
          isSpent: true,
          next: async () => {
            if (++slices > 4) return
            await create(`b-${slices}`)
            await new Promise((resolve) => setImmediate(resolve))
          },
        }
        const informer = informerOf({ stream, clock: { now: () => clock.now(), after: (ms, fn) => clock.after(ms, fn), turns } })
        informer.addHandler(handler)
        informer.start()
        await informer.synced()
        expect(slices).toBe(4) // two to fill the cache, two to tell
        await caughtUp(informer)
        const expected = [...Array.from({ length: 40 }, (_, i) => `there a-${String(i).padStart(2, '0')}`), 'add b-1', 'add b-2', 'add b-3', 'add b-4']
        expect(without(told)).toEqual(expected)
        expect(keys(informer)).toHaveLength(44)
      })

      test('raises a bookmark with the list, with each event and with each bookmark, and never a lower one', async () => {
        await create('a')
        const told: string[] = []
        const informer = informerOf({ stream })
        informer.addHandler({ add: (o) => told.push(`add ${o.metadata.resourceVersion}`), bookmark: (v) => told.push(v) })
        informer.start()
        await informer.synced()
        const listed = informer.lastSyncResourceVersion
        expect(told.at(-1)).toBe(listed)
        await world.until('the watch is open', () => informer.state.kind === 'Watching')
        const b = await create('b')
        await world.until('b is seen', () => informer.lastSyncResourceVersion === b.metadata.resourceVersion)
        expect(told.slice(-2)).toEqual([`add ${b.metadata.resourceVersion}`, b.metadata.resourceVersion])
        const before = told.length
        await world.client.create({ ...configmaps, plural: 'secrets', kind: 'Secret' }, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'default' } })
        await world.pass(60_000)
        await world.until('a bookmark comes', () => told.length > before)
        expect(told.slice(before)).toEqual([await newest()])
        expect(Number(await newest())).toBeGreaterThan(Number(b.metadata.resourceVersion))
        const versions = told.filter((t) => !t.startsWith('add')).map(Number)
        expect(versions).toEqual([...versions].sort((x, y) => x - y))
      })

      test('follows what comes into sight of its selector and leaves it', async () => {
        await create('a', '', { app: 'x' })
        await create('b', '', { app: 'y' })
        const { told, handler } = diary()
        const informer = await started({ stream, labelSelector: 'app=x' })
        informer.addHandler(handler)
        await world.client.patch(configmaps, 'default', 'b', { metadata: { labels: { app: 'x' } } }, { type: 'merge' })
        await world.client.patch(configmaps, 'default', 'a', { metadata: { labels: { app: 'z' } } }, { type: 'merge' })
        await world.until('a is out of sight', () => keys(informer).join() === 'b')
        expect(told).toEqual(['there a', 'add b', 'delete a'])
      })

      test('lists again after what it had seen was compacted, and finds what it missed', async () => {
        await create('a', '1')
        await create('b', '1')
        const informer = await started({ stream })
        const { told, handler } = diary()
        informer.addHandler(handler)
        world.transport.goDown()
        await update('a', '2')
        await remove('b')
        await create('c', '1')
        await world.store.compact(world.store.revision)
        world.transport.isDown = false
        await world.pass(5000)
        await world.until('it has listed again', () => keys(informer).join() === 'a,c')
        expect(told).toEqual(['there a 1', 'there b 1', 'delete b 1, missed', 'update a 1 to a 2', 'add c 1'])
        expect(restarts('expired')).toBe(1)
        await create('d')
        await world.until('it watches', () => keys(informer).join() === 'a,c,d')
      })

      test('goes on where it was when the server restarts, without listing', async () => {
        await create('a', '1')
        const informer = await started({ stream })
        const { told, handler } = diary()
        informer.addHandler(handler)
        world.transport.goDown()
        await world.restart()
        await update('a', '2')
        world.transport.isDown = false
        await world.pass(5000)
        await world.until('it has caught up', () => informer.get('default/a')!.data!.v === '2')
        expect(told).toEqual(['there a 1', 'update a 1 to a 2'])
        expect(metric('informer_list_total', '')).toBe(1)
      })

      test('notices a watch that is frozen and takes another, and is not ready meanwhile', async () => {
        await create('a', '1')
        const informer = await started({ stream })
        expect(informer.lag.problem()).toBeUndefined()
        world.freezeWatches()
        informer.noteWrite((await update('a', '2')).metadata.resourceVersion!)
        await world.pass(11_000)
        expect(informer.lag.problem()).toBe('informer configmaps has not seen a write of 11 s ago')
        expect(informer.get('default/a')!.data).toEqual({ v: '1' })
        await world.pass(108_000)
        expect(restarts('frozen')).toBe(0)
        await world.pass(1000)
        await world.until('it has another watch', () => informer.get('default/a')!.data!.v === '2')
        expect(restarts('frozen')).toBe(1)
        expect(informer.lag.problem()).toBeUndefined()
        expect(metric('informer_list_total', '')).toBe(1)
      })
    })

    test('is not ready while it has heard nothing for too long', async () => {
      const informer = await started({ rules: { silenceMs: 1_000_000 } })
      world.freezeWatches()
      await world.pass(151_000)
      expect(informer.lag.problem()).toBe('informer configmaps has heard nothing for 151 s')
      expect(metric('informer_lag_seconds', 'kind="silence"')).toBe(151)
    })

    test('is ready through an hour of nothing, on bookmarks alone, and lists once', async () => {
      const informer = await started()
      for (let minute = 0; minute < 60; minute++) {
        await world.pass(60_000)
        expect(informer.lag.problem()).toBeUndefined()
      }
      await world.until('it watches', () => informer.state.kind === 'Watching')
      expect(restarts('frozen')).toBe(0)
      // A watch is asked to end after five to ten minutes.
      expect(restarts('ended')).toBeGreaterThanOrEqual(6)
      expect(restarts('ended')).toBeLessThanOrEqual(12)
      expect(metric('informer_list_total', '')).toBe(1)
    })

    /** A server that answers every watch, and sends no bookmark but the one that marks the end of what is there. */
    const withoutBookmarks = ({ type, object: { metadata } }: WatchEvent) =>
      type === 'BOOKMARK' && !metadata.annotations?.['k8s.io/initial-events-end']

    test('is ready through an hour of nothing, without bookmarks, on watches that are accepted anew', async () => {
      world.transport.loses = withoutBookmarks
      const informer = await started()
      for (let second = 0; second < 3600; second += 30) {
        await world.pass(30_000)
        expect(informer.lag.problem()).toBeUndefined()
      }
      expect(restarts('frozen')).toBe(30)
      expect(metric('informer_list_total', '')).toBe(1)
      await create('late')
      await world.until('it watches', () => keys(informer).join() === 'late')
    })

    test('is not ready, where there are no bookmarks, once no watch is accepted any more', async () => {
      world.transport.loses = withoutBookmarks
      const informer = await started()
      await world.pass(600_000)
      expect(informer.lag.problem()).toBeUndefined()
      world.transport.intercept = () => new Promise(() => {})
      await world.pass(151_000 + 120_000)
      expect(informer.lag.problem()).toMatch(/^informer configmaps has heard nothing for \d+ s$/)
    })

    test('is not ready while watches are accepted and the events that are known to be due do not come', async () => {
      world.transport.loses = () => true
      const informer = await started({ stream: false })
      informer.noteWrite((await create('a')).metadata.resourceVersion!)
      for (let minute = 0; minute < 10; minute++) {
        await world.pass(60_000)
        expect(informer.lag.problem()).toBe(`informer configmaps has not seen a write of ${60 * (minute + 1)} s ago`)
      }
      world.transport.loses = () => false
      await world.pass(120_000)
      await world.until('it is told', () => keys(informer).join() === 'a')
      expect(informer.lag.problem()).toBeUndefined()
    })

    test('is not ready, where there were bookmarks, while watches are accepted and none comes any more', async () => {
      const informer = await started()
      await world.pass(61_000)
      world.freezeWatches()
      world.transport.loses = () => true
      await world.pass(200_000)
      expect([restarts('frozen'), informer.lag.problem()]).toEqual([1, undefined])
      await world.pass(100_000)
      expect(restarts('frozen')).toBe(2)
      expect(informer.lag.problem()).toMatch(/^informer configmaps has heard nothing for \d+ s$/)
    })

    test('lists in pages', async () => {
      for (let i = 0; i < 25; i++) await create(`c-${i}`)
      const informer = await started({ stream: false, rules: { pageSize: 10 } })
      expect(informer.size).toBe(25)
      expect(world.transport.requests.filter((r) => r.query?.watch === undefined && r.query?.limit === '10').length).toBe(3)
    })

    test('lists all at once where a page has expired', async () => {
      for (let i = 0; i < 25; i++) await create(`c-${i}`)
      let lists = 0
      world.transport.intercept = async (request) => {
        if (request.query?.limit && ++lists === 2) {
          await update('c-3', '2')
          await world.store.compact(world.store.revision)
        }
        return request
      }
      const informer = await started({ stream: false, rules: { pageSize: 10 } })
      expect(informer.size).toBe(25)
      expect(informer.get('default/c-3')!.data).toEqual({ v: '2' })
      expect(restarts('expired-page')).toBe(1)
    })

    test('lists where the server does not want to send what is there', async () => {
      await create('a')
      world.transport.intercept = (request) => {
        if (!request.query?.sendInitialEvents) return request
        throw new ApiError(422, 'Invalid', 'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled')
      }
      const informer = await started()
      expect(keys(informer)).toEqual(['a'])
      expect(restarts('streaming-refused')).toBe(1)
    })

    test('refuses a list that is older than what it has seen', async () => {
      await create('a', '1')
      const old = await newest()
      await update('a', '2')
      const seen = await newest()
      // A server that answers from a cache that is behind.
      let isBehind = true
      world.transport.intercept = (request) => {
        const isList = isBehind && !request.query?.resourceVersion && request.query?.sendInitialEvents === undefined
        return isList ? { ...request, query: { resourceVersion: old, resourceVersionMatch: 'Exact' } } : request
      }
      const informer = informerOf({ stream: false, notOlderThan: seen })
      informer.start()
      await world.until('it has refused', () => restarts('stale') === 1)
      await world.pass(2000)
      await world.until('it has refused again', () => restarts('stale') === 2)
      expect(informer.hasSynced).toBe(false)
      expect(informer.lag.problem()).toBe('informer configmaps has not completed its first list')
      isBehind = false
      await world.pass(10_000)
      await informer.synced(AbortSignal.timeout(10_000))
      expect(informer.get('default/a')!.data).toEqual({ v: '2' })
    })

    test('says how far it is behind while events are late', async () => {
      await create('a', '1')
      const informer = await started()
      world.transport.delayMs = 5000
      informer.noteWrite((await update('a', '2')).metadata.resourceVersion!)
      await world.pass(4000)
      expect(informer.get('default/a')!.data).toEqual({ v: '1' })
      expect(informer.lag.unseenWriteSeconds()).toBe(4)
      expect(metric('informer_lag_seconds', 'kind="unseen_write"')).toBe(4)
      await world.pass(1000)
      await world.until('the event comes', () => informer.get('default/a')!.data!.v === '2')
      expect(informer.lag.unseenWriteSeconds()).toBe(0)
    })

    test('never gives up: it waits longer each time, counts, and goes on when it can', async () => {
      const informer = informerOf()
      world.transport.isDown = true
      informer.start()
      await world.pass(120_000)
      const failures = restarts('error')
      expect(failures).toBeGreaterThanOrEqual(6)
      expect(failures).toBeLessThanOrEqual(9)
      world.transport.isDown = false
      await world.pass(60_000)
      await informer.synced(AbortSignal.timeout(10_000))
    })

    test('finds objects by index', async () => {
      await create('a', 'x')
      await create('b', 'y')
      const informer = await started({ indexes: { value: (o) => (o.data?.v ? [o.data.v] : []) } })
      await update('b', 'x')
      await world.until('both have x', () => informer.byIndex('value', 'x').length === 2)
      expect(informer.byIndex('value', 'y')).toEqual([])
    })

    test('keeps what a transform makes of an object', async () => {
      await create('a', 'long')
      const transform = ({ data: _dropped, ...rest }: ConfigMap): ConfigMap => rest
      const informer = await started({ transform })
      await create('b', 'long')
      await world.until('b is there', () => keys(informer).join() === 'a,b')
      expect(informer.list().map((o) => o.data)).toEqual([undefined, undefined])
    })

    test('goes on when a handler throws, and tells the others', async () => {
      const { told, handler } = diary()
      const informer = informerOf()
      const fail = () => {
        throw new Error('my own fault')
      }
      informer.addHandler({ add: fail, update: fail, delete: fail, bookmark: fail })
      informer.addHandler(handler)
      informer.start()
      await informer.synced()
      await create('a', '1')
      await world.until('a is told', () => told.length === 1)
      expect(told).toEqual(['add a 1'])
      expect(metric('informer_handler_errors_total', '')).toBeGreaterThan(0)
    })

    test('tells a handler that comes late what is there, and one that goes nothing more', async () => {
      await create('a')
      const informer = await started()
      const { told, handler } = diary()
      const leave = informer.addHandler(handler)
      expect(told).toEqual(['there a'])
      leave()
      await create('b')
      await world.until('b is there', () => keys(informer).join() === 'a,b')
      expect(told).toEqual(['there a'])
    })

    test('tells a handler that another one adds nothing twice', async () => {
      await create('a')
      await create('b')
      const { told, handler } = diary()
      const informer = informerOf()
      let isAdded = false
      informer.addHandler({
        add: () => {
          if (!isAdded) informer.addHandler(handler)
          isAdded = true
        },
      })
      informer.start()
      await informer.synced()
      expect(told).toEqual(['there a', 'there b'])
    })

    test('tells of everything again every so often, if asked', async () => {
      await create('a', '1')
      const informer = await started({ resyncMs: 30_000 })
      const { told, handler } = diary()
      informer.addHandler(handler)
      await world.pass(60_000)
      expect(told).toEqual(['there a 1', 'update a 1 to a 1', 'update a 1 to a 1'])
    })

    test('stops waiting for the first list when told so', async () => {
      const informer = informerOf()
      const aborter = new AbortController()
      const waiting = informer.synced(aborter.signal)
      aborter.abort(new Error('enough'))
      await expect(waiting).rejects.toThrow('enough')
    })

    test('measures itself', async () => {
      await create('a')
      const informer = await started()
      expect(metric('informer_store_resource_version', 'name="configmaps"')).toBe(Number(informer.lastSyncResourceVersion))
      expect(metric('informer_store_objects', '')).toBe(1)
      expect(metric('informer_queued_items', '')).toBe(0)
      informer.stop()
      expect(registry.text()).not.toMatch(/^informer_(lag|store|queued).*configmaps/m)
      expect(registry.text()).toMatch(/^informer_list_total.*configmaps.* 1$/m)
    })

    test('is made once for all who want the same objects', async () => {
      await create('a')
      const { transport, clock, random } = world
      const factory = new InformerFactory({ transport, clock, random, metrics: registry })
      informers.push(factory)
      const one = factory.informer(configmaps, { indexes: { name: (o) => [o.metadata.name!] } })
      expect(factory.informer(configmaps)).toBe(one)
      expect(factory.informer(configmaps, { namespace: 'default' })).not.toBe(one)
      expect(factory.informer(configmaps, { labelSelector: 'a=b' })).not.toBe(one)
      expect(() => factory.informer(configmaps, { transform: (o) => o })).toThrow('has another transform')
      expect(factory.problems()).toHaveLength(3)
      factory.start()
      await factory.waitForSync(AbortSignal.timeout(10_000))
      expect(factory.problems()).toEqual([])
      expect(one.byIndex('name', 'a')).toHaveLength(1)
      const late = factory.informer(configmaps, { namespace: 'kube-system' })
      await late.synced(AbortSignal.timeout(10_000))
    })
  })
}
