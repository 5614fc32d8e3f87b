import { generateKeyPairSync } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openMemoryStore } from '../../src/store/index.ts'
import { type Arrival, LaggingStore } from '../lagging-store.ts'
import { SeededRandom } from '../seeded-random.ts'
import { type Reply, TestServer, pod, services, settle, until } from './server.ts'

/** Two API servers over one store, of which each sees the other's writes some turns of the event loop later. */
let one: TestServer
let two: TestServer
let both: readonly TestServer[]

const tokenKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
const nodePorts = '/registry/coxswain.io/node-ports/'

function lateBy(random: SeededRandom, turns: number): Arrival {
  let before = Promise.resolve()
  return (deliver) => {
    before = before.then(async () => {
      for (let i = Math.floor(random.next() * turns); i > 0; i--) await settle()
      deliver()
    })
  }
}

beforeEach(async () => {
  const store = openMemoryStore()
  const random = new SeededRandom(7)
  const start = async (seed: number) => TestServer.start({ seed, tokenKey, authorization: [{ type: 'RBAC' }], store: await LaggingStore.open(store, lateBy(random, 6)) })
  one = await start(1)
  two = await start(2)
  both = [one, two]
})

afterEach(async () => {
  for (const server of both) expect(server.errors.join('')).toBe('')
  for (const server of both) await server.close()
})

const at = (i: number): TestServer => both[i % 2]!
const crowd = <T>(count: number, fn: (i: number, server: TestServer) => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: count }, (_, i) => fn(i, at(i))))
const codes = (replies: readonly Reply[]): Record<number, number> => replies.reduce<Record<number, number>>((sums, { code }) => ({ ...sums, [code]: (sums[code] ?? 0) + 1 }), {})
const service = (name: string, spec: object = {}) => ({ metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } })
const claimed = async (): Promise<number[]> => (await one.store.range(nodePorts)).items.map(({ key }) => Number(key.slice(nodePorts.length))).sort((a, b) => a - b)
const portsOf = (replies: readonly Reply[]): number[] => replies.flatMap(({ body }) => (body.spec.ports as { nodePort?: number }[]).flatMap(({ nodePort }) => nodePort ?? []))

describe('what services are given', () => {
  it('is never given twice: addresses and node ports', async () => {
    const ports = [{ name: 'a', port: 80 }, { name: 'b', port: 81 }]
    const replies = await crowd(200, (i, server) => server.create(services, service(`s-${i}`, { type: 'NodePort', ports })))
    expect(codes(replies)).toEqual({ 201: 200 })
    expect(new Set(replies.map(({ body }) => body.spec.clusterIP as string)).size).toBe(200)
    const given = portsOf(replies)
    expect(new Set(given).size).toBe(400)
    expect(await claimed()).toEqual(given.toSorted((a, b) => a - b))
  })

  it('goes to one of those who ask for the same', async () => {
    const asked = [{ port: 80, nodePort: 30100 }]
    const replies = await crowd(10, (i, server) => server.create(services, service(`s-${i}`, { type: 'NodePort', ports: asked })))
    expect(codes(replies)).toEqual({ 201: 1, 422: 9 })
    for (const { code, body } of replies) if (code === 422) expect(body.message).toContain('spec.ports[0].nodePort: Invalid value: 30100: provided port is already allocated')
    const addresses = await crowd(10, (i, server) => server.create(services, service(`a-${i}`, { clusterIP: '10.0.0.77' })))
    expect(codes(addresses)).toEqual({ 201: 1, 422: 9 })
  })

  it('can be had at the other server as soon as the delete is answered', async () => {
    const spec = { type: 'NodePort', clusterIP: '10.0.0.9', ports: [{ port: 80, nodePort: 30007 }] }
    for (let i = 0; i < 20; i++) {
      const made = await at(i).create(services, service(`s-${i}`, spec))
      expect([made.code, made.body.message]).toEqual([201, undefined])
      expect((await at(i).delete(`${services}/s-${i}`)).code).toBe(200)
    }
    expect(await claimed()).toEqual([])
  })

  it('stays with a service that does without its port and takes it back, at whichever server', async () => {
    await one.create(services, service('s', { type: 'NodePort', ports: [{ port: 80, nodePort: 30008 }] }))
    for (let i = 0; i < 20; i++) {
      expect((await at(i).patch(`${services}/s`, { spec: { type: 'ClusterIP', ports: null } }, 'merge')).code).toBe(422)
      expect((await at(i).patch(`${services}/s`, { spec: { type: 'ClusterIP', ports: [{ port: 80, nodePort: null }] } })).code).toBe(200)
      expect((await at(i + 1).patch(`${services}/s`, { spec: { type: 'NodePort', ports: [{ port: 80, nodePort: 30008 }] } })).code).toBe(200)
    }
    await crowd(2, () => settle())
    expect(await claimed()).toEqual([30008])
  })

  it('is free again where the service is refused', async () => {
    const replies = await crowd(10, (i, server) => server.create(services, service('A B', { type: 'NodePort', ports: [{ port: 80, nodePort: 30200 + i }] })))
    expect(codes(replies)).toEqual({ 422: 10 })
    expect(await claimed()).toEqual([])
  })

  it('is found where a server that died has left it, and given to a service that has none of it', async () => {
    const owner = { namespace: 'default', name: 'gone', uid: 'u-1' }
    await one.store.write({ key: `${nodePorts}30300`, expected: 0, value: Buffer.from(JSON.stringify(owner)) })
    const { body } = await one.create(services, service('s', { type: 'NodePort' }))
    const [port] = portsOf([{ body } as Reply])
    const claim = await one.store.get(nodePorts + port)
    await one.store.write({ key: nodePorts + port, expected: claim!.revision, value: undefined })
    // Once it may belong to a request that is under way.
    one.clock.advance(3 * 60_000)
    await until('the service has its claim again', async () => (await claimed()).includes(port!))
    expect(await claimed()).toContain(30300)
    one.clock.advance(3 * 60_000)
    await until('the claim is given back', async () => !(await claimed()).includes(30300))
    expect(await claimed()).toEqual([port])
  })
})

