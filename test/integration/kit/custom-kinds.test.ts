import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import type { CustomResourceDefinition } from '../../../src/api/generated/types.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { ApiError, MetricsRegistry, type Transport, configmaps, customresourcedefinitions, defineKind, namespaces } from '../../../src/client/index.ts'
import { ControllerManager, type ControllerManagerOptions, defineController, serveMonitoring } from '../../../src/controllers/index.ts'
import { type TestCluster, type TestClusterOptions, VirtualClock, passTime, settled, startCluster } from '../../../src/cluster/testing.ts'
import { definition, version } from '../public-kinds.ts'

interface Boat extends KubeObject {
  spec: { color: string }
}
const boats = defineKind<Boat>({ group: 'example.com', version: 'v1', kind: 'Boat' })
const crd = definition('Boat', [version('v1', { type: 'object', properties: { color: { type: 'string' } } }, { storage: true })]) as unknown as CustomResourceDefinition

/** Writes what it sees of each boat into a ConfigMap of the boat's name, each time it changes. */
const harbour = defineController<Boat, { color: string; seen: string | undefined }, { kind: 'Paint'; color: string }>({
  name: 'harbour',
  owner: boats,
  sources: { owns: [configmaps] },
  observe: ({ caches }, boat) => ({ color: boat.spec.color, seen: caches.owned(configmaps, boat)[0]?.data?.['color'] }),
  plan: ({ color, seen }) => ({ actions: seen === color ? [] : [{ kind: 'Paint', color }] }),
  apply: { Paint: ({ writer, owner }, { color }) => writer.apply(configmaps, { metadata: { name: owner.metadata.name! }, data: { color } }) },
})

const clock = new VirtualClock()
let cluster: TestCluster
const start = async (manager: TestClusterOptions['manager'] = {}) => {
  cluster = await startCluster({ clock, crds: [crd], controllers: [harbour], manager })
  for (const name of ['north', 'south', 'west']) await cluster.client.create(namespaces, { metadata: { name } })
  await passTime(clock, 1000)
}
afterEach(() => cluster.stop())

const launch = async (namespace: string, name: string, color: string, labels: Record<string, string> = {}) => {
  await cluster.client.create(boats, { metadata: { name, namespace, labels }, spec: { color } })
  await passTime(clock, 1000)
}
const painted = async () => (await cluster.client.list(configmaps, '')).items.filter((map) => map.data?.['color']).map(({ metadata, data }) => `${metadata.namespace}/${metadata.name} ${data!['color']}`).sort()

describe('a controller of a custom kind', () => {
  it('applies, as the manager of its name, what it owns', async () => {
    await start()
    await launch('north', 'a', 'red')
    const map = await cluster.client.get(configmaps, 'north', 'a')
    const other = cluster.client.apply(configmaps, { metadata: { name: 'a', namespace: 'north' }, data: { color: 'black' } }, { fieldManager: 'other' })
    await expect(other).rejects.toThrow('Apply failed with 1 conflict: conflict with "harbour": .data.color')
    expect(map.metadata.ownerReferences).toMatchObject([{ kind: 'Boat', name: 'a', controller: true }])
    await cluster.client.patch(boats, 'north', 'a', { spec: { color: 'blue' } }, { type: 'merge' })
    await passTime(clock, 1000)
    expect(await painted()).toEqual(['north/a blue'])
  })

  it('looks at several namespaces, and does not wait in one for what is seen in another', async () => {
    await start({ namespaces: ['north', 'south'] })
    await launch('north', 'a', 'red')
    await launch('west', 'a', 'red')
    await launch('south', 'a', 'red')
    expect(await painted()).toEqual(['north/a red', 'south/a red'])
    // Its own write is in the cache of the one namespace long before the other hears anything.
    await cluster.client.patch(boats, 'south', 'a', { spec: { color: 'blue' } }, { type: 'merge' })
    await passTime(clock, 100)
    expect(await painted()).toEqual(['north/a red', 'south/a blue'])
    await passTime(clock, 30_000)
    expect(cluster.manager!.problems()).toEqual([])
    await cluster.client.delete(configmaps, 'south', 'a')
    await passTime(clock, 1000)
    expect(await painted()).toEqual(['north/a red', 'south/a blue'])
  })

  it('looks at what a selector finds', async () => {
    await start({ scopes: [{ type: boats, labelSelector: 'fleet=ours' }] })
    await launch('north', 'a', 'red', { fleet: 'ours' })
    await launch('north', 'b', 'red')
    expect(await painted()).toEqual(['north/a red'])
  })
})

describe('a kind that is not served', () => {
  const manage = async (more: Partial<ControllerManagerOptions> = {}, options: TestClusterOptions = {}) => {
    cluster = await startCluster({ clock, ...options })
    const metrics = new MetricsRegistry()
    const manager = new ControllerManager({ transport: cluster.transport, controllers: [harbour], clock, metrics, ...more })
    onTestFinished(() => manager.stop())
    return { manager, metrics }
  }

  it('is told by start()', async () => {
    const { manager } = await manage({ waitsForKinds: false })
    await expect(manager.start()).rejects.toThrow('boats.example.com are not served by the API server')
    expect(manager.problems()).toContain('boats.example.com are not served by the API server')
  })

  it('is told by problems() and /readyz where it is waited for, and served later', async () => {
    const { manager, metrics } = await manage()
    const started = manager.start()
    const monitoring = await serveMonitoring({ manager, metrics, port: 0 })
    onTestFinished(() => monitoring.close())
    const ask = async (path: string) => {
      const answer = await fetch(`${monitoring.url}${path}`)
      return [answer.status, await answer.text()] as const
    }
    await settled()
    expect(await ask('/readyz')).toEqual([500, expect.stringContaining('[-]boats.example.com are not served by the API server\n')])
    expect(await ask('/livez')).toEqual([200, 'ok'])
    await cluster.client.create(customresourcedefinitions, crd)
    await passTime(clock, 60_000)
    await started
    expect(await ask('/readyz')).toEqual([200, 'ok'])
    expect((await ask('/metrics'))[1]).toContain('workqueue_depth{name="harbour"}')
    expect((await ask('/nosuch'))[0]).toBe(404)
  })

  it('is told where it may not be read', async () => {
    cluster = await startCluster({ clock, crds: [crd] })
    const error = new ApiError(403, 'Forbidden', 'boats.example.com is forbidden: User "a" cannot list resource "boats"')
    const refusing: Transport = {
      send: () => Promise.reject(error),
      watch: (_, listener) => {
        queueMicrotask(() => listener.closed(error))
        return () => {}
      },
      close: () => Promise.resolve(),
    }
    const manager = new ControllerManager({ transport: refusing, controllers: [harbour], clock, waitsForKinds: false })
    await expect(manager.start()).rejects.toThrow('boats.example.com is forbidden: User "a" cannot list resource "boats"')
    await manager.stop()
  })
})
