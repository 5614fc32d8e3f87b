import { createServer } from 'node:http2'
import type { Http2Server, ServerHttp2Stream } from 'node:http2'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../base/logger.ts'
import { systemRandom } from '../../base/random.ts'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { type Store, type StoreEvent, openMemoryStore } from '../../store/index.ts'
import { readEncryptionConfiguration } from './config.ts'
import { EncryptedStore } from './encrypted-store.ts'
import { Encryption } from './encryption.ts'

const header = 'apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n'
const keyText = (name: string, byte: number) =>
  `{name: ${name}, secret: "${Buffer.alloc(32, byte).toString('base64')}"}`
const configured = (providers: string, resources = "'*.*'", clock = new VirtualClock(0)) =>
  Encryption.of(
    readEncryptionConfiguration(`${header}resources: [{resources: [${resources}], providers: [${providers}]}]`),
    { clock, random: systemRandom, logger: silentLogger },
  )

const aes = (...keys: [string, number][]) =>
  `{aesgcm: {keys: [${keys.map(([name, byte]) => keyText(name, byte)).join(', ')}]}}`

const secret = (name: string) => `/registry/secrets/default/${name}`
const text = (value: Buffer | undefined) => value?.toString('latin1') ?? ''

describe('EncryptedStore', () => {
  let inner: Store
  beforeEach(() => (inner = openMemoryStore({ clock: new VirtualClock(0) })))
  afterEach(() => inner.close())

  const put = (store: Store, key: string, value: string, expected = 0) =>
    store.write({ key, expected, value: Buffer.from(value) })

  it('stores what is configured encrypted, and the rest as it is', async () => {
    const store = new EncryptedStore(inner, await configured(aes(['key1', 1]), 'secrets'))
    await put(store, secret('a'), '{"x":"swordfish"}')
    await put(store, '/registry/configmaps/default/a', '{"x":"swordfish"}')
    expect(text((await inner.get(secret('a')))!.value)).toMatch(/^k8s:enc:aesgcm:v1:key1:/)
    expect(text((await inner.get('/registry/configmaps/default/a'))!.value)).toBe('{"x":"swordfish"}')
    expect(text((await store.get(secret('a')))!.value)).toBe('{"x":"swordfish"}')
  })

  it('hands a writer its own buffer in the event, encrypted or not', async () => {
    const store = new EncryptedStore(inner, await configured(aes(['key1', 1]), 'secrets'))
    const seen: StoreEvent[] = []
    await store.watch('/registry/', 0, (events) => seen.push(...events))
    const values: Buffer[] = [Buffer.from('{}'), Buffer.from('{}')]
    await store.write({ key: secret('a'), expected: 0, value: values[0] })
    await store.write({ key: '/registry/pods/default/a', expected: 0, value: values[1] })
    expect(seen.map((event) => event.type === 'put' && values.indexOf(event.value))).toEqual([0, 1])
  })

  it('reads what was written before, and knows that it is stale', async () => {
    await put(inner, secret('plain'), '{"n":1}')
    await put(new EncryptedStore(inner, await configured(aes(['key1', 1]))), secret('old'), '{"n":2}')
    const store = new EncryptedStore(inner, await configured(`${aes(['key2', 2], ['key1', 1])}, {identity: {}}`))
    await put(store, secret('new'), '{"n":3}')
    expect((await store.range('/registry/')).items.map(({ value }) => text(value))).toEqual([
      '{"n":3}',
      '{"n":2}',
      '{"n":1}',
    ])
    expect(await Promise.all(['plain', 'old', 'new', 'none'].map((name) => store.isStale(secret(name))))).toEqual([
      true,
      true,
      false,
      false,
    ])
  })

  it('decrypts history, with what was there before', async () => {
    const first = new EncryptedStore(inner, await configured(aes(['key1', 1])))
    await put(first, secret('a'), '{"n":1}')
    await put(first, secret('a'), '{"n":2}', 1)
    await first.write({ key: secret('a'), expected: 2, value: undefined })
    const store = new EncryptedStore(inner, await configured(aes(['key1', 1])))
    const seen: string[] = []
    await store.watch('/registry/', 0, (events) => {
      for (const event of events)
        seen.push(`${event.type} ${event.type === 'put' ? text(event.value) : ''} ${text(event.previous?.value)}`)
    })
    await new Promise((resolve) => setImmediate(resolve))
    expect(seen).toEqual(['put {"n":1} ', 'put {"n":2} {"n":1}', 'delete  {"n":2}'])
  })

  it('names the object that it cannot read, and changes nothing', async () => {
    await put(new EncryptedStore(inner, await configured(aes(['key1', 1]))), secret('a'), '{}')
    const before = text((await inner.get(secret('a')))!.value)
    const store = new EncryptedStore(inner, await configured(aes(['key2', 2])))
    await expect(store.range('/registry/')).rejects.toThrow(
      'unable to transform key "/registry/secrets/default/a": no matching key was found',
    )
    expect(text((await inner.get(secret('a')))!.value)).toBe(before)
  })

  it('takes another configuration only if that can read everything', async () => {
    const store = new EncryptedStore(inner, await configured(aes(['key1', 1])))
    await put(store, secret('a'), '{}')
    await expect(store.use(await configured(aes(['key2', 2])))).rejects.toThrow('unable to transform key')
    await put(store, secret('b'), '{}')
    expect(text((await inner.get(secret('b')))!.value)).toContain(':key1:')
    await store.use(await configured(aes(['key2', 2], ['key1', 1])))
    await put(store, secret('c'), '{}')
    expect(text((await inner.get(secret('c')))!.value)).toContain(':key2:')
    expect((await store.range('/registry/')).items).toHaveLength(3)
  })
})

