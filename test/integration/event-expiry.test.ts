import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TestServer, configMap, configMaps, settle } from './server.ts'

const events = '/api/v1/namespaces/default/events'
const hour = 3_600_000

const event = (name: string, more: object = {}) => ({
  apiVersion: 'v1', kind: 'Event', metadata: { name, namespace: 'default' }, involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' }, reason: 'Tested', ...more,
})

let server: TestServer

beforeEach(async () => {
  server = await TestServer.start()
})

afterEach(async () => {
  expect(server.errors).toEqual([])
  await server.close()
})

const names = async (url = events): Promise<string[]> => (await server.get(url)).body.items.map((item: any) => item.metadata.name)
const pass = (ms: number) => server.clock.pass(ms, settle)

describe('events', () => {
  it('go an hour after they were written, and watchers see it', async () => {
    await server.create(events, event('a'))
    await pass(hour / 2)
    await server.create(events, event('b'))
    const watch = await server.watch(events)
    await watch.take()
    await pass(hour / 2 - 1000)
    expect(await names()).toEqual(['a', 'b'])
    await pass(2000)
    expect(await names()).toEqual(['b'])
    const [line, ...more] = await watch.take()
    expect([line!.type, line!.object.metadata.name, more]).toEqual(['DELETED', 'a', []])
    expect(Number(line!.object.metadata.resourceVersion)).toBe(Number((await server.get(events)).body.metadata.resourceVersion))
  })

  it.each([
    ['a patch', () => server.patch(`${events}/a`, { count: 2 })],
    ['an update', () => server.update(`${events}/a`, event('a', { count: 2 }))],
    ['a patch through the other group', () => server.patch('/apis/events.k8s.io/v1/namespaces/default/events/a', { metadata: { labels: { x: 'y' } } })],
  ])('stay another hour after %s', async (_what, write) => {
    await server.create(events, event('a'))
    await pass(hour - 1000)
    expect((await write()).code).toBe(200)
    await pass(hour - 1000)
    expect(await names()).toEqual(['a'])
    await pass(2000)
    expect(await names()).toEqual([])
  })

  it('go even with a finalizer, as with a lease of etcd', async () => {
    await server.create(events, event('a', { metadata: { name: 'a', namespace: 'default', finalizers: ['example.com/x'] } }))
    await pass(hour + 1000)
    expect(await names()).toEqual([])
  })

  it('go in bounded batches, however many they are', async () => {
    for (let i = 0; i < 1000; i++) await server.create(events, event(`e${i}`))
    await pass(hour + 1000)
    expect(await names()).toEqual([])
  })

  it('that are stored go after a restart, too: an hour after the latest time that they state, but for times to come', async () => {
    const startMs = server.clock.now()
    const at = (ms: number) => new Date(startMs + ms).toISOString().replace(/\.\d+/, '')
    await server.create(events, event('created-only'))
    await server.create(events, event('repeated', { firstTimestamp: at(-hour), lastTimestamp: at(hour / 2) }))
    await server.create(events, event('from-the-future', { lastTimestamp: at(50 * hour) }))
    server = await server.restart({ startMs: startMs + hour - 1000 })
    await pass(500)
    expect(await names()).toEqual(['created-only', 'from-the-future', 'repeated'])
    await pass(1500)
    expect(await names()).toEqual(['from-the-future', 'repeated'])
    await pass(hour / 2)
    expect(await names()).toEqual(['from-the-future'])
    await pass(hour / 2)
    expect(await names()).toEqual([])
  })

  it('that have been deleted are not missed', async () => {
    await server.create(events, event('a'))
    await server.delete(`${events}/a`)
    await pass(2 * hour)
    expect(await names()).toEqual([])
  })

  it('stay where --event-ttl is 0', async () => {
    server = await server.restart({ settings: { eventTtlMs: 0 } })
    await server.create(events, event('a'))
    await pass(100 * hour)
    expect(await names()).toEqual(['a'])
  })
})

it('other kinds stay', async () => {
  await server.create(configMaps, configMap('a'))
  await pass(100 * hour)
  expect(await names(configMaps)).toContain('a')
})
