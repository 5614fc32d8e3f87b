import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { isAlreadyExists, isConflict, isInvalid, isNotFound } from '../../src/api/errors.ts'
import { FeatureGates } from '../../src/api/feature-gates.ts'
import type { ConfigMap } from '../../src/api/generated/types.ts'
import { silentLogger } from '../../src/base/logger.ts'
import { systemRandom } from '../../src/base/random.ts'
import {
  type ApiRequest,
  Client,
  type ClusterAccess,
  HttpTransport,
  type HttpTransportOptions,
  TransportError,
  type WatchEvent,
  builtInResources,
  configmaps,
  deployments,
  loadAccess,
  namespaces,
  pods,
  selfsubjectreviews,
  serviceaccounts,
} from '../../src/client/index.ts'
import { type RunningApi, serveApi } from '../../src/cluster/index.ts'
import { allResources } from '../../src/server/resources/index.ts'
import { startForwarder, startProxy } from './client-stub.ts'
import { until } from './server.ts'

// Certificates, servers and a thousand requests take their time on a busy machine.
vi.setConfig({ testTimeout: 30_000 })

let dir: string
let api: RunningApi

const serve = (dataDir: string, securePort = 0) =>
  serveApi({
    dataDir,
    store: 'memory',
    bindAddress: '127.0.0.1',
    securePort,
    kubeconfigOut: undefined,
    tokenAuthFile: path.join(dir, 'tokens'),
    clientCaFile: undefined,
    disabledAdmission: [],
    gates: FeatureGates.of(),
    release: '0.0.0-test',
    logger: silentLogger,
  })

const undo: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const fn of undo.splice(0).reverse()) await fn()
})

beforeAll(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'coxswain-client-'))
  writeFileSync(path.join(dir, 'tokens'), 'sesame,ali,7,"thieves"\nmellon,gimli,8,"dwarves"\n')
  api = await serve(path.join(dir, 'main'))
})

afterAll(async () => {
  await api.stop()
  rmSync(dir, { recursive: true, force: true })
})

function clientOf(access: ClusterAccess, options: HttpTransportOptions = {}): Client {
  const client = new Client(new HttpTransport(access, { env: {}, ...options }))
  undo.push(() => client.close())
  return client
}

const connect = async (options: HttpTransportOptions = {}) => clientOf(await loadAccess({ file: api.kubeconfig }), options)

let count = 0

async function newNamespace(client: Client): Promise<string> {
  const namespace = await client.create(namespaces, { metadata: { name: `n${++count}` }, spec: {} })
  return namespace.metadata.name!
}

const container = { name: 'c', image: 'i', resources: {} }

const configMap = (namespace: string, name: string, data: Record<string, string> = {}): ConfigMap => ({ metadata: { namespace, name }, data })

interface Seen {
  events: WatchEvent<ConfigMap>[]
  /** Resolves when so many events have come. */
  reaches(count: number): Promise<void>
  opened: Promise<void>
  closed: Promise<Error | undefined>
  stop(): void
}

function watchMaps(client: Client, namespace: string, options: Parameters<Client['watch']>[2] = {}): Seen {
  const events: WatchEvent<ConfigMap>[] = []
  let look = () => {}
  let opened = () => {}
  let closed = (_error: Error | undefined) => {}
  const seen: Omit<Seen, 'stop'> = {
    events,
    reaches: (n) =>
      new Promise((resolve) => {
        look = () => events.length >= n && resolve()
        look()
      }),
    opened: new Promise((resolve) => (opened = resolve)),
    closed: new Promise((resolve) => (closed = resolve)),
  }
  const stop = client.watch(configmaps, namespace, options, {
    opened: () => opened(),
    event: (e) => {
      events.push(e)
      look()
    },
    closed: (e) => closed(e),
  })
  return { ...seen, stop }
}

const shown = (events: readonly WatchEvent<ConfigMap>[]) => events.map((e) => `${e.type} ${e.object.metadata.name} ${e.object.data?.v ?? ''}`.trim())

describe('resources.ts', () => {
  it('names every resource that the server has, and no other', () => {
    const names = ({ group, version, plural, kind, namespaced }: (typeof builtInResources)[number]) => `${group}/${version} ${plural} ${kind} ${namespaced}`
    const always = allResources(systemRandom).filter(({ gate }) => !gate)
    expect(builtInResources.map(names).sort()).toEqual(always.map(names).sort())
  })
})