/** A KMS plug-in whose encryption is to turn bytes around; gRPC over Node's own HTTP/2. */
class FakeKms {
  keyId = 'key-1'
  healthz = 'ok'
  failure: string | undefined
  readonly calls: string[] = []
  readonly #server: Http2Server

  constructor(socket: string) {
    this.#server = createServer()
    this.#server.on('stream', (stream, headers) => void this.#answer(stream, String(headers[':path'])))
    this.#server.listen(socket)
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }

  async #answer(stream: ServerHttp2Stream, at: string): Promise<void> {
    const body = Buffer.concat((await stream.toArray()) as Buffer[]).subarray(5)
    const method = path.basename(at)
    this.calls.push(method)
    if (this.failure) {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
      stream.on('wantTrailers', () =>
        stream.sendTrailers({ 'grpc-status': '13', 'grpc-message': encodeURIComponent(this.failure!) }),
      )
      return void stream.end()
    }
    const message =
      method === 'Status'
        ? [
            [1, 'v2'],
            [2, this.healthz],
            [3, this.keyId],
          ]
        : method === 'Encrypt'
          ? [
              [1, turned(body)],
              [2, this.keyId],
            ]
          : [[1, turned(body)]]
    const bytes = Buffer.concat(
      (message as [number, string | Buffer][]).map(([number, value]) => {
        const content = Buffer.from(value as string)
        return Buffer.concat([Buffer.from([(number << 3) | 2, content.length]), content])
      }),
    )
    const head = Buffer.alloc(5)
    head.writeUInt32BE(bytes.length, 1)
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    stream.end(Buffer.concat([head, bytes]))
  }
}

/** The first field of a message, which is short, turned around. */
const turned = (message: Buffer): Buffer => Buffer.from(message.subarray(2, 2 + message[1]!)).reverse()