describe('what is counted', () => {
  it('a quota of ten lets ten in, of a hundred at two servers', async () => {
    const quotas = '/api/v1/namespaces/default/resourcequotas'
    await one.create(quotas, { metadata: { name: 'q' }, spec: { hard: { pods: '10' } } })
    await one.patch(`${quotas}/q/status`, { status: { hard: { pods: '10' }, used: { pods: '0' } } })
    const replies = await crowd(100, (i, server) => server.create('/api/v1/namespaces/default/pods', pod(`p-${i}`)))
    expect(codes(replies)).toEqual({ 201: 10, 403: 90 })
    expect((await two.get(`${quotas}/q`)).body.status.used).toEqual({ pods: '10' })
  })

  it('a disruption budget of one lets one pod go', async () => {
    await crowd(6, (i, server) => server.create('/api/v1/namespaces/default/pods', pod(`p-${i}`, {}, { labels: { app: 'a' } })))
    await crowd(6, (i, server) => server.patch(`/api/v1/namespaces/default/pods/p-${i}/status`, { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } }))
    const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets'
    await one.create(budgets, { metadata: { name: 'b' }, spec: { minAvailable: 5, selector: { matchLabels: { app: 'a' } } } })
    const status = { disruptionsAllowed: 1, currentHealthy: 6, desiredHealthy: 5, expectedPods: 6, observedGeneration: 1 }
    await one.patch(`${budgets}/b/status`, { status })
    const evict = (name: string) => ({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: 'default' } })
    const replies = await crowd(6, (i, server) => server.create(`/api/v1/namespaces/default/pods/p-${i}/eviction`, evict(`p-${i}`)))
    expect(codes(replies)).toEqual({ 201: 1, 429: 5 })
  })
})

