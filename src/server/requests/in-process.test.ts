import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ApiError } from '../../api/errors.ts'
import { FeatureGates } from '../../api/feature-gates.ts'
import { silentLogger } from '../../base/logger.ts'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { openMemoryStore } from '../../store/index.ts'
import { ApiServer, Authenticator, type InProcessRequest, admissionPlugins, callInProcess, watchInProcess } from '../index.ts'

/** Anything that JSON can say, for tests that know what they look at. */
type Any = any

const user = { name: 'tester', groups: ['system:masters'] }
const configMaps = '/api/v1/namespaces/default/configmaps'
const configMap = (name: string, data: Record<string, string | undefined> = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { a: 'b' } as Record<string, string | undefined> }, data })

const clock = new VirtualClock()
let server: ApiServer

beforeEach(async () => {
  let uuids = 0
  server = await ApiServer.open({
    store: openMemoryStore({ clock }),
    gates: FeatureGates.of(),
    authenticator: new Authenticator(),
    admission: admissionPlugins,
    clock,
    random: { next: () => 0.5, uuid: () => `uid-${++uuids}` },
    logger: silentLogger,
    release: '0',
    freezesObjects: true,
    address: '127.0.0.1:6443',
  })
})

afterEach(() => server.close())

const call = (method: string, path: string, more: Partial<InProcessRequest> = {}): Promise<Any> => callInProcess(server, { method, path, user, ...more })
const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('callInProcess()', () => {
  test('creates, reads, updates, patches and deletes as over HTTP', async () => {
    const created = await call('POST', configMaps, { body: configMap('a', { k: '1' }) })
    expect(created).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default', creationTimestamp: expect.any(String) }, data: { k: '1' } })
    const updated = await call('PUT', `${configMaps}/a`, { body: { ...created, data: { k: '2' } } })
    expect(Number(updated.metadata.resourceVersion)).toBeGreaterThan(Number(created.metadata.resourceVersion))
    const patched = await call('PATCH', `${configMaps}/a`, { body: { data: { l: '3' } }, contentType: 'application/merge-patch+json' })
    expect(patched.data).toEqual({ k: '2', l: '3' })
    expect(await call('GET', `${configMaps}/a`)).toBe(patched)
    expect(await call('DELETE', `${configMaps}/a`)).toMatchObject({ kind: 'Status', status: 'Success' })
    await expect(call('GET', `${configMaps}/a`)).rejects.toMatchObject({ code: 404, reason: 'NotFound', message: 'configmaps "a" not found' })
  })

  test('hands out the stored object itself, frozen all the way down', async () => {
    const created = await call('POST', configMaps, { body: configMap('a') })
    const list = await call('GET', configMaps)
    expect(list.items.find((i: Any) => i.metadata.name === 'a')).toBe(created)
    expect(list).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: created.metadata.resourceVersion } })
    expect(() => (created.metadata.labels.a = 'c')).toThrow(TypeError)
    expect(() => list.items.push(created)).toThrow(TypeError)
    expect(() => (list.metadata.resourceVersion = '1')).toThrow(TypeError)
  })

  test('does not let later changes of a body through, not even those made before it answers', async () => {
    const data = { deep: { list: [1] } }
    const revision = { apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata: { name: 'r', labels: { a: 'b' } }, revision: 1, data }
    const answer = call('POST', '/apis/apps/v1/namespaces/default/controllerrevisions', { body: revision })
    revision.metadata.labels.a = 'changed'
    data.deep.list.push(2)
    const stored = await answer
    data.deep.list.push(3)
    expect([stored.metadata.labels, stored.data]).toEqual([{ a: 'b' }, { deep: { list: [1] } }])
  })

  test('leaves a body as it is', async () => {
    const body = Object.freeze(configMap('a', Object.freeze({ k: 'v' })))
    await call('POST', configMaps, { body })
    expect(body).toEqual(configMap('a', { k: 'v' }))
  })

  test('takes what is undefined for not there', async () => {
    const body = { ...configMap('a', { k: 'v', none: undefined }), immutable: undefined }
    body.metadata.labels.none = undefined
    const created = await call('POST', configMaps, { body, query: { fieldValidation: 'Strict' } })
    expect(created.data).toEqual({ k: 'v' })
    expect(Object.keys(created.metadata.labels)).toEqual(['a'])
    const patched = await call('PATCH', `${configMaps}/a`, { body: { data: { k: undefined, l: 'w' } }, contentType: 'application/merge-patch+json' })
    expect(patched.data).toEqual({ k: 'v', l: 'w' })
  })

  const failures: [what: string, method: string, path: string, more: Partial<InProcessRequest>, error: object][] = [
    ['an unknown field, where asked to be strict', 'POST', configMaps, { body: { ...configMap('x'), odd: 1 }, query: { fieldValidation: 'Strict' } }, { code: 400 }],
    ['an invalid object', 'POST', configMaps, { body: configMap('Not A Name') }, { code: 422, reason: 'Invalid' }],
    ['another kind', 'POST', configMaps, { body: { ...configMap('x'), kind: 'Pod' } }, { code: 400, reason: 'BadRequest' }],
    ['a kind that is not served', 'GET', '/api/v1/namespaces/default/nothings', {}, { code: 404 }],
    ['a group that is not served', 'GET', '/apis/example.org/v1/things', {}, { code: 404 }],
    ['a path that is no path', 'GET', '/nowhere', {}, { code: 404 }],
    ['a method that is not allowed', 'PUT', configMaps, { body: {} }, { code: 405 }],
    ['a watch', 'GET', configMaps, { query: { watch: 'true' } }, { code: 400 }],
  ]
  test.each(failures)('refuses %s with an ApiError', async (_, method, path, more, error) => {
    const refused = await call(method, path, more).catch((e: unknown) => e)
    expect(refused).toBeInstanceOf(ApiError)
    expect(refused).toMatchObject(error)
  })

  test('tells of what HTTP warns of', async () => {
    const warnings: string[] = []
    await call('POST', configMaps, { body: { ...configMap('a'), odd: 1 }, warn: (w) => warnings.push(w) })
    expect(warnings).toEqual(['unknown field "odd"'])
  })

  test('tells everything once, however often admission was asked', async () => {
    const labels = { 'pod-security.kubernetes.io/warn': 'baseline' }
    await call('PATCH', '/api/v1/namespaces/default', { body: { metadata: { labels } }, contentType: 'application/merge-patch+json' })
    const quota = { metadata: { name: 'q' }, spec: { hard: { pods: '5' } } }
    await call('POST', '/api/v1/namespaces/default/resourcequotas', { body: quota })
    await call('PATCH', '/api/v1/namespaces/default/resourcequotas/q/status', {
      body: { status: { hard: { pods: '5' }, used: { pods: '0' } } }, contentType: 'application/merge-patch+json',
    })
    const warnings: string[] = []
    const spec = { hostPID: true, containers: [{ name: 'c', image: 'i' }] }
    await call('POST', '/api/v1/namespaces/default/pods', { body: { metadata: { name: 'p' }, spec }, warn: (w) => warnings.push(w) })
    expect(warnings).toEqual(['would violate PodSecurity "baseline:latest": host namespaces (hostPID=true)'])
  })

  test('counts as any request does', async () => {
    await call('GET', configMaps)
    expect(server.metrics.text()).toMatch(/apiserver_request_total\{verb="LIST",[^}]*resource="configmaps"[^}]*code="200"\} 1\n/)
  })

  test('reads documents', async () => {
    expect(await call('GET', '/version')).toMatchObject({ major: '1' })
    expect(await call('GET', '/api/v1')).toMatchObject({ kind: 'APIResourceList' })
  })

  test('refuses once the server is closed', async () => {
    server.close()
    await expect(call('GET', configMaps)).rejects.toMatchObject({ code: 503 })
  })
})

