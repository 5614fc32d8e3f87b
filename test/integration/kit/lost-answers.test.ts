import { describe, expect, it } from 'vitest'
import { forbiddenError } from '../../../src/api/errors.ts'
import type { Pod } from '../../../src/api/generated/types.ts'
import { type ApiRequest, TransportError, configmaps, replicasets } from '../../../src/client/index.ts'
import { replicaSet } from './crew.ts'
import { Scene } from './scene.ts'

const lost = () => new TransportError('read ECONNRESET', false)

/** Does something else with the first writes of one kind. */
function breakFirst(s: Scene, count: number, is: (request: ApiRequest) => boolean, how: (send: () => Promise<unknown>) => Promise<unknown>): void {
  let left = count
  s.wire.intercept = (request, send) => (is(request) && left-- > 0 ? how(send) : send())
}

const makesPod = ({ method, path }: ApiRequest) => method === 'POST' && path.endsWith('/pods')
const deletesPod = ({ method, path }: ApiRequest) => method === 'DELETE' && path.includes('/pods/')

describe('a create whose answer is lost', () => {
  it('is not repeated if it took effect', async () => {
    const s = await Scene.start()
    breakFirst(s, 2, makesPod, async (send) => {
      await send()
      throw lost()
    })
    await s.client.create(replicasets, replicaSet('web', 3))
    await s.pass(10_000)
    expect(await s.podsOf('web')).toHaveLength(3)
    expect(s.wire.counts()).toMatchObject({ 'POST pods': 3 })
    expect(s.wire.counts()).not.toHaveProperty('DELETE pods')
  })

  it('is repeated if it did not', async () => {
    const s = await Scene.start()
    breakFirst(s, 2, makesPod, () => Promise.reject(lost()))
    await s.client.create(replicasets, replicaSet('web', 3))
    await s.pass(10_000)
    expect(await s.podsOf('web')).toHaveLength(3)
    expect(s.wire.counts()).toMatchObject({ 'POST pods': 5 })
  })

  it('makes one object even if it arrives after it was repeated', async () => {
    const s = await Scene.start()
    breakFirst(s, 1, makesPod, (send) => {
      s.clock.after(1000, () => send().catch(() => {}))
      return Promise.reject(lost())
    })
    await s.client.create(replicasets, replicaSet('web', 1))
    await s.pass(10_000)
    expect(await s.podsOf('web')).toHaveLength(1)
    expect(s.wire.counts()).not.toHaveProperty('DELETE pods')
  })

  it('makes one object even if it arrives between asking and repeating', async () => {
    const s = await Scene.start()
    let arrive: (() => Promise<unknown>) | undefined
    let attempts = 0
    s.wire.intercept = async (request, send) => {
      if (!makesPod(request)) return send()
      if (++attempts === 1) {
        arrive = send
        throw lost()
      }
      await arrive!()
      return send()
    }
    await s.client.create(replicasets, replicaSet('web', 1))
    await s.pass(10_000)
    expect(await s.podsOf('web')).toHaveLength(1)
    expect(attempts).toBe(2)
  })

  it('leaves its name to the object that arrives late: the next object gets another one', async () => {
    const s = await Scene.start()
    let attempts = 0
    s.wire.intercept = async (request, send) => {
      if (!makesPod(request) || ++attempts > 2) return send()
      // The first arrives after the server was asked about it, and before the second is refused.
      if (attempts === 1) s.clock.after(1000, () => send().catch(() => {}))
      else await new Promise<void>((resolve) => void s.clock.after(2000, resolve))
      throw attempts === 1 ? lost() : forbiddenError({ group: '', resource: 'pods' }, 'web', 'exceeded quota')
    }
    await s.client.create(replicasets, replicaSet('web', 1))
    await s.pass(10_000)
    const [first] = await s.podsOf('web')
    await s.client.patch(replicasets, 'default', 'web', { spec: { replicas: 2 } }, { type: 'merge' })
    await s.pass(10_000)
    expect(await s.podsOf('web')).toHaveLength(2)
    const names = s.wire.writes.filter(({ request }) => makesPod(request)).map(({ request }) => (request.body as Pod).metadata.name)
    expect(names).toEqual([first!.metadata.name, first!.metadata.name, expect.not.stringMatching(first!.metadata.name!)])
  })

  it('is not repeated while the cache has not caught up', async () => {
    const s = await Scene.start()
    s.wire.delaysMs.set('pods', 5000)
    breakFirst(s, 1, makesPod, async (send) => {
      await send()
      throw lost()
    })
    await s.client.create(replicasets, replicaSet('web', 1))
    await s.pass(30_000)
    expect(s.wire.counts()).toMatchObject({ 'POST pods': 1 })
    expect(await s.podsOf('web')).toHaveLength(1)
  })

  it('has the owner wait while the server cannot say', async () => {
    const s = await Scene.start()
    let isDown = false
    s.wire.intercept = async (request, send) => {
      if (!makesPod(request) || isDown) return send()
      isDown = true
      s.wire.isUnreachable = true
      await send()
      throw lost()
    }
    await s.client.create(replicasets, replicaSet('web', 1))
    await s.pass(20_000)
    expect(s.wire.counts()).toEqual({ 'POST pods': 1 })
    s.wire.isUnreachable = false
    await s.pass(60_000)
    expect(s.wire.counts()).toMatchObject({ 'POST pods': 1, 'POST configmaps': 1 })
  })
})