describe('what there can be one of', () => {
  it('a name is given once, and a generated one is made anew', async () => {
    const configMaps = '/api/v1/namespaces/default/configmaps'
    expect(codes(await crowd(10, (_, server) => server.create(configMaps, { metadata: { name: 'c' } })))).toEqual({ 201: 1, 409: 9 })
    const replies = await crowd(200, (_, server) => server.create(configMaps, { metadata: { generateName: 'c-' } }))
    expect(codes(replies)).toEqual({ 201: 200 })
    expect(new Set(replies.map(({ body }) => body.metadata.name as string)).size).toBe(200)
  })

  it('a pod is bound to one node', async () => {
    await one.create('/api/v1/namespaces/default/pods', pod('p'))
    const binding = (i: number) => ({ apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: `node-${i}` } })
    const replies = await crowd(8, (i, server) => server.create('/api/v1/namespaces/default/pods/p/binding', binding(i)))
    expect(codes(replies)).toEqual({ 201: 1, 409: 7 })
    const winner = replies.findIndex(({ code }) => code === 201)
    expect((await at(winner + 1).get('/api/v1/namespaces/default/pods/p')).body.spec.nodeName).toBe(`node-${winner}`)
  })

  it('the last finalizer goes once, and with it the object', async () => {
    const path = '/api/v1/namespaces/default/configmaps'
    await one.create(path, { metadata: { name: 'c', finalizers: ['example.com/a', 'example.com/b'] } })
    await one.delete(`${path}/c`)
    const patches = [[], ['example.com/b'], ['example.com/a'], []]
    await crowd(4, (i, server) => server.patch(`${path}/c`, { metadata: { finalizers: patches[i] } }))
    for (const server of both) await server.patch(`${path}/c`, { metadata: { finalizers: [] } })
    for (const server of both) expect((await server.get(`${path}/c`)).code).toBe(404)
  })

  it('updates of one version: one is taken', async () => {
    const path = '/api/v1/namespaces/default/configmaps'
    const { body } = await one.create(path, { metadata: { name: 'c' } })
    const replies = await crowd(10, (i, server) => server.update(`${path}/c`, { ...body, data: { by: String(i) } }))
    expect(codes(replies)).toEqual({ 200: 1, 409: 9 })
    const patches = await crowd(20, (i, server) => server.patch(`${path}/c`, { data: { [`k${i}`]: 'v' } }))
    expect(codes(patches)).toEqual({ 200: 20 })
    expect(Object.keys((await two.get(`${path}/c`)).body.data as object)).toHaveLength(21)
  })
})

describe('what every server looks after', () => {
  it('is made once where both start at the same time on an empty store', async () => {
    const store = openMemoryStore()
    const random = new SeededRandom(3)
    const starting = [11, 12].map(async (seed) => TestServer.start({ seed, tokenKey, authorization: [{ type: 'RBAC' }], store: await LaggingStore.open(store, lateBy(random, 6)) }))
    const servers = await Promise.all(starting)
    const lists = ['/api/v1/namespaces', '/apis/rbac.authorization.k8s.io/v1/clusterroles', '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas', '/apis/apiregistration.k8s.io/v1/apiservices', services]
    for (const url of lists) {
      const names = async (server: TestServer) => ((await server.get(url)).body.items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name)
      const wanted = await names(one)
      expect(wanted).not.toEqual([])
      for (const server of servers) expect(await names(server)).toEqual(wanted)
    }
    for (const server of servers) expect(server.errors.join('')).toBe('')
    for (const server of servers) await server.close()
  })

  it('ends once: events whose time is over', async () => {
    const events = '/api/v1/namespaces/default/events'
    const involvedObject = { kind: 'Pod', namespace: 'default', name: 'p' }
    await crowd(20, (i, server) => server.create(events, { metadata: { name: `e-${i}` }, involvedObject, reason: 'R', message: 'm', type: 'Normal' }))
    for (const server of both) for (let i = 0; i < 8; i++) server.clock.advance(10 * 60_000)
    await until('they are gone', async () => (await two.get(events)).body.items.length === 0)
    expect((await one.get(events)).body.items).toEqual([])
  })

  it('gets one token: a Secret for a service account', async () => {
    const secrets = '/api/v1/namespaces/default/secrets'
    await one.create('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'a' } })
    await crowd(6, (i, server) => server.create(secrets, { metadata: { name: `t-${i}`, annotations: { 'kubernetes.io/service-account.name': 'a' } }, type: 'kubernetes.io/service-account-token' }))
    const tokens = async (server: TestServer) => ((await server.get(secrets)).body.items as { data?: { token?: string } }[]).map(({ data }) => data?.token)
    await until('all have one', async () => (await tokens(one)).every((token) => token !== undefined))
    const before = await tokens(one)
    for (let i = 0; i < 50; i++) await settle()
    expect(await tokens(two)).toEqual(before)
  })
})

describe('what one server has answered, the other knows', () => {
  it('a version that it has not seen yet', async () => {
    const configMaps = '/api/v1/namespaces/default/configmaps'
    for (let i = 0; i < 20; i++) {
      const { body } = await at(i).create(configMaps, { metadata: { name: `c-${i}` } })
      const version = body.metadata.resourceVersion as string
      const found = await at(i + 1).get(`${configMaps}/c-${i}?resourceVersion=${version}`)
      expect([found.code, found.body.metadata.resourceVersion]).toEqual([200, version])
    }
  })

  it('and a version that exists nowhere is awaited for three seconds, or until it is written', async () => {
    const configMaps = '/api/v1/namespaces/default/configmaps'
    const next = one.store.revision + 1
    const early = two.get(`${configMaps}?resourceVersion=${next}`)
    for (let i = 0; i < 50; i++) await settle()
    await one.create(configMaps, { metadata: { name: 'c' } })
    expect((await early).body.items).toHaveLength(1)
    const answers: Reply[] = []
    void two.get(`${configMaps}?resourceVersion=999999999999`).then((reply) => answers.push(reply))
    for (let i = 0; i < 50; i++) await settle()
    two.clock.advance(2999)
    await settle()
    expect(answers).toEqual([])
    two.clock.advance(1)
    for (let i = 0; i < 50 && answers.length === 0; i++) await settle()
    expect(answers.map(({ code, body }) => [code, body.details.causes])).toEqual([[504, [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }]]])
  })

  it('a right that was granted a moment ago', async () => {
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }]
    for (let i = 0; i < 10; i++) {
      const user = `user-${i}`
      const write = (server: TestServer) => server.send({
        method: 'POST', url: '/api/v1/namespaces/default/configmaps', body: Buffer.from(JSON.stringify({ metadata: { name: `c-${i}` } })),
        headers: { 'content-type': 'application/json', 'impersonate-user': user },
      })
      expect((await write(at(i + 1))).code).toBe(403)
      const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default'
      await at(i).create(`${rbac}/roles`, { metadata: { name: user }, rules })
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: user }
      await at(i).create(`${rbac}/rolebindings`, { metadata: { name: user }, roleRef, subjects: [{ kind: 'User', name: user, apiGroup: 'rbac.authorization.k8s.io' }] })
      expect((await write(at(i + 1))).code).toBe(201)
    }
  })

  it('a token of an account that was made a moment ago', async () => {
    for (let i = 0; i < 10; i++) {
      const accounts = '/api/v1/namespaces/default/serviceaccounts'
      await at(i).create(accounts, { metadata: { name: `a-${i}` } })
      const { body } = await at(i).create(`${accounts}/a-${i}/token`, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { audiences: [], expirationSeconds: 3600 } })
      const headers = { authorization: `Bearer ${body.status.token as string}`, 'content-type': 'application/json' }
      const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
      const answer = await at(i + 1).send({ method: 'POST', url: '/apis/authentication.k8s.io/v1/selfsubjectreviews', user: null, headers, body: Buffer.from(JSON.stringify(review)) })
      expect([answer.code, answer.body.status?.userInfo?.username]).toEqual([201, `system:serviceaccount:default:a-${i}`])
    }
  })
})

