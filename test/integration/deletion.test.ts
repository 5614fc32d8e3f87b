import { beforeEach, describe, expect, it } from 'vitest'
import { type TestServer, configMap, configMaps, pod, pods } from './server.ts'
import { useTestServer } from './use-test-server.ts'

let server: TestServer
useTestServer((started) => {
  server = started
})

const at = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`

/** A pod that runs on a node: only such a one is given time to end. */
async function runningPod(name: string, spec: object = {}): Promise<void> {
  await server.create(pods, pod(name, { nodeName: 'node-1', ...spec }))
  await server.patch(`${pods}/${name}/status`, { status: { phase: 'Running' } })
}

describe('the deletion of a pod', () => {
  it('that runs on no node is immediate', async () => {
    await server.create(pods, pod('a'))
    const { code, body } = await server.delete(`${pods}/a`)
    expect([code, body.kind]).toEqual([200, 'Pod'])
    expect((await server.get(`${pods}/a`)).code).toBe(404)
  })

  it('that runs gives it the time its spec names, and marks when that is over', async () => {
    await runningPod('a', { terminationGracePeriodSeconds: 45 })
    const now = server.clock.now()
    const watch = await server.watch(`${pods}?resourceVersion=${server.store.revision}`)
    const { body } = await server.delete(`${pods}/a`)
    expect(body.metadata).toMatchObject({ deletionGracePeriodSeconds: 45, deletionTimestamp: at(now + 45_000) })
    expect(await watch.takeNames()).toEqual(['MODIFIED a'])

    // Time alone does not remove it: its node does, when it has ended.
    server.clock.advance(60_000)
    expect((await server.get(`${pods}/a`)).code).toBe(200)
    const last = await server.delete(`${pods}/a`, { gracePeriodSeconds: 0 })
    expect(last.code).toBe(200)
    expect((await server.get(`${pods}/a`)).code).toBe(404)
    expect(await watch.takeNames()).toContain('DELETED a')
  })

  it('may be hurried by a second one, and not slowed down', async () => {
    await runningPod('a')
    const start = server.clock.now()
    await server.delete(`${pods}/a`)
    server.clock.advance(5_000)
    const slower = await server.delete(`${pods}/a`, { gracePeriodSeconds: 300 })
    expect(slower.body.metadata).toMatchObject({ deletionGracePeriodSeconds: 30, deletionTimestamp: at(start + 30_000) })
    const faster = await server.delete(`${pods}/a`, { gracePeriodSeconds: 10 })
    expect(faster.body.metadata.deletionGracePeriodSeconds).toBe(10)
    expect(Date.parse(faster.body.metadata.deletionTimestamp)).toBeLessThan(start + 30_000)
  })

  it('by force is immediate', async () => {
    await runningPod('a')
    expect((await server.delete(`${pods}/a`, { gracePeriodSeconds: 0 })).code).toBe(200)
    expect((await server.get(`${pods}/a`)).code).toBe(404)
  })
})

describe('an object with finalizers', () => {
  const finalizers = ['example.com/one', 'example.com/two']

  it('stays, marked, until the last of them is gone', async () => {
    await server.create(configMaps, { ...configMap('a'), metadata: { name: 'a', finalizers } })
    const watch = await server.watch(`${configMaps}?resourceVersion=${server.store.revision}`)
    const marked = await server.delete(`${configMaps}/a`)
    expect(marked.body.metadata).toMatchObject({ finalizers, deletionTimestamp: at(server.clock.now()), deletionGracePeriodSeconds: 0 })
    expect((await server.create(configMaps, configMap('a'))).body).toMatchObject({ code: 409, message: 'object is being deleted: configmaps "a" already exists' })

    await server.patch(`${configMaps}/a`, { metadata: { finalizers: ['example.com/two'] } })
    expect((await server.get(`${configMaps}/a`)).code).toBe(200)
    await server.patch(`${configMaps}/a`, { metadata: { finalizers: null } })
    expect((await server.get(`${configMaps}/a`)).code).toBe(404)
    expect(await watch.takeNames()).toEqual(['MODIFIED a', 'MODIFIED a', 'DELETED a'])
  })

  it('gets no new ones once it is being deleted', async () => {
    await server.create(configMaps, { ...configMap('a'), metadata: { name: 'a', finalizers } })
    await server.delete(`${configMaps}/a`)
    const { code, body } = await server.patch(`${configMaps}/a`, { metadata: { finalizers: [...finalizers, 'example.com/three'] } })
    expect(code).toBe(422)
    expect(body.message).toContain('no new finalizers can be added if the object is being deleted')
  })

  it('is marked once, however often it is deleted', async () => {
    await server.create(configMaps, { ...configMap('a'), metadata: { name: 'a', finalizers } })
    const first = await server.delete(`${configMaps}/a`)
    server.clock.advance(10_000)
    const second = await server.delete(`${configMaps}/a`)
    expect(second.body.metadata.deletionTimestamp).toBe(first.body.metadata.deletionTimestamp)
    expect(second.body.metadata.resourceVersion).toBe(first.body.metadata.resourceVersion)
  })

  it.each([
    ['Foreground', ['example.com/one', 'foregroundDeletion']],
    ['Orphan', ['example.com/one', 'orphan']],
    ['Background', ['example.com/one']],
  ])('waits for the garbage collector as %s says', async (propagationPolicy, expected) => {
    await server.create(configMaps, { metadata: { name: 'a', finalizers: ['example.com/one'] } })
    const { body } = await server.delete(`${configMaps}/a`, { propagationPolicy })
    expect(body.metadata.finalizers).toEqual(expected)
  })
})

describe('preconditions of a delete', () => {
  it.each([
    ['another uid', { uid: 'other' }, 409],
    ['an older version', { resourceVersion: '1' }, 409],
    ['nothing', {}, 200],
  ])('%s', async (_what, preconditions, code) => {
    await server.create(configMaps, configMap('a'))
    expect((await server.delete(`${configMaps}/a`, { preconditions })).code).toBe(code)
    expect((await server.get(`${configMaps}/a`)).code).toBe(code === 200 ? 404 : 200)
  })

  it('what is so', async () => {
    const { body } = await server.create(configMaps, configMap('a'))
    const { uid, resourceVersion } = body.metadata
    expect((await server.delete(`${configMaps}/a`, { preconditions: { uid, resourceVersion } })).code).toBe(200)
  })
})

describe('a namespace that is deleted', () => {
  const spaces = '/api/v1/namespaces'

  it('is Terminating and takes nothing new until it is finalized', async () => {
    await server.create(spaces, { metadata: { name: 'x' } })
    await server.create(`${spaces}/x/configmaps`, configMap('a'))
    const { body } = await server.delete(`${spaces}/x`)
    expect(body).toMatchObject({ metadata: { deletionTimestamp: at(server.clock.now()) }, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Terminating' } })

    const refused = await server.create(`${spaces}/x/configmaps`, configMap('b'))
    expect(refused.code).toBe(403)
    expect(refused.body).toMatchObject({
      reason: 'Forbidden',
      message: 'configmaps "b" is forbidden: unable to create new content in namespace x because it is being terminated',
      details: { causes: [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }] },
    })
    // Existing objects can still be changed and removed.
    expect((await server.patch(`${spaces}/x/configmaps/a`, { data: { k: 'v' } })).code).toBe(200)
    expect((await server.delete(`${spaces}/x/configmaps/a`)).code).toBe(200)

    const now = (await server.get(`${spaces}/x`)).body
    const final = await server.update(`${spaces}/x/finalize`, { ...now, spec: { finalizers: [] } })
    expect(final.code).toBe(200)
    expect((await server.get(`${spaces}/x`)).code).toBe(404)
  })

  it.each(['default', 'kube-system', 'kube-public'])('is not %s', async (name) => {
    expect((await server.delete(`${spaces}/${name}`)).code).toBe(403)
  })
})

describe('the deletion of a collection', () => {
  const count = 150

  beforeEach(async () => {
    await Promise.all(Array.from({ length: count }, (_, i) => server.create(configMaps, configMap(`o-${i}`, {}, { half: String(i % 2) }))))
  })

  it('takes what its selector names, and nothing else', async () => {
    const { body } = await server.delete(`${configMaps}?labelSelector=half%3D1`)
    expect(body.kind).toBe('ConfigMapList')
    expect(body.items).toHaveLength(count / 2)
    expect((await server.get(configMaps)).body.items).toHaveLength(count / 2)
  })

  it('succeeds though others delete, change and create at the same time', async () => {
    const replies = await Promise.all([
      server.delete(configMaps),
      server.delete(configMaps),
      ...Array.from({ length: 50 }, (_, i) => server.delete(`${configMaps}/o-${i}`)),
      ...Array.from({ length: 50 }, (_, i) => server.patch(`${configMaps}/o-${100 + i}`, { data: { x: '1' } })),
      server.create(configMaps, configMap('new')),
    ])
    expect(replies.every((r) => [200, 201, 404].includes(r.code))).toBe(true)
    const left = (await server.get(configMaps)).body.items as { metadata: { name: string } }[]
    expect(left.every((i) => i.metadata.name === 'new')).toBe(true)
  })
})