describe('another write whose answer is lost', () => {
  it('a delete that took effect is not repeated', async () => {
    const s = await Scene.start()
    await s.client.create(replicasets, replicaSet('web', 2))
    await s.pass(1000)
    s.wire.delaysMs.set('pods', 5000)
    breakFirst(s, 1, deletesPod, async (send) => {
      await send()
      throw lost()
    })
    await s.client.patch(replicasets, 'default', 'web', { spec: { replicas: 1 } }, { type: 'merge' })
    await s.pass(30_000)
    expect(await s.podsOf('web')).toHaveLength(1)
    expect(s.wire.counts()).toMatchObject({ 'POST pods': 2, 'DELETE pods': 1 })
  })

  it('an update that took effect is not repeated', async () => {
    const s = await Scene.start()
    await s.client.create(replicasets, replicaSet('web', 1))
    await s.pass(1000)
    s.wire.delaysMs.set('configmaps', 5000)
    breakFirst(
      s,
      1,
      ({ method, path }) => method === 'PUT' && path.includes('/configmaps/'),
      async (send) => {
        await send()
        throw lost()
      },
    )
    await s.client.patch(replicasets, 'default', 'web', { spec: { replicas: 2 } }, { type: 'merge' })
    await s.pass(30_000)
    expect((await s.client.get(configmaps, 'default', 'web-roster')).data!.names!.split(' ')).toHaveLength(2)
    expect(s.wire.counts()).toMatchObject({ 'PUT configmaps': 1 })
  })

  it('the owner is looked at as it is after asking, not before', async () => {
    const s = await Scene.start()
    await s.client.create(replicasets, replicaSet('web', 0))
    await s.pass(1000)
    const isSlow = ({ path }: ApiRequest) => path.endsWith('/replicasets/web')
    s.wire.interceptRead = async (request, send) => {
      if (isSlow(request)) await new Promise<void>((resolve) => void s.clock.after(5000, resolve))
      return send()
    }
    breakFirst(
      s,
      1,
      ({ path }) => path.endsWith('/status'),
      (send) => {
        s.clock.after(1000, () => void send())
        return Promise.reject(lost())
      },
    )
    // Its status is written, without anybody hearing of it, while the server is being asked.
    await s.client.patch(replicasets, 'default', 'web', { metadata: { annotations: { a: 'b' } }, spec: { minReadySeconds: 1 } }, { type: 'merge' })
    await s.pass(60_000)
    expect((await s.client.get(replicasets, 'default', 'web')).status).toMatchObject({ observedGeneration: 2 })
    expect(s.wire.writes.filter((w) => w.request.path.endsWith('/status')).map((w) => w.error?.message)).toEqual([undefined, 'read ECONNRESET'])
  })
})
