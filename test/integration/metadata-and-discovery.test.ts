import { describe, expect, it, onTestFinished } from 'vitest'
import { InformerFactory, configmaps, discover, resourceName, secrets } from '../../src/client/index.ts'
import { type World, httpWorld, inProcessWorld } from './worlds.ts'

async function start(make: () => Promise<World>): Promise<World> {
  const world = await make()
  onTestFinished(() => world.close())
  return world
}

describe.each([
  ['over HTTP', httpWorld],
  ['in the process', inProcessWorld],
])('%s', (_way, make) => {
  it('discover() knows every kind, its verbs, and which version is preferred', async () => {
    const { resources, failures } = await discover((await start(make)).client)
    const named = (name: string) => resources.filter((r) => resourceName(r) === name)
    expect(failures).toEqual([])
    expect(named('pods')).toMatchObject([{ version: 'v1', kind: 'Pod', namespaced: true, isPreferred: true }])
    expect(named('nodes')).toMatchObject([{ namespaced: false }])
    expect(named('deployments.apps')).toMatchObject([{ singular: 'deployment', shortNames: ['deploy'] }])
    expect(named('pods')[0]!.verbs).toContain('deletecollection')
    expect(named('horizontalpodautoscalers.autoscaling').map(({ version, isPreferred }) => [version, isPreferred])).toEqual([['v2', true], ['v1', false]])
  })

  it('metadata() follows objects without what is in them, as far as they would have to be copied', async () => {
    const world = await start(make)
    const { transport, clock, random, client } = world
    const factory = new InformerFactory({ transport, clock, random })
    onTestFinished(() => factory.stop())
    await client.create(configmaps, { metadata: { name: 'a', namespace: 'default', annotations: { long: 'text' }, finalizers: ['example.com/x'] }, data: { large: 'value' } })
    const informer = factory.metadata(configmaps)
    factory.start()
    await world.until('a is cached', () => informer.get('default/a') !== undefined)
    const { metadata } = informer.get('default/a')!
    expect(metadata).toMatchObject({ name: 'a', finalizers: ['example.com/x'], uid: expect.any(String), resourceVersion: expect.any(String) })
    const isCopied = !Object.isFrozen(informer.get('default/a'))
    expect(isCopied).toBe(_way === 'over HTTP')
    if (isCopied) expect([metadata.annotations, 'data' in informer.get('default/a')!]).toEqual([undefined, false])
    await client.create(configmaps, { metadata: { name: 'b', namespace: 'default' }, data: { large: 'value' } })
    await world.until('b is cached', () => informer.get('default/b') !== undefined)
    expect('data' in informer.get('default/b')!).toBe(!isCopied)
  })
})

describe('metadata()', () => {
  it('shares the cache of who wants the whole objects', async () => {
    const { transport, clock, random } = await start(inProcessWorld)
    const factory = new InformerFactory({ transport, clock, random })
    const whole = factory.informer(configmaps)
    expect(factory.metadata(configmaps)).toBe(whole)
    factory.forget(whole)
    expect(factory.informer(configmaps)).toBe(whole) // others still need it
  })

  it('has nothing to offer to who comes later and wants more', async () => {
    const { transport, clock, random } = await start(inProcessWorld)
    const factory = new InformerFactory({ transport, clock, random })
    const partial = factory.metadata(secrets)
    expect(() => factory.informer(secrets)).toThrow('informer secrets has nothing but metadata')
    factory.forget(partial)
    expect(factory.informer(secrets)).not.toBe(partial)
  })
})