describe('Client over HttpTransport', () => {
  it('creates, reads, replaces, patches and deletes', async () => {
    const client = await connect()
    const namespace = await newNamespace(client)
    const made = await client.create(configmaps, configMap(namespace, 'a', { v: '1' }))
    expect(made).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace }, data: { v: '1' } })
    expect(await client.get(configmaps, namespace, 'a')).toEqual(made)
    const replaced = await client.update(configmaps, { ...made, data: { v: '2' } })
    expect(replaced.data).toEqual({ v: '2' })
    expect((await client.patch(configmaps, namespace, 'a', { data: { w: '3' } }, { type: 'merge' })).data).toEqual({ v: '2', w: '3' })
    expect((await client.patch(configmaps, namespace, 'a', [{ op: 'remove', path: '/data/v' }], { type: 'json' })).data).toEqual({ w: '3' })
    expect(await client.delete(configmaps, namespace, 'a', { uid: made.metadata.uid! })).toMatchObject({ kind: 'Status', status: 'Success' })
    await expect(client.get(configmaps, namespace, 'a')).rejects.toSatisfy(isNotFound)
  })

  it('gets no more than the metadata of what it lists or changes, if it wants no more', async () => {
    const client = await connect()
    const namespace = await newNamespace(client)
    expect((await client.list(pods, namespace, { metadataOnly: true })).items).toEqual([])
    const made = await client.create(pods, { metadata: { name: 'a', namespace, labels: { x: 'y' } }, spec: { containers: [{ name: 'c', image: 'i' }] } })
    expect((await client.list(pods, namespace, { metadataOnly: true })).items).toEqual([
      { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: made.metadata },
    ])
    const patched = await client.patch(pods, namespace, 'a', { metadata: { labels: { z: '1' } } }, { type: 'merge', metadataOnly: true })
    expect(patched).toEqual({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: {
      ...made.metadata, labels: { x: 'y', z: '1' }, resourceVersion: expect.anything() as string, managedFields: [expect.anything()],
    } })
    const deleted = await client.delete(pods, namespace, 'a', { metadataOnly: true })
    expect(deleted).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { uid: made.metadata.uid } })
    expect(deleted).not.toHaveProperty('spec')
    await client.create(configmaps, configMap(namespace, 'b', {}))
    expect(await client.delete(configmaps, namespace, 'b', { metadataOnly: true })).toMatchObject({ kind: 'Status' })
  })

  it('says who has written what', async () => {
    const client = await connect()
    const namespace = await newNamespace(client)
    await client.create(configmaps, configMap(namespace, 'a', { v: '1' }))
    const named = await client.create(configmaps, configMap(namespace, 'b', { v: '1' }), { fieldManager: 'me' })
    // The server that keeps managed fields names the first by its user agent, coxswain, and the second as told.
    for (const field of named.metadata.managedFields ?? []) expect(field.manager).toBe('me')
  })

  it('replaces the status alone, and reaches subresources', async () => {
    const client = await connect()
    const namespace = await newNamespace(client)
    const labels = { app: 'web' }
    const template = { metadata: { labels }, spec: { containers: [container] } }
    const made = await client.create(deployments, { metadata: { namespace, name: 'web' }, spec: { replicas: 1, selector: { matchLabels: labels }, strategy: {}, template } })
    const status = await client.updateStatus(deployments, { ...made, spec: { ...made.spec!, replicas: 9 }, status: { replicas: 1 } })
    expect([status.spec!.replicas, status.status!.replicas]).toEqual([1, 1])
    const scale = await client.subresource<{ spec: object }>(deployments, namespace, 'web', 'scale', {
      method: 'PATCH',
      body: { spec: { replicas: 3 } },
      contentType: 'application/merge-patch+json',
    })
    expect(scale.spec).toEqual({ replicas: 3 })
  })

  it('evicts a pod', async () => {
    const client = await connect()
    const namespace = await newNamespace(client)
    await client.create(serviceaccounts, { metadata: { namespace, name: 'default' } }).catch((e: unknown) => expect(isAlreadyExists(e)).toBe(true))
    await client.create(pods, { metadata: { namespace, name: 'p' }, spec: { containers: [container] } })
    await client.evict(namespace, 'p', { gracePeriodSeconds: 0 })
    await expect(client.get(pods, namespace, 'p')).rejects.toSatisfy(isNotFound)
    await expect(client.evict(namespace, 'p')).rejects.toSatisfy(isNotFound)
  })

  it('tells failures apart', async () => {
    const client = await connect()
    const namespace = await newNamespace(client)
    const made = await client.create(configmaps, configMap(namespace, 'a'))
    await client.update(configmaps, { ...made, data: { v: '2' } })
    await expect(client.update(configmaps, { ...made, data: { v: '3' } })).rejects.toSatisfy(isConflict)
    await expect(client.create(configmaps, configMap(namespace, 'a'))).rejects.toSatisfy(isAlreadyExists)
    await expect(client.create(configmaps, configMap(namespace, 'A!'))).rejects.toSatisfy(isInvalid)
    await expect(client.delete(configmaps, namespace, 'a', { uid: 'another' })).rejects.toSatisfy(isConflict)
    await expect(client.create(configmaps, configMap(namespace, 'A!'))).rejects.toMatchObject({ code: 422, details: { causes: [{ field: 'metadata.name' }] } })
    await expect(client.get(configmaps, '', 'a')).rejects.toThrow('configmaps need a namespace')
    await expect(client.delete(configmaps, namespace, '')).rejects.toThrow('configmaps need a name')
    await expect(client.deleteCollection(configmaps, '')).rejects.toThrow('configmaps need a namespace')
  })

  it('lists by selectors and in pages, and every item says what it is', async () => {
    const client = await connect()
    const namespace = await newNamespace(client)
    for (let i = 0; i < 7; i++) {
      const made = configMap(namespace, `c${i}`)
      await client.create(configmaps, { ...made, metadata: { ...made.metadata, labels: { odd: String(i % 2) } } })
    }
    const odd = await client.list(configmaps, namespace, { labelSelector: 'odd=1' })
    expect(odd.items.map((o) => `${o.apiVersion} ${o.kind} ${o.metadata.name}`)).toEqual(['v1 ConfigMap c1', 'v1 ConfigMap c3', 'v1 ConfigMap c5'])
    const pages: string[][] = []
    for await (const page of client.listAll(configmaps, namespace, { pageSize: 3 })) pages.push(page.items.map((o) => o.metadata.name!))
    expect(pages).toEqual([['c0', 'c1', 'c2'], ['c3', 'c4', 'c5'], ['c6']])
    expect((await client.list(configmaps, '', { fieldSelector: `metadata.namespace=${namespace}` })).items.length).toBe(7)
    await client.deleteCollection(configmaps, namespace, { labelSelector: 'odd=0' })
    expect((await client.list(configmaps, namespace)).items.map((o) => o.metadata.name)).toEqual(['c1', 'c3', 'c5'])
  })

  it('carries objects of the largest size, in any script', async () => {
    const client = await connect()
    const namespace = await newNamespace(client)
    const text = 'кокс-舵手-🚣'.repeat(40_000)
    expect(Buffer.byteLength(text)).toBeGreaterThan(600_000)
    const seen = watchMaps(client, namespace, { resourceVersion: '0' })
    await client.create(configmaps, configMap(namespace, 'big', { text }))
    expect((await client.get(configmaps, namespace, 'big')).data!.text).toBe(text)
    await seen.reaches(1)
    expect(seen.events[0]!.object.data!.text).toBe(text)
    seen.stop()
  })

  it('carries 1,000 requests at once, beside watches, over one connection', async () => {
    const access = await loadAccess({ file: api.kubeconfig })
    const forwarder = await startForwarder(Number(access.server.port))
    undo.push(() => forwarder.close())
    const client = clientOf({ ...access, server: new URL(`https://127.0.0.1:${forwarder.port}`) })
    const namespace = await newNamespace(client)
    const seen = watchMaps(client, namespace)
    await seen.opened
    const made = await Promise.all(Array.from({ length: 1000 }, (_, i) => client.create(configmaps, configMap(namespace, `c${i}`, { v: String(i) }))))
    expect(new Set(made.map((o) => o.metadata.uid)).size).toBe(1000)
    const read = await Promise.all(made.map((o) => client.get(configmaps, namespace, o.metadata.name!)))
    expect(read).toEqual(made)
    await seen.reaches(1000)
    expect(forwarder.connections()).toBe(1)
    seen.stop()
  })

  it('is whoever the kubeconfig says', async () => {
    const access = await loadAccess({ file: api.kubeconfig })
    const whoAmI = async (client: Client) => (await client.create(selfsubjectreviews, { metadata: {} })).status!.userInfo!.username
    expect(await whoAmI(clientOf(access))).toBe('kubernetes-admin')
    const file = path.join(dir, 'token-kubeconfig')
    const token = path.join(dir, 'token')
    writeFileSync(token, 'sesame')
    const authority = Buffer.from(access.authority()!).toString('base64')
    writeFileSync(
      file,
      JSON.stringify({
        clusters: [{ name: 'c', cluster: { server: access.server.href, 'certificate-authority-data': authority } }],
        users: [{ name: 'u', user: { tokenFile: 'token' } }],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'x',
      }),
    )
    const client = clientOf(await loadAccess({ file }))
    expect(await whoAmI(client)).toBe('ali')
    writeFileSync(token, 'stolen')
    const other = clientOf(await loadAccess({ file }))
    await expect(whoAmI(other)).rejects.toMatchObject({ code: 401, reason: 'Unauthorized' })
    writeFileSync(token, 'mellon')
    expect(await whoAmI(other)).toBe('gimli')
  })

  it('does not trust a server of another authority', async () => {
    const access = await loadAccess({ file: api.kubeconfig })
    const client = new Client(new HttpTransport({ ...access, authority: () => undefined }, { env: {} }), { retries: { unanswered: 0 } })
    undo.push(() => client.close())
    const error = await client.get(namespaces, '', 'default').catch((e: unknown) => e)
    expect(error).toMatchObject({ isUnsent: true, message: `GET ${access.server.origin}/api/v1/namespaces/default: the server's certificate is signed by an unknown authority` })
    const careless = clientOf({ ...access, authority: () => undefined, insecureSkipTlsVerify: true })
    expect((await careless.get(namespaces, '', 'default')).metadata.name).toBe('default')
  })

  it('goes through a proxy, with HTTP/2, if it may', async () => {
    const access = await loadAccess({ file: api.kubeconfig })
    const login = `Basic ${Buffer.from('me:s3cret').toString('base64')}`
    const proxy = await startProxy((authorization) => authorization === login)
    undo.push(() => proxy.close())
    const client = clientOf({ ...access, proxy: new URL(`http://me:s3cret@127.0.0.1:${proxy.port}`) })
    await Promise.all(Array.from({ length: 50 }, () => client.get(namespaces, '', 'default')))
    expect(proxy.targets).toEqual([access.server.host])
    const stranger = new Client(new HttpTransport({ ...access, proxy: new URL(`http://127.0.0.1:${proxy.port}`) }, { env: {} }), { retries: { unanswered: 0 } })
    undo.push(() => stranger.close())
    await expect(stranger.get(namespaces, '', 'default')).rejects.toThrow(`proxy 127.0.0.1:${proxy.port} has answered 407 Proxy Authentication Required`)
  })

  it('gives up a request that is aborted, and only that', async () => {
    const client = await connect()
    const namespace = await newNamespace(client)
    const abort = new AbortController()
    const reason = new Error('enough')
    const given = Array.from({ length: 20 }, () => client.list(configmaps, namespace, { signal: abort.signal }))
    const kept = client.get(namespaces, '', 'default')
    abort.abort(reason)
    for (const result of await Promise.allSettled(given)) expect(result).toEqual({ status: 'rejected', reason })
    expect((await kept).metadata.name).toBe('default')
    await expect(client.get(namespaces, '', 'default', { signal: abort.signal })).rejects.toBe(reason)
    expect((await client.get(namespaces, '', 'default')).metadata.name).toBe('default')
  })

  it('once closed, says so', async () => {
    const client = await connect()
    const seen = watchMaps(client, 'default')
    await seen.opened
    const pending = client.get(namespaces, '', 'default')
    const outcome = expect(pending).rejects.toThrow('the transport is closed')
    await client.close()
    await outcome
    expect(await seen.closed).toBeUndefined()
    await expect(client.transport.send({ method: 'GET', path: '/readyz' })).rejects.toMatchObject({ message: 'the transport is closed', isUnsent: true })
    expect(await watchMaps(client, 'default').closed).toMatchObject({ message: 'the transport is closed' })
  })
})

