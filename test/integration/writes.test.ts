import { describe, expect, it } from 'vitest'
import { TestServer, configMap, configMaps, pod, pods } from './server.ts'
import { useTestServer } from './use-test-server.ts'

let server: TestServer
useTestServer((started) => {
  server = started
})

const many = <T>(count: number, make: (i: number) => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: count }, (_, i) => make(i)))
const codes = (replies: readonly { code: number }[]) => replies.map((r) => r.code)

describe('writes at the same time', () => {
  it.each(['merge', 'json', 'strategic'] as const)('of %s patches to one object all succeed, and none is lost', async (type) => {
    await server.create(configMaps, configMap('a', { start: 'x' }))
    const patch = (i: number) => (type === 'json' ? [{ op: 'add', path: `/data/k${i}`, value: String(i) }] : { data: { [`k${i}`]: String(i) } })
    const replies = await many(40, (i) => server.patch(`${configMaps}/a`, patch(i), type))
    expect(new Set(codes(replies))).toEqual(new Set([200]))
    expect(new Set(replies.map((r) => r.body.metadata.resourceVersion)).size).toBe(40)
    const { body } = await server.get(`${configMaps}/a`)
    expect(Object.keys(body.data)).toHaveLength(41)
  })

  it('of PUTs with the same resourceVersion: one wins, the others hear of a conflict', async () => {
    const { body } = await server.create(configMaps, configMap('a'))
    const replies = await many(20, (i) => server.update(`${configMaps}/a`, { ...body, data: { winner: String(i) } }))
    expect(codes(replies).sort()).toEqual([200, ...Array<number>(19).fill(409)])
    const lost = replies.find((r) => r.code === 409)!
    expect(lost.body).toMatchObject({
      reason: 'Conflict',
      message: 'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
    })
    const won = replies.findIndex((r) => r.code === 200)
    expect((await server.get(`${configMaps}/a`)).body.data).toEqual({ winner: String(won) })
  })

  it('of PUTs without a resourceVersion all succeed, one after the other', async () => {
    await server.create(configMaps, configMap('a'))
    const before = server.store.revision
    expect(new Set(codes(await many(20, (i) => server.update(`${configMaps}/a`, configMap('a', { i: String(i) })))))).toEqual(new Set([200]))
    expect(server.store.revision).toBe(before + 20)
  })

  it('of one name: one is created, the others hear that it exists', async () => {
    const replies = await many(20, (i) => server.create(configMaps, configMap('a', { i: String(i) })))
    expect(codes(replies).sort()).toEqual([201, ...Array<number>(19).fill(409)])
    expect(replies.find((r) => r.code === 409)!.body.reason).toBe('AlreadyExists')
  })

  it('of PUTs that create: one creates, the others update what it made', async () => {
    const roles = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles'
    const replies = await many(5, (i) => server.update(`${roles}/a`, { metadata: { name: 'a' }, rules: [{ verbs: ['get'], apiGroups: [''], resources: [`r${i}`] }] }))
    expect(codes(replies).sort()).toEqual([200, 200, 200, 200, 201])
  })

  it('of deletes of one object: one deletes it, the others do not find it', async () => {
    await server.create(configMaps, configMap('a'))
    expect(codes(await many(10, () => server.delete(`${configMaps}/a`))).sort()).toEqual([200, ...Array<number>(9).fill(404)])
  })
})