describe('KMS', () => {
  let dir: string
  let kms: FakeKms
  let clock: VirtualClock
  const opened: Encryption[] = []
  beforeEach(() => {
    dir = mkdtempSync(path.join(tmpdir(), 'kms-'))
    kms = new FakeKms(path.join(dir, 's'))
    clock = new VirtualClock(0)
  })
  afterEach(async () => {
    for (const encryption of opened.splice(0)) encryption.close()
    await kms.close()
    rmSync(dir, { recursive: true })
  })

  const open = async () => {
    const encryption = await configured(
      `{kms: {apiVersion: v2, name: vault, endpoint: "unix://${path.join(dir, 's')}"}}, {identity: {}}`,
      'secrets',
      clock,
    )
    opened.push(encryption)
    return encryption
  }
  const settle = async (until: () => boolean) => {
    for (let turn = 0; turn < 10_000 && !until(); turn++) await new Promise((resolve) => setImmediate(resolve))
  }

  it('encrypts the key of values, once a start; another start asks for it again, once', async () => {
    const inner = openMemoryStore({ clock })
    const store = new EncryptedStore(inner, await open())
    for (const name of ['a', 'b'])
      await store.write({ key: secret(name), expected: 0, value: Buffer.from('{"x":"swordfish"}') })
    const stored = (await inner.get(secret('a')))!.value
    expect(text(stored)).toMatch(/^k8s:enc:kms:v2:vault:/)
    expect(stored.includes('swordfish')).toBe(false)
    expect((await store.range('/registry/')).items).toHaveLength(2)
    expect(kms.calls).toEqual(['Status', 'Encrypt'])
    const again = new EncryptedStore(inner, await open())
    expect((await again.range('/registry/')).items.map(({ value }) => text(value))).toEqual([
      '{"x":"swordfish"}',
      '{"x":"swordfish"}',
    ])
    expect(kms.calls).toEqual(['Status', 'Encrypt', 'Status', 'Encrypt', 'Decrypt'])
  })

  it('asks for the keys of history, in order', async () => {
    const inner = openMemoryStore({ clock })
    const first = new EncryptedStore(inner, await open())
    await first.write({ key: secret('a'), expected: 0, value: Buffer.from('{"n":1}') })
    await first.write({ key: secret('a'), expected: 1, value: Buffer.from('{"n":2}') })
    const store = new EncryptedStore(inner, await open())
    const seen: string[] = []
    await store.watch('/registry/', 0, (events) => {
      for (const event of events)
        seen.push(`${event.type === 'put' ? text(event.value) : ''} ${text(event.previous?.value)}`)
    })
    await store.write({ key: secret('b'), expected: 0, value: Buffer.from('{"n":3}') })
    await settle(() => seen.length === 3)
    expect(seen).toEqual(['{"n":1} ', '{"n":2} {"n":1}', '{"n":3} '])
  })

  it('takes a new key when the plug-in has one, which makes older values stale', async () => {
    const inner = openMemoryStore({ clock })
    const encryption = await open()
    const store = new EncryptedStore(inner, encryption)
    await store.write({ key: secret('a'), expected: 0, value: Buffer.from('{}') })
    expect(await store.isStale(secret('a'))).toBe(false)
    kms.keyId = 'key-2'
    clock.advance(60_000)
    await settle(() => kms.calls.length === 4)
    await settle(
      () =>
        encryption.transformerOf(secret('a')).isStale(Buffer.from('{}')) &&
        kms.calls.filter((call) => call === 'Encrypt').length === 2,
    )
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(await store.isStale(secret('a'))).toBe(true)
    await store.write({ key: secret('b'), expected: 0, value: Buffer.from('{}') })
    expect((await inner.get(secret('b')))!.value.includes('key-2')).toBe(true)
  })

  it('that does not answer is told of, and writes fail once its key has expired', async () => {
    const encryption = await open()
    const store = new EncryptedStore(openMemoryStore({ clock }), encryption)
    kms.failure = 'the vault is closed'
    clock.advance(60_000)
    await settle(() => encryption.kms[0]!.problem !== undefined)
    expect(encryption.kms[0]!.problem).toBe(
      'kmsv2 Provider vault is not healthy, error: rpc error: code = Internal desc = the vault is closed',
    )
    await store.write({ key: secret('a'), expected: 0, value: Buffer.from('{}') })
    clock.advance(130_000)
    await expect(store.write({ key: secret('b'), expected: 0, value: Buffer.from('{}') })).rejects.toThrow(
      /unable to transform key "\/registry\/secrets\/default\/b": KMS provider vault cannot encrypt/,
    )
  })

  it.each([
    ['is ill', () => (kms.healthz = 'sealed'), /got unexpected healthz status: sealed/],
    ['refuses', () => (kms.failure = 'no'), /code = Internal desc = no/],
  ])('that %s ends the start', async (_what, spoil, message) => {
    spoil()
    await expect(open()).rejects.toThrow(message)
  })

  it('that is not there ends the start', async () => {
    await expect(
      configured(`{kms: {apiVersion: v2, name: v, endpoint: "unix://${path.join(dir, 'none')}"}}`),
    ).rejects.toThrow(/code = Unavailable desc = connection error: .*ENOENT/)
  })
})