describe('watchInProcess()', () => {
  function watch(query: Record<string, string> = {}, onEvent: (type: string, object: Any) => void = () => {}) {
    const told: string[] = []
    const objects: Any[] = []
    const stop = watchInProcess(server, { method: 'GET', path: configMaps, query, user }, {
      opened: () => told.push('opened'),
      event: (type, object) => {
        told.push(`${type} ${object.metadata.name ?? object.metadata.resourceVersion}`)
        objects.push(object)
        onEvent(type, object)
      },
      closed: (error) => told.push(error ? `closed: ${error.message}` : 'closed'),
    })
    return { told, objects, stop }
  }
  const newest = async () => (await call('GET', configMaps)).metadata.resourceVersion as string

  test('tells of changes in order, with the stored objects themselves', async () => {
    const { told, objects, stop } = watch({ resourceVersion: await newest() })
    await settle()
    const a = await call('POST', configMaps, { body: configMap('a') })
    await call('PATCH', `${configMaps}/a`, { body: { data: { k: 'v' } }, contentType: 'application/merge-patch+json' })
    await call('DELETE', `${configMaps}/a`)
    await settle()
    expect(told).toEqual(['opened', 'ADDED a', 'MODIFIED a', 'DELETED a'])
    expect(objects[0]).toBe(a)
    expect(Number(objects[2].metadata.resourceVersion)).toBeGreaterThan(Number(objects[1].metadata.resourceVersion))
    for (const object of objects) expect(Object.isFrozen(object.metadata)).toBe(true)
    stop()
    await settle()
    expect(told.at(-1)).toBe('closed')
  })

  test('tells before the writer is answered, and never while the commit goes on', async () => {
    const order: string[] = []
    const { stop } = watch({ resourceVersion: await newest() }, (type) => order.push(type))
    await settle()
    server.parts.objects.cache(server.parts.registry.find('v1', 'configmaps')!).listen(() => order.push('committed'))
    await call('POST', configMaps, { body: configMap('a') }).then(() => order.push('answered'))
    expect(order).toEqual(['committed', 'ADDED', 'answered'])
    stop()
  })

  test('begins with what is there if asked, and says where that ends', async () => {
    await call('POST', configMaps, { body: configMap('a') })
    const { told, objects, stop } = watch({ sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: 'true' })
    await settle()
    expect(told).toEqual(['opened', 'ADDED a', `BOOKMARK ${await newest()}`])
    expect(objects.at(-1)).toEqual({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: await newest(), annotations: { 'k8s.io/initial-events-end': 'true' } } })
    stop()
  })

  test('sends a bookmark every minute', async () => {
    const { told, stop } = watch({ resourceVersion: await newest(), allowWatchBookmarks: 'true' })
    await clock.pass(120_000)
    expect(told).toEqual(['opened', `BOOKMARK ${await newest()}`, `BOOKMARK ${await newest()}`])
    stop()
  })

  test('ends when its time is up', async () => {
    const { told } = watch({ resourceVersion: await newest(), timeoutSeconds: '5' })
    await clock.pass(5000)
    expect(told).toEqual(['opened', 'closed'])
  })

  test('says that a version is too old', async () => {
    const old = await newest()
    await call('POST', configMaps, { body: configMap('a') })
    await call('POST', configMaps, { body: configMap('b') })
    await server.parts.objects.store.compact(Number(await newest()))
    const { told } = watch({ resourceVersion: old })
    await settle()
    expect(told.at(-1)).toMatch(/^closed: too old resource version: /)
  })

  test('says that it is refused', async () => {
    const { told } = watch({ resourceVersionMatch: 'Exact' })
    await settle()
    expect(told).toEqual([expect.stringMatching(/^closed: ListOptions.meta.k8s.io "" is invalid/)])
  })

  test('says nothing any more once it is stopped', async () => {
    const { told, stop } = watch({ resourceVersion: await newest() })
    await settle()
    await Promise.all([call('POST', configMaps, { body: configMap('a') }), Promise.resolve().then(stop)])
    await call('POST', configMaps, { body: configMap('b') })
    await settle()
    expect(told).toEqual(['opened', 'closed'])
  })

  test('ends with the server', async () => {
    const { told } = watch({ resourceVersion: await newest() })
    await settle()
    server.close()
    await settle()
    expect(told).toEqual(['opened', 'closed: the server is closed'])
  })

  test('ends for a watcher that throws; others and writers go on', async () => {
    const bad = watch({ resourceVersion: await newest() }, () => {
      throw new Error('my fault')
    })
    const good = watch({ resourceVersion: await newest() })
    await settle()
    await call('POST', configMaps, { body: configMap('a') })
    await call('POST', configMaps, { body: configMap('b') })
    await settle()
    expect(bad.told).toEqual(['opened', 'ADDED a', 'closed: my fault'])
    expect(good.told).toEqual(['opened', 'ADDED a', 'ADDED b'])
    good.stop()
  })

  test('is counted while it is open', async () => {
    const { stop } = watch({ resourceVersion: await newest() })
    await settle()
    const open = () => /apiserver_longrunning_requests\{[^}]*resource="configmaps"[^}]*\} (\d+)/.exec(server.metrics.text())?.[1]
    expect(open()).toBe('1')
    stop()
    await settle()
    expect(open()).toBe('0')
  })
})