describe('generateName', () => {
  it('makes names that are all different, also of many at once', async () => {
    const replies = await many(200, () => server.create(configMaps, { metadata: { generateName: 'x-' } }))
    expect(new Set(codes(replies))).toEqual(new Set([201]))
    const names = replies.map((r) => r.body.metadata.name as string)
    expect(new Set(names).size).toBe(200)
    expect(names.every((n) => /^x-[bcdfghjklmnpqrstvwxz2456789]{5}$/.test(n))).toBe(true)
  })

  it('takes another name where one is taken', async () => {
    // The same chance on a second server makes the same first name.
    const [one, two] = [await TestServer.start({ seed: 7 }), await TestServer.start({ seed: 7 })]
    const { body } = await one.create(configMaps, { metadata: { generateName: 'x-' } })
    const twin = body.metadata.name as string
    // A random uuid goes before the name: the copy on the second server must not use up more chance than the first did.
    await two.create(`${configMaps}?dryRun=All`, { metadata: { generateName: 'x-' } })
    const again = await two.create(configMaps, configMap(twin))
    expect(again.code).toBe(201)
    const third = await two.create(configMaps, { metadata: { generateName: 'x-' } })
    expect(third.code).toBe(201)
    expect(third.body.metadata.name).not.toBe(twin)
    await one.close()
    await two.close()
  })
})

describe('a dry run', () => {
  const all = '?dryRun=All'

  it('leaves nothing behind, whatever the verb', async () => {
    await server.create(configMaps, configMap('a', { x: '1' }))
    await server.create(pods, pod('p'))
    const before = server.store.revision
    const text = (await server.get(configMaps)).text
    const replies = [
      await server.create(configMaps + all, configMap('b')),
      await server.update(`${configMaps}/a${all}`, configMap('a', { x: '2' })),
      await server.patch(`${configMaps}/a${all}`, { data: { x: '3' } }),
      await server.delete(`${configMaps}/a${all}`),
      await server.delete(`${pods}/p${all}`),
      await server.delete(configMaps + all),
      await server.create(`/api/v1/namespaces/default/services${all}`, { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } }),
    ]
    expect(codes(replies)).toEqual([201, 200, 200, 200, 200, 200, 201])
    expect(server.store.revision).toBe(before)
    expect((await server.get(configMaps)).text).toBe(text)
  })

  it('answers what would be: patched, but under the version that is stored', async () => {
    const { body } = await server.create(configMaps, configMap('a', { x: '1' }))
    const dry = await server.patch(`${configMaps}/a${all}`, { data: { x: '2' } })
    expect(dry.body).toMatchObject({ data: { x: '2' }, metadata: { resourceVersion: body.metadata.resourceVersion } })
    const made = await server.create(configMaps + all, configMap('b'))
    expect(made.body.metadata.resourceVersion).toBeUndefined()
    expect(made.body.metadata.uid).toBeTruthy()
  })

  it('refuses what would be refused', async () => {
    await server.create(configMaps, configMap('a'))
    expect(codes([await server.create(configMaps + all, configMap('a')), await server.create(configMaps + all, configMap('A B'))])).toEqual([409, 422])
  })
})

describe('an update of another object with the same name', () => {
  const selector = { matchLabels: { app: 'a' } }
  const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'main', image: 'nginx' }] } }
  const inDefault = (root: string, plural: string) => `${root}/namespaces/default/${plural}`

  it.each<[plural: string, url: string, object: object, key: string]>([
    ['configmaps', configMaps, { data: {} }, '/registry/configmaps/default/a'],
    ['nodes', '/api/v1/nodes', {}, '/registry/minions/a'],
    [
      'services',
      inDefault('/api/v1', 'services'),
      { spec: { ports: [{ port: 80 }] } },
      '/registry/services/specs/default/a',
    ],
    ['endpoints', inDefault('/api/v1', 'endpoints'), {}, '/registry/services/endpoints/default/a'],
    [
      'replicationcontrollers',
      inDefault('/api/v1', 'replicationcontrollers'),
      { spec: { selector: selector.matchLabels, template } },
      '/registry/controllers/default/a',
    ],
    [
      'deployments',
      inDefault('/apis/apps/v1', 'deployments'),
      { spec: { selector, template } },
      '/registry/deployments/default/a',
    ],
    [
      'clonesets',
      inDefault('/apis/apps.kruise.io/v1alpha1', 'clonesets'),
      { spec: { selector, template } },
      '/registry/apps.kruise.io/clonesets/default/a',
    ],
  ])('of %s names the key that Kubernetes would', async (_, url, object, key) => {
    const { code, body } = await server.create(url, { ...object, metadata: { name: 'a' } })
    expect(code).toBe(201)
    const other = { ...body, metadata: { ...body.metadata, uid: '1' } }
    const refused = await server.update(`${url}/a`, other)
    expect(refused.code).toBe(409)
    expect(refused.body.message).toContain(`StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0`)
  })
})

