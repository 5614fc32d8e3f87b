import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Json } from '../../src/api/object.ts'
import type { ObjectType } from '../../src/api/object-type.ts'
import { subdomainName } from '../../src/api/validation/names.ts'
import { type Resource, defineResource } from '../../src/server/registry/resource.ts'
import { TestServer, configMap, configMaps, settle } from './server.ts'

let server: TestServer

beforeEach(async () => {
  server = await TestServer.start()
})
afterEach(async () => {
  expect(server.errors).toEqual([])
  await server.close()
})

const group = 'example.com'

/** A kind with the fields of a ConfigMap, and the plural name of a core kind by default. */
const kind = (plural = 'services', name = 'Widget', version = 'v1'): Resource =>
  defineResource({
    group, version, kind: name, plural, namespaced: true, type: 'ConfigMap', nameRule: subdomainName,
    validate: () => [], validateUpdate: () => [],
  })

const widgets = `/apis/${group}/v1/namespaces/default/services`
const widget = (name: string, data: Record<string, string> = {}) => ({ apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name }, data })
const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

/** Collects garbage as Node does with --expose-gc. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let i = 0; i < 3; i++) {
    await settle()
    collect()
  }
}

const groups = async () => (await server.get('/apis')).body.groups.map((g: { name: string }) => g.name) as string[]
const told = async () => (await server.get('/apis', { accept: aggregated })).body.items.some((g: any) => g.metadata.name === group) as boolean
const documented = async () => Object.keys((await server.get('/openapi/v3')).body.paths).includes(`apis/${group}/v1`)

describe('a kind that comes while the server runs', () => {
  it('is served, watched and told of, and all of that is over when it goes', async () => {
    expect([(await server.get(widgets)).code, await groups(), await told(), await documented()]).toEqual([404, expect.not.arrayContaining([group]), false, false])
    const remove = await server.api.serve([kind()])
    expect([await groups(), await told(), await documented()]).toEqual([expect.arrayContaining([group]), true, true])
    expect((await server.get(`/apis/${group}/v1`)).body.resources).toMatchObject([{ name: 'services', kind: 'Widget' }])

    const watch = await server.watch(widgets)
    expect((await server.create(widgets, widget('a'))).code).toBe(201)
    expect((await server.patch(`${widgets}/a`, { data: { x: '1' } })).body).toMatchObject({ kind: 'Widget', data: { x: '1' } })
    expect(await watch.takeNames()).toEqual(['ADDED a', 'MODIFIED a'])

    const apiService = async () => (await server.get('/apis/apiregistration.k8s.io/v1/apiservices/v1.example.com')).code
    expect(await apiService()).toBe(200)

    remove()
    await settle()
    expect(await apiService()).toBe(404)
    expect(watch.exchange.isEnded).toBe(true)
    expect([(await server.get(widgets)).code, (await server.get(`/apis/${group}`)).code, await told(), await documented()]).toEqual([404, 404, false, false])
  })

  it('finds what was stored of it before, and meets nothing of a kind of the same name', async () => {
    await server.create('/api/v1/namespaces/default/services', { metadata: { name: 'core' }, spec: { ports: [{ port: 80 }] } })
    const remove = await server.api.serve([kind()])
    await server.create(widgets, widget('kept', { x: '1' }))
    remove()
    await server.api.serve([kind()])
    expect((await server.get(widgets)).body.items).toMatchObject([{ metadata: { name: 'kept' }, data: { x: '1' } }])
    const services = (await server.get('/api/v1/namespaces/default/services')).body.items
    expect(services.map((service: any) => service.metadata.name)).toEqual(['core', 'kubernetes'])
  })

  it('has one meaning at a time', async () => {
    await server.api.serve([kind()])
    await expect(server.api.serve([kind()])).rejects.toThrow('open already')
    await expect(server.api.serve([kind('configmaps'), kind('configmaps')])).rejects.toThrow()
    expect((await server.get(`/apis/${group}/v1/namespaces/default/configmaps`)).code).toBe(404)
    expect((await server.create(widgets, widget('a'))).code).toBe(201)
  })

  it('a request that is under way when its kind goes is answered, and a watch that begins then is over', async () => {
    const remove = await server.api.serve([kind()])
    const creation = server.create(widgets, widget('late'))
    const watch = server.watch(widgets)
    remove()
    expect([201, 404]).toContain((await creation).code)
    const opened = await watch.catch(() => undefined)
    await settle()
    expect(opened === undefined || opened.exchange.isEnded).toBe(true)
  })
})

describe('a kind with a type of its own', () => {
  const passive: ObjectType = {
    name: 'com.example.v1.Boat',
    decode: (value) => ({ object: { metadata: {}, ...structuredClone(value as object) } as { [key: string]: Json }, unknown: [], problems: [] }),
    emptyStatus: () => ({}),
  }
  const boats = `/apis/${group}/v1/namespaces/default/boats`

  it('is written and read by it, and takes the patches that need no hints', async () => {
    const { type: _none, ...boat } = kind('boats', 'Boat')
    await server.api.serve([{ ...boat, objectType: passive }])
    expect((await server.create(boats, { metadata: { name: 'argo' }, crew: { rowers: 50 } })).body).toMatchObject({ kind: 'Boat', crew: { rowers: 50 } })
    expect((await server.patch(`${boats}/argo`, { crew: { captain: 'Jason' } })).body.crew).toEqual({ rowers: 50, captain: 'Jason' })
    const refused = await server.patch(`${boats}/argo`, { crew: {} }, 'strategic')
    expect([refused.code, refused.body.message]).toEqual([415, expect.stringContaining('accepted media types include: application/json-patch+json, application/merge-patch+json')])
    expect((await server.get(boats)).body.items).toMatchObject([{ crew: { captain: 'Jason' } }])
  })
})

describe('kinds that come and go under load', () => {
  it('again and again: nobody else misses an event, and nothing is left of them', async () => {
    const times = 200
    const other = await server.watch(configMaps)
    const gone: WeakRef<object>[] = []
    for (let i = 0; i < times; i++) {
      const remove = await server.api.serve([kind('widgets')])
      const path = `/apis/${group}/v1/namespaces/default/widgets`
      gone.push(new WeakRef(server.api.parts.registry.find(`${group}/v1`, 'widgets')!))
      const watch = await server.watch(path)
      const [mine, others] = await Promise.all([server.create(path, widget(`w${i}`)), server.create(configMaps, configMap(`c${i}`))])
      expect([mine.code, others.code]).toEqual([201, 201])
      expect(await watch.takeNames()).toEqual([`ADDED w${i}`])
      await server.delete(`${path}/w${i}`)
      if (i % 50 === 0) expect([await told(), await documented()]).toEqual([true, true])
      remove()
    }
    const seen = (await other.take()).map(({ object }) => object.metadata.name)
    expect(seen).toEqual(Array.from({ length: times }, (_, i) => `c${i}`))
    expect([await told(), await documented(), server.api.parts.registry.find(`${group}/v1`, 'widgets')]).toEqual([false, false, undefined])
    const left = () => gone.filter((one) => one.deref() !== undefined).length
    for (let i = 0; i < 10 && left() >= 10; i++) await collectGarbage()
    // Whatever holds on to a kind that is gone would hold on to all of them.
    expect(left()).toBeLessThan(10)
  }, 120_000)
})
