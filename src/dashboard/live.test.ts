import { describe, expect, it } from 'vitest'
import { silentLogger } from '../base/logger.ts'
import { SeededRandom } from '../base/seeded-random.ts'
import { VirtualClock } from '../base/virtual-clock.ts'
import { ApiError } from '../api/errors.ts'
import type { ApiRequest, Transport, WatchListener } from '../client/index.ts'
import { Live } from './live.ts'

/** An API server with empty lists, without some resources, or one that does not answer at all. */
class EmptyApi implements Transport {
  watches = 0
  absent: string[] = []
  broken: string[] = []
  isSilent = false
  fails = false

  send<T>({ path }: ApiRequest): Promise<T> {
    if (this.isSilent) return new Promise(() => {})
    if (this.broken.some((resource) => path.endsWith(`/${resource}`))) return Promise.reject(new ApiError(500, 'InternalError', 'conversion webhook failed', {}))
    if (this.absent.some((resource) => path.endsWith(`/${resource}`))) return Promise.reject(new ApiError(404, 'NotFound', 'the server could not find the requested resource', {}))
    return Promise.resolve({ kind: 'List', metadata: { resourceVersion: '5' }, items: [] } as T)
  }

  watch({ path, query }: ApiRequest, listener: WatchListener<never>): () => void {
    if (this.fails) throw new Error('a fault of the test')
    this.watches++
    const isAbsent = this.absent.some((resource) => path.endsWith(`/${resource}`))
    let isOver = false
    const close = (error?: Error) => {
      if (isOver) return
      isOver = true
      this.watches--
      listener.closed(error)
    }
    if (this.isSilent) return close
    queueMicrotask(() => {
      if (this.broken.some((resource) => path.endsWith(`/${resource}`))) return close(new ApiError(500, 'InternalError', 'conversion webhook failed', {}))
      if (isAbsent) return close(new ApiError(404, 'NotFound', 'the server could not find the requested resource', {}))
      if (query?.['sendInitialEvents']) return close(new ApiError(422, 'Invalid', 'sendInitialEvents is forbidden', {}))
      listener.opened()
    })
    return () => close()
  }

  async close(): Promise<void> {}
}

function scene(namespace = '') {
  const clock = new VirtualClock()
  const api = new EmptyApi()
  const live = new Live({ transport: api, namespace, clock, random: new SeededRandom(1), logger: silentLogger })
  return { api, clock, live }
}

describe('Live', () => {
  it('is ready at once on a cluster without CloneSets', async () => {
    const { api, clock, live } = scene()
    api.absent = ['clonesets']
    let isReady = false
    void live.acquire().then(() => (isReady = true))
    await clock.pass(100)
    expect(isReady).toBe(true)
    expect((await live.acquire()).caches.isSettled).toBe(true)
    await live.stop()
  })

  it('waits five seconds for an API server that does not answer, and says so', async () => {
    const { api, clock, live } = scene()
    api.isSilent = true
    let isReady = false
    const running = live.acquire()
    void running.then(() => (isReady = true))
    await clock.pass(4900)
    expect(isReady).toBe(false)
    await clock.pass(200)
    const { topics } = await running
    await expect(topics.grant('workloads', {} as never)).rejects.toThrow('the API server has not sent all workloads and pods yet')
    await live.stop()
  })

  it('leaves out a kind that the API server fails to list, after half a minute', async () => {
    const { api, clock, live } = scene()
    api.broken = ['clonesets']
    const running = live.acquire()
    await clock.pass(20_000)
    const { caches } = await running
    expect(caches.isSettled).toBe(false)
    await clock.pass(10_000)
    expect(caches.isSettled).toBe(true)
    await live.stop()
  })

  it('of one namespace has no topics of others', async () => {
    const { clock, live } = scene('shop')
    const running = live.acquire()
    await clock.pass(100)
    const { topics } = await running
    await expect(topics.grant('pods Deployment other/web', {} as never)).rejects.toMatchObject({ code: 400, message: 'this dashboard shows only namespace "shop"' })
    await live.stop()
  })

  it('starts again after a failed start', async () => {
    const { api, clock, live } = scene()
    api.fails = true
    await expect(live.acquire()).rejects.toThrow('a fault of the test')
    api.fails = false
    const running = live.acquire()
    await clock.pass(100)
    expect((await running).caches.isSettled).toBe(true)
    await live.stop()
  })

  it('stops five minutes after the last user', async () => {
    const { api, clock, live } = scene()
    for (const _ of [1, 2]) void live.acquire()
    await clock.pass(1000)
    live.release()
    await clock.pass(600_000)
    expect(api.watches).toBeGreaterThan(0)
    live.release()
    await clock.pass(299_000)
    expect(api.watches).toBeGreaterThan(0)
    await clock.pass(2000)
    expect(api.watches).toBe(0)
  })
})