describe('a watch over HttpTransport', () => {
  it('tells what happens, in order, until it is stopped', async () => {
    const client = await connect()
    const namespace = await newNamespace(client)
    await client.create(configmaps, configMap(namespace, 'old', { v: '0' }))
    const { metadata } = await client.list(configmaps, namespace)
    const seen = watchMaps(client, namespace, { resourceVersion: metadata.resourceVersion! })
    await seen.opened
    const made = await client.create(configmaps, configMap(namespace, 'a', { v: '1' }))
    await client.update(configmaps, { ...made, data: { v: '2' } })
    await client.delete(configmaps, namespace, 'a')
    await seen.reaches(3)
    expect(shown(seen.events)).toEqual(['ADDED a 1', 'MODIFIED a 2', 'DELETED a 2'])
    seen.stop()
    seen.stop()
    expect(await seen.closed).toBeUndefined()
    await client.create(configmaps, configMap(namespace, 'b'))
    expect(seen.events.length).toBe(3)
  })

  it('begins with what is there, and a bookmark, if it asks for that', async () => {
    const client = await connect()
    const namespace = await newNamespace(client)
    for (const name of ['a', 'b']) await client.create(configmaps, configMap(namespace, name))
    const seen = watchMaps(client, namespace, { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' })
    await seen.reaches(3)
    expect(seen.events.map((e) => e.type)).toEqual(['ADDED', 'ADDED', 'BOOKMARK'])
    expect(seen.events[2]!.object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' })
    seen.stop()
  })

  it('ends without an error when the server has had enough of it', async () => {
    const seen = watchMaps(await connect(), 'default', { timeoutSeconds: 1 })
    expect(await seen.closed).toBeUndefined()
  })

  it('ends without an error when its signal is aborted, before it begins too', async () => {
    const client = await connect()
    const abort = new AbortController()
    const seen = watchMaps(client, 'default', { signal: abort.signal })
    await seen.opened
    abort.abort()
    expect(await seen.closed).toBeUndefined()
    expect(await watchMaps(client, 'default', { signal: abort.signal }).closed).toBeUndefined()
  })

  it('ends with the error of the server', async () => {
    const client = await connect()
    expect(await watchMaps(client, 'default', { labelSelector: '!!' }).closed).toMatchObject({ name: 'ApiError', code: 400, reason: 'BadRequest' })
  })

  it('ends with the error of a listener that fails', async () => {
    const client = await connect()
    const namespace = await newNamespace(client)
    await client.create(configmaps, configMap(namespace, 'a'))
    await client.create(configmaps, configMap(namespace, 'b'))
    let events = 0
    const error = await new Promise((closed) => {
      client.watch(configmaps, namespace, { resourceVersion: '0' }, {
        opened() {},
        event() {
          events++
          throw new Error('bug')
        },
        closed,
      })
    })
    expect([events, error]).toMatchObject([1, { message: 'bug' }])
  })

  it('of which there are many goes on while others end', async () => {
    const client = await connect()
    const namespace = await newNamespace(client)
    const all = Array.from({ length: 50 }, () => watchMaps(client, namespace))
    await Promise.all(all.map((seen) => seen.opened))
    for (const seen of all.slice(1)) seen.stop()
    await client.create(configmaps, configMap(namespace, 'a'))
    await all[0]!.reaches(1)
    all[0]!.stop()
  })
})

describe('a server that goes away', () => {
  it('ends watches with an error, and is found again when it is back', async () => {
    const dataDir = path.join(dir, 'restarted')
    let other = await serve(dataDir)
    undo.push(() => other.stop())
    const client = clientOf(await loadAccess({ file: other.kubeconfig }))
    const { port } = new URL(other.url)
    const seen = watchMaps(client, 'default')
    await seen.opened
    await other.stop()
    const error = await seen.closed
    // Either it said goodbye in the stream, or the connection was cut: both are fine to begin again from.
    expect(error === undefined || error instanceof TransportError || error.name === 'ApiError').toBe(true)
    // Whoever writes before the client has noticed does not know what became of it; who comes after waits.
    const isNoticed = () => client.transport.send({ method: 'GET', path: '/readyz' }).then(() => false, (e: TransportError) => e.isUnsent)
    await until('the client has noticed', isNoticed)
    const waiting = client.create(configmaps, configMap('default', 'patient'))
    other = await serve(dataDir, Number(port))
    expect((await waiting).metadata.name).toBe('patient')
    const again = watchMaps(client, 'default', { resourceVersion: '0' })
    await again.reaches(1)
    again.stop()
  })

  it('that was never there is said in one sentence', async () => {
    const access = await loadAccess({ file: api.kubeconfig })
    const forwarder = await startForwarder(1)
    const { port } = forwarder
    await forwarder.close()
    const transport = new HttpTransport({ ...access, server: new URL(`https://127.0.0.1:${port}`) }, { env: {} })
    undo.push(() => transport.close())
    const request: ApiRequest = { method: 'POST', path: '/api/v1/namespaces', body: {} }
    const error = await transport.send(request).catch((e: unknown) => e)
    expect(error).toBeInstanceOf(TransportError)
    expect(error).toMatchObject({ isUnsent: true, message: `POST https://127.0.0.1:${port}/api/v1/namespaces: connection refused` })
    const closed = await new Promise((resolve) => transport.watch({ method: 'GET', path: '/api/v1/pods' }, { opened() {}, event() {}, closed: resolve }))
    expect(closed).toMatchObject({ isUnsent: true })
  })
})
