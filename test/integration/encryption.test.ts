import { describe, expect, it } from 'vitest'
import { silentLogger } from '../../src/base/logger.ts'
import { systemRandom } from '../../src/base/random.ts'
import { VirtualClock } from '../../src/base/virtual-clock.ts'
import { EncryptedStore, Encryption, readEncryptionConfiguration } from '../../src/server/index.ts'
import { describeStore } from '../../src/store/conformance/index.ts'
import { type Store, openMemoryStore } from '../../src/store/index.ts'
import { TestServer, configMap, configMaps } from './server.ts'

const keys = (...list: [string, number][]) =>
  list.map(([name, byte]) => `{name: ${name}, secret: "${Buffer.alloc(32, byte).toString('base64')}"}`).join(', ')

const configured = (providers: string, resources = 'secrets') => {
  const text = `apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources: [{resources: [${resources}], providers: [${providers}]}]`
  return Encryption.of(readEncryptionConfiguration(text), {
    clock: new VirtualClock(0),
    random: systemRandom,
    logger: silentLogger,
  })
}

for (const provider of ['aesgcm', 'secretbox']) {
  describeStore(`encrypted (${provider})`, async () => {
    const encryption = await configured(`{${provider}: {keys: [${keys(['key1', 1])}]}}`, "'*.*'")
    return {
      open: async (clock) => new EncryptedStore(openMemoryStore({ clock }), encryption),
      remove: async () => undefined,
    }
  })
}

const secrets = '/api/v1/namespaces/default/secrets'
const secret = (name: string, password: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name },
  stringData: { password },
})
const encoded = (password: string) => Buffer.from(password).toString('base64')

/** A server on a store whose values it encrypts. */
async function serving(store: Store, providers: string): Promise<TestServer> {
  const encryption = await configured(providers)
  return TestServer.start({ store, wrapStore: (inner) => new EncryptedStore(inner, encryption) })
}

/** The values of the store itself under a prefix. */
const stored = async (store: Store, prefix = '/registry/secrets/') =>
  (await store.range(prefix)).items.map(({ value }) => value.toString('latin1'))

describe('a server whose secrets are encrypted', () => {
  it('serves them by every verb, and stores no plain text', async () => {
    const store = openMemoryStore({ clock: new VirtualClock(0) })
    const server = await serving(store, `{aescbc: {keys: [${keys(['key1', 1])}]}}, {identity: {}}`)
    const watch = await server.watch(secrets)
    await server.create(secrets, secret('a', 'swordfish'))
    await server.create(configMaps, configMap('a', { open: 'yes' }))
    expect((await server.get(`${secrets}/a`)).body.data).toEqual({ password: encoded('swordfish') })
    await server.patch(`${secrets}/a`, { stringData: { password: 'marlin' } })
    expect((await server.get(secrets)).body.items[0].data).toEqual({ password: encoded('marlin') })
    expect(await watch.takeNames()).toEqual(['ADDED a', 'MODIFIED a'])
    expect(
      (await stored(store)).every(
        (value) => value.startsWith('k8s:enc:aescbc:v1:key1:') && !value.includes(encoded('marlin')),
      ),
    ).toBe(true)
    expect((await stored(store, '/registry/configmaps/default/a'))[0]).toContain('"open":"yes"')
    await server.delete(`${secrets}/a`)
    expect(await watch.takeNames()).toEqual(['DELETED a'])
    expect((await server.get(secrets)).body.items).toEqual([])
  })

  it('reads after a restart what was stored before, and shows history', async () => {
    const store = openMemoryStore({ clock: new VirtualClock(0) })
    const first = await serving(store, `{secretbox: {keys: [${keys(['key1', 1])}]}}`)
    const { body } = await first.create(secrets, secret('a', 'one'))
    await first.patch(`${secrets}/a`, { stringData: { password: 'two' } })
    first.api.close()
    const second = await serving(store, `{secretbox: {keys: [${keys(['key1', 1])}]}}`)
    expect((await second.get(`${secrets}/a`)).body.data).toEqual({ password: encoded('two') })
    const watch = await second.watch(`${secrets}?resourceVersion=${body.metadata.resourceVersion}`)
    expect((await watch.take()).map(({ type, object }) => `${type} ${object.data.password}`)).toEqual([
      `MODIFIED ${encoded('two')}`,
    ])
  })

  it('writes a secret anew that says nothing new, where its key is an old one', async () => {
    const store = openMemoryStore({ clock: new VirtualClock(0) })
    const plain = await TestServer.start({ store })
    await plain.create(secrets, secret('a', 'swordfish'))
    plain.api.close()
    const server = await serving(store, `{aesgcm: {keys: [${keys(['key1', 1])}]}}, {identity: {}}`)
    const { body: before } = await server.get(`${secrets}/a`)
    const { body: replaced } = await server.update(`${secrets}/a`, before)
    expect(Number(replaced.metadata.resourceVersion)).toBeGreaterThan(Number(before.metadata.resourceVersion))
    expect(await stored(store)).toEqual([expect.stringMatching(/^k8s:enc:aesgcm:v1:key1:/)])
    const { body: again } = await server.update(`${secrets}/a`, replaced)
    expect(again.metadata.resourceVersion).toBe(replaced.metadata.resourceVersion)
  })

  it.each([
    [
      'another key',
      async (store: Store) => serving(store, `{aesgcm: {keys: [${keys(['key2', 2])}]}}`),
      /no matching key was found for the provided AES transformer/,
    ],
    [
      'another key of the same name',
      async (store: Store) => serving(store, `{aesgcm: {keys: [${keys(['key1', 2])}]}}`),
      /cipher: message authentication failed/,
    ],
    [
      'no configuration',
      async (store: Store) => TestServer.start({ store }),
      /identity transformer tried to read encrypted data/,
    ],
  ])('does not start with %s, names the object and loses nothing', async (_what, start, message) => {
    const store = openMemoryStore({ clock: new VirtualClock(0) })
    const right = `{aesgcm: {keys: [${keys(['key1', 1])}]}}`
    const first = await serving(store, right)
    await first.create(secrets, secret('a', 'swordfish'))
    first.api.close()
    const before = await stored(store)
    await expect(start(store)).rejects.toThrow(message)
    await expect(start(store)).rejects.toThrow('unable to transform key "/registry/secrets/default/a"')
    expect(await stored(store)).toEqual(before)
    expect((await (await serving(store, right)).get(`${secrets}/a`)).body.data).toEqual({
      password: encoded('swordfish'),
    })
  })
})