describe('an update that changes nothing', () => {
  it('is no write: the version stays, and watchers hear nothing', async () => {
    const { body } = await server.create(configMaps, configMap('a', { x: '1' }))
    const watch = await server.watch(`${configMaps}?resourceVersion=${body.metadata.resourceVersion}`)
    const same = [await server.update(`${configMaps}/a`, body), await server.patch(`${configMaps}/a`, { data: { x: '1' } }), await server.patch(`${configMaps}/a`, {})]
    expect(same.map((r) => r.body.metadata.resourceVersion)).toEqual(Array(3).fill(body.metadata.resourceVersion))
    expect(await watch.take()).toEqual([])
  })
})

describe('objects with names that mean something to JavaScript', () => {
  it('are kept and found like any other', async () => {
    const data = JSON.parse('{"__proto__":"a","constructor":"b","toString":"c"}') as Record<string, string>
    const made = await server.create(configMaps, configMap('constructor', data))
    expect(made.code).toBe(201)
    const { body } = await server.get(`${configMaps}/constructor`)
    expect(Object.entries(body.data).sort()).toEqual(Object.entries(data).sort())
    const patched = await server.patch(`${configMaps}/constructor`, JSON.parse('{"data":{"__proto__":null,"valueOf":"d"}}') as object)
    expect(Object.keys(patched.body.data).sort()).toEqual(['constructor', 'toString', 'valueOf'])
  })

  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])('are no subresources and no fields: %s', async (name) => {
    await server.create(pods, pod('p'))
    expect((await server.get(`${pods}/p/${name}`)).code).toBe(404)
    expect((await server.patch(`${pods}/p/${name}`, {})).code).toBe(404)
    expect((await server.get(`${pods}?fieldSelector=${name}%3Dx`)).code).toBe(400)
    expect((await server.get(`${pods}?labelSelector=${name}`)).body.items ?? []).toEqual([])
    expect((await server.send({ method: name, url: `${pods}/p` })).code).toBe(405)
  })
})

describe('an object that is too large to be kept', () => {
  it('is refused with 413, whether it comes whole or grows', async () => {
    const env = (n: number) => [{ name: 'main', image: 'x', env: Array.from({ length: n }, (_, i) => ({ name: `E${i}`, value: 'x'.repeat(10_000) })) }]
    const { code, body } = await server.create(pods, pod('p', { containers: env(160) }))
    expect([code, body.reason, body.message]).toEqual([413, 'RequestEntityTooLarge', 'Request entity too large: limit is 1572864'])
    expect((await server.get(`${pods}/p`)).code).toBe(404)
    expect((await server.create(pods, pod('p', { containers: env(150) }))).code).toBe(201)
    const annotations = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`a${i}`, 'x'.repeat(5_000)]))
    expect((await server.patch(`${pods}/p`, { metadata: { annotations } })).code).toBe(413)
  })
})

describe('a JSON patch that nests beyond what its text does', () => {
  it.each([
    ['by moving', Array.from({ length: 4_000 }, (_, i) => [{ op: 'add', path: '/y', value: {} }, { op: 'move', from: i ? '/x' : '/data', path: '/y/x' }, { op: 'move', from: '/y', path: '/x' }]).flat().slice(0, 9_999)],
    ['by adding deep inside', Array.from({ length: 12 }, (_, i) => ({ op: 'add', path: `/z${'/a'.repeat(i * 900)}`, value: JSON.parse(`${'{"a":'.repeat(900)}{}${'}'.repeat(900)}`) as object }))],
  ])('%s is refused', async (_how, patch) => {
    await server.create(configMaps, configMap('a', { x: '1' }))
    expect((await server.patch(`${configMaps}/a`, patch, 'json')).code).toBe(422)
  })
})