describe('definitions of kinds', () => {
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const definition = (plural: string, kind: string) => ({
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com', scope: 'Namespaced', names: { plural, singular: plural.slice(0, -1), kind, listKind: `${kind}List` },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } }],
    },
  })
  const accepted = async (server: TestServer, plural: string): Promise<string | undefined> =>
    ((await server.get(`${definitions}/${plural}.example.com`)).body.status?.conditions as { type: string; status: string }[] | undefined)?.find(({ type }) => type === 'NamesAccepted')?.status

  it('of two that want one kind at the same time one gets it', async () => {
    await Promise.all([one.create(definitions, definition('boats', 'Boat')), two.create(definitions, definition('ships', 'Boat'))])
    await until('both are judged', async () => (await accepted(one, 'boats')) !== undefined && (await accepted(one, 'ships')) !== undefined)
    for (let i = 0; i < 100; i++) await settle()
    expect([await accepted(one, 'boats'), await accepted(two, 'ships')].sort()).toEqual(['False', 'True'])
  })

  it('what is Established at one server can be used at the other at once', async () => {
    for (let i = 0; i < 6; i++) {
      await at(i).create(definitions, definition(`boats${i}s`, `Boat${i}`))
      const isEstablished = async () => {
        const { body } = await at(i).get(`${definitions}/boats${i}s.example.com`)
        return (body.status?.conditions as { type: string; status: string }[] | undefined)?.some(({ type, status }) => type === 'Established' && status === 'True') ?? false
      }
      await until('it is established', isEstablished)
      const made = await at(i + 1).create(`/apis/example.com/v1/namespaces/default/boats${i}s`, { apiVersion: 'example.com/v1', kind: `Boat${i}`, metadata: { name: 'b' } })
      expect([made.code, made.text.slice(0, 200)]).toEqual([201, expect.any(String)])
      expect((await at(i).get(`/apis/example.com/v1/namespaces/default/boats${i}s/b`)).code).toBe(200)
    }
  })
})
