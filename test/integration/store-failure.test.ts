import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CommitFailedError, type Store } from '../../src/store/index.ts'
import { TestServer, configMap, configMaps, services, settle } from './server.ts'

let server: TestServer
/** The error of the disk from now on. Undefined while it works. */
let problem: Error | undefined
let breakFeed: (why: Error) => void

/** A store whose writes fail while there is a problem, and whose watches can be broken off. */
function failing(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name === 'write') return (op: Parameters<Store['write']>[0]) => (problem ? Promise.reject(new CommitFailedError(problem)) : target.write(op))
      if (name === 'watch') {
        return async (...[prefix, from, onEvents, onEnd]: Parameters<Store['watch']>) => {
          if (prefix === '/registry/') breakFeed = (why) => onEnd?.(why)
          return target.watch(prefix, from, onEvents, onEnd)
        }
      }
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

beforeEach(async () => {
  problem = undefined
  server = await TestServer.start({ wrapStore: failing })
})

afterEach(() => server.close())

describe('a store that cannot commit', () => {
  const full = new Error('ENOSPC: no space left on device')

  it('makes every write an internal error, of which nothing is seen', async () => {
    await server.create(configMaps, configMap('a', { x: '1' }))
    const watch = await server.watch(configMaps)
    await watch.take()
    const before = server.store.revision
    problem = full
    const replies = [
      await server.create(configMaps, configMap('b')),
      await server.update(`${configMaps}/a`, configMap('a', { x: '2' })),
      await server.patch(`${configMaps}/a`, { data: { x: '3' } }),
      await server.delete(`${configMaps}/a`),
      await server.delete(configMaps),
    ]
    for (const { code, body } of replies) {
      expect(code).toBe(500)
      expect(body).toMatchObject({ kind: 'Status', reason: 'InternalError' })
      expect(body.message).toContain('no space left on device')
    }
    expect(server.errors).toHaveLength(replies.length)

    const { body } = await server.get(configMaps)
    expect(body.items.map((i: any) => [i.metadata.name, i.data])).toEqual([['a', { x: '1' }]])
    expect([server.store.revision, body.metadata.resourceVersion]).toEqual([before, String(before)])
    expect(await watch.take()).toEqual([])
  })

  it('is well again by itself once it can', async () => {
    problem = full
    expect((await server.create(configMaps, configMap('a'))).code).toBe(500)
    problem = undefined
    const watch = await server.watch(configMaps)
    expect((await server.create(configMaps, configMap('a'))).code).toBe(201)
    expect(await watch.takeNames()).toEqual(['ADDED a'])
    expect((await server.get('/readyz')).code).toBe(200)
  })

  it('costs no addresses of services', async () => {
    problem = full
    for (let i = 0; i < 300; i++) expect((await server.create(services, { metadata: { name: `s-${i}` }, spec: { ports: [{ port: 80 }] } })).code).toBe(500)
    problem = undefined
    expect((await server.create(services, { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } })).code).toBe(201)
  })
})

describe('a store that can no longer be followed', () => {
  const why = new Error('the disk is gone')

  it('is served no more: what is known of it may be out of date', async () => {
    await server.create(configMaps, configMap('a'))
    const watch = await server.watch(configMaps)
    breakFeed(why)
    await settle()
    expect(watch.exchange.isDestroyed).toBe(true)
    for (const reply of [await server.get(`${configMaps}/a`), await server.get(configMaps), await server.create(configMaps, configMap('b'))]) {
      expect([reply.code, reply.body.reason]).toEqual([503, 'ServiceUnavailable'])
    }
    expect([(await server.get('/livez')).code, (await server.get('/readyz')).code]).toEqual([500, 500])
    expect((await server.get('/livez')).text).toContain('[-]store failed: the disk is gone')
    expect((await server.get('/metrics')).code).toBe(200)
  })
})
