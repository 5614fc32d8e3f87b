import { describe, expect, it } from 'vitest'
import { MetricsRegistry } from '../../src/base/metrics.ts'
import { Client, EventRecorder, events, pods } from '../../src/client/index.ts'
import { pod } from './server.ts'
import { type World, httpWorld, inProcessWorld } from './worlds.ts'

describe.each<[string, () => Promise<World>]>([
  ['the server in the same process', inProcessWorld],
  ['HTTP', httpWorld],
])('EventRecorder over %s', { timeout: 30_000 }, (_, open) => {
  it('writes what the server takes, counts, and combines', async () => {
    const world = await open()
    const { clock, random } = world
    const recorder = new EventRecorder(new Client(world.transport, { clock, random }), { component: 'test-controller', clock, random })
    const web = await world.client.create(pods, { ...pod('web', {}, { namespace: 'default' }) } as never)
    recorder.event(web, 'Normal', 'Created', 'made it', { action: 'Creating', related: web })
    await recorder.flush()
    await world.pass(5000)
    recorder.event(web, 'Normal', 'Created', 'made it')
    await recorder.flush()
    for (let i = 1; i <= 11; i++) recorder.event(web, 'Warning', 'Failed', `try ${i}`)
    await recorder.flush()
    const { items } = await world.client.list(events, 'default', { fieldSelector: 'involvedObject.name=web' })
    expect(items.length).toBe(11)
    const byName = (message: string) => items.find((e) => e.message === message)
    expect(byName('made it')).toMatchObject({
      count: 2,
      type: 'Normal',
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:05Z',
      involvedObject: { kind: 'Pod', apiVersion: 'v1', uid: web.metadata.uid },
      related: { name: 'web' },
    })
    expect(byName('(combined from similar events): try 11')).toMatchObject({ count: 2, type: 'Warning' })
    await world.close()
  })

  it('drops what the server does not take, and goes on', async () => {
    const world = await open()
    const { clock, random } = world
    const metrics = new MetricsRegistry()
    const recorder = new EventRecorder(new Client(world.transport, { clock, random }), { component: 'test-controller', clock, random, metrics })
    recorder.event({ kind: 'Pod', name: 'web', namespace: 'nowhere' }, 'Normal', 'Created', 'made it')
    const node = { kind: 'Node', apiVersion: 'v1', metadata: { name: 'node-1' } }
    recorder.event(node, 'Normal', 'Starting', 'here I am')
    await recorder.flush()
    expect(metrics.text()).toContain('event_recorder_dropped_total{component="test-controller",reason="rejected"} 1\n')
    expect((await world.client.list(events, 'default')).items.map((e) => e.message)).toEqual(['here I am'])
    await world.close()
  })
})
