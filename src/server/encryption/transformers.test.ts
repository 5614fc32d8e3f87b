import { createCipheriv } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type Provider, Transformer, identity, keysProvider, secretbox } from './transformers.ts'

const secretOf = (byte: number, size = 32) => Buffer.alloc(size, byte).toString('base64')
const provider = (name: 'aescbc' | 'aesgcm' | 'secretbox', ...keys: [string, number][]) =>
  keysProvider(name, { keys: keys.map(([key, byte]) => ({ name: key, secret: secretOf(byte) })) })
const transformer = (...providers: Provider[]) => new Transformer(providers)
const object = Buffer.from('{"data":{"password":"swordfish"}}')
const key = '/registry/secrets/default/x'

const names = ['aescbc', 'aesgcm', 'secretbox'] as const

describe.each(names)('%s', (name) => {
  it('writes the prefix of Kubernetes, no plain text, and reads it again', async () => {
    const one = transformer(await provider(name, ['key1', 1]))
    const stored = one.write(object, key)
    expect(stored.toString('latin1')).toMatch(new RegExp(`^k8s:enc:${name}:v1:key1:`))
    expect(stored.includes('swordfish')).toBe(false)
    expect(await one.read(stored, key)).toEqual(object)
    expect(one.write(object, key)).not.toEqual(stored)
  })

  it('reads bytes of shared memory, in which versions are kept', async () => {
    const one = transformer(await provider(name, ['key1', 1]))
    const shared = Buffer.from(new SharedArrayBuffer(object.length))
    object.copy(shared)
    expect(await one.read(one.write(shared, key), key)).toEqual(object)
  })

  it.each([16, 24, 32])('takes keys of %i bytes, if it can', async (size) => {
    if (name === 'secretbox' && size !== 32) return
    const one = transformer(await keysProvider(name, { keys: [{ name: 'k', secret: secretOf(3, size) }] }))
    expect(await one.read(one.write(object, key), key)).toEqual(object)
  })

  it('says that a key is missing, and which object it is', async () => {
    const stored = transformer(await provider(name, ['key1', 1])).write(object, key)
    const other = transformer(await provider(name, ['key2', 1]))
    const kind = name === 'secretbox' ? 'Secretbox' : 'AES'
    expect(() => other.read(stored, key)).toThrow(
      `unable to transform key "${key}": no matching key was found for the provided ${kind} transformer`,
    )
  })

  it('says that a key of the same name is another one', async () => {
    const stored = transformer(await provider(name, ['key1', 1])).write(object, key)
    const other = transformer(await provider(name, ['key1', 2]))
    expect(() => other.read(stored, key)).toThrow(`unable to transform key "${key}"`)
  })

  it('tries all keys of one name', async () => {
    const stored = transformer(await provider(name, ['key1', 1])).write(object, key)
    expect(await transformer(await provider(name, ['key1', 2], ['key1', 1])).read(stored, key)).toEqual(object)
  })

  it('refuses what was cut off or changed', async () => {
    const one = transformer(await provider(name, ['key1', 1]))
    const stored = one.write(object, key)
    const prefix = `k8s:enc:${name}:v1:key1:`.length
    expect(() => one.read(stored.subarray(0, prefix + 5), key)).toThrow(/shorter than the required size/)
    if (name === 'aescbc') return
    const changed = Buffer.from(stored)
    changed[stored.length - 1]! ^= 1
    expect(() => one.read(changed, key)).toThrow('unable to transform key')
  })
})

describe('the forms of values', () => {
  it('aesgcm binds a value to its key in the store', async () => {
    const one = transformer(await provider('aesgcm', ['key1', 1]))
    expect(() => one.read(one.write(object, key), '/registry/secrets/default/y')).toThrow(
      'cipher: message authentication failed',
    )
  })

  it('aesgcm is nonce, data and tag, with the key as additional data', async () => {
    const nonce = Buffer.alloc(12, 9)
    const cipher = createCipheriv('aes-256-gcm', Buffer.alloc(32, 1), nonce).setAAD(Buffer.from(key))
    const data = Buffer.concat([nonce, cipher.update(object), cipher.final(), cipher.getAuthTag()])
    const stored = Buffer.concat([Buffer.from('k8s:enc:aesgcm:v1:key1:'), data])
    expect(await transformer(await provider('aesgcm', ['key1', 1])).read(stored, key)).toEqual(object)
  })

  it('aescbc is IV and padded data', async () => {
    const iv = Buffer.alloc(16, 9)
    const cipher = createCipheriv('aes-256-cbc', Buffer.alloc(32, 1), iv)
    const stored = Buffer.concat([Buffer.from('k8s:enc:aescbc:v1:key1:'), iv, cipher.update(object), cipher.final()])
    expect(await transformer(await provider('aescbc', ['key1', 1])).read(stored, key)).toEqual(object)
  })

  it("secretbox is NaCl's: its own test vector", async () => {
    const hex = (text: string) => Buffer.from(text.replaceAll(/\s/g, ''), 'hex')
    const secret = hex('1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389')
    const nonce = hex('69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37')
    const box = hex(`f3ffc7703f9400e52a7dfb4b3d3305d9 8e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186a
      c0dfc17c98dce87b4da7f011ec48c97271d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae90224368517acfeabd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b37973f622a43d14a6599b1f654cb45a74e355a5`)
    const plain = hex(
      `be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c61296cdc3c01233561f41db66cce314adb310e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f937763848645e0705`,
    )
    expect(await (await secretbox(secret)).decrypt(Buffer.concat([nonce, box]), '')).toEqual(plain)
  })
})

describe('Transformer', () => {
  it('identity writes values as they are, and reads nothing that is encrypted', async () => {
    const plain = transformer(identity)
    expect(plain.write(object, key)).toBe(object)
    expect(await plain.read(object, key)).toBe(object)
    const stored = transformer(await provider('aesgcm', ['key1', 1])).write(object, key)
    expect(() => plain.read(stored, key)).toThrow('identity transformer tried to read encrypted data')
  })

  it('says that no provider reads a value', async () => {
    const one = transformer(await provider('aesgcm', ['key1', 1]))
    expect(() => one.read(object, key)).toThrow('no matching prefix found')
  })

  it('is stale for what the first key has not written', async () => {
    const [old, both] = [
      transformer(await provider('aescbc', ['key1', 1])),
      transformer(await provider('aescbc', ['key2', 2], ['key1', 1]), identity),
    ]
    const rows: [Buffer, boolean][] = [
      [object, true],
      [old.write(object, key), true],
      [both.write(object, key), false],
    ]
    for (const [stored, isStale] of rows) {
      expect(await both.read(stored, key)).toEqual(object)
      expect(both.isStale(stored)).toBe(isStale)
    }
    const back = transformer(identity, await provider('aescbc', ['key1', 1]))
    expect([back.isStale(object), back.isStale(old.write(object, key))]).toEqual([false, true])
  })
})
