import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { KeysConfiguration } from './config.ts'

/** The prefix of every encrypted value. */
export const encryptedPrefix = 'k8s:enc:'

/** Encrypts and decrypts values. `key` is the value's store key. */
export interface Cipher {
  encrypt(plain: Buffer, key: string): Buffer
  /** Throws or rejects if another cipher encrypted the data. */
  decrypt(data: Buffer, key: string): Buffer | Promise<Buffer>
  /** True if this cipher encrypted the data, but would do so differently now. */
  isOutdated?(data: Buffer): boolean
}

/** A cipher and the prefix of its values. */
export interface NamedCipher {
  readonly prefix: Buffer
  readonly cipher: Cipher
}

/** One provider of a configuration. Its first cipher encrypts. */
export interface Provider {
  readonly prefix: Buffer
  readonly ciphers: readonly NamedCipher[]
  /** The error for a value with this prefix that no cipher has encrypted. */
  readonly noMatch: string
}

const tooShort = 'the stored data was shorter than the required size'

/** AES-CBC with PKCS #7 padding: a 16-byte IV, then the data. */
function aescbc(secret: Buffer): Cipher {
  const name = `aes-${secret.length * 8}-cbc`
  return {
    encrypt(plain) {
      const iv = randomBytes(16)
      const cipher = createCipheriv(name, secret, iv)
      return Buffer.concat([iv, cipher.update(plain), cipher.final()])
    },
    decrypt(data) {
      if (data.length < 16) throw new Error(tooShort)
      if (data.length % 16 !== 0) throw new Error('the stored data is not a multiple of the block size')
      const decipher = createDecipheriv(name, secret, data.subarray(0, 16))
      return checked(Buffer.concat([decipher.update(data.subarray(16)), decipher.final()]))
    },
  }
}

/** AES-GCM: a 12-byte nonce, the data, a 16-byte tag. The store key is authenticated as well. */
export function aesgcm(secret: Buffer): Cipher {
  const name = `aes-${secret.length * 8}-gcm` as 'aes-256-gcm'
  return {
    encrypt(plain, key) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv(name, secret, nonce).setAAD(Buffer.from(key))
      return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
    },
    decrypt(data, key) {
      if (data.length < 28) throw new Error(tooShort)
      const decipher = createDecipheriv(name, secret, data.subarray(0, 12)).setAAD(Buffer.from(key))
      decipher.setAuthTag(data.subarray(-16))
      try {
        return Buffer.concat([decipher.update(data.subarray(12, -16)), decipher.final()])
      } catch (e) {
        throw new Error('cipher: message authentication failed', { cause: e })
      }
    },
  }
}

/** XSalsa20-Poly1305 as in NaCl: a 24-byte nonce, a 16-byte tag, the data. Node's crypto provides neither. */
export async function secretbox(secret: Buffer): Promise<Cipher> {
  const { xsalsa20poly1305 } = await import('@noble/ciphers/salsa.js')
  const of = (nonce: Buffer) => xsalsa20poly1305(new Uint8Array(secret), new Uint8Array(nonce))
  return {
    encrypt(plain) {
      const nonce = randomBytes(24)
      return Buffer.concat([nonce, of(nonce).encrypt(new Uint8Array(plain))])
    },
    decrypt(data) {
      if (data.length < 40) throw new Error(tooShort)
      try {
        return Buffer.from(of(data.subarray(0, 24)).decrypt(new Uint8Array(data.subarray(24))))
      } catch (e) {
        throw new Error('output array was not large enough for encryption', { cause: e })
      }
    },
  }
}

/** A provider with named keys, which are part of the prefix: `k8s:enc:aescbc:v1:key1:`. */
export async function keysProvider(
  name: 'aescbc' | 'aesgcm' | 'secretbox',
  { keys = [] }: KeysConfiguration,
): Promise<Provider> {
  const prefix = `${encryptedPrefix}${name}:v1:`
  const make = { aescbc, aesgcm, secretbox }[name]
  const ciphers: NamedCipher[] = []
  for (const key of keys) {
    const cipher = await make(Buffer.from(key.secret!, 'base64'))
    ciphers.push({ prefix: Buffer.from(`${prefix}${key.name}:`), cipher })
  }
  const kind = name === 'secretbox' ? 'Secretbox' : 'AES'
  return {
    prefix: Buffer.from(prefix),
    ciphers,
    noMatch: `no matching key was found for the provided ${kind} transformer`,
  }
}

/** True if a value is encrypted. Plain objects are JSON, which never begins with the prefix. */
export const isEncrypted = (data: Buffer): boolean =>
  data[0] === 0x6b && data.toString('latin1', 0, encryptedPrefix.length) === encryptedPrefix

const plainText: Cipher = {
  encrypt: (plain) => plain,
  decrypt(data) {
    if (isEncrypted(data)) {
      throw new Error('identity transformer tried to read encrypted data')
    }
    return data
  },
}

/** The provider that stores values in plain text. */
export const identity: Provider = {
  prefix: Buffer.alloc(0),
  ciphers: [{ prefix: Buffer.alloc(0), cipher: plainText }],
  noMatch: '',
}

const startsWith = (data: Buffer, prefix: Buffer): boolean =>
  data.length >= prefix.length && data.compare(prefix, 0, prefix.length, 0, prefix.length) === 0

/** The providers of a resource: the first encrypts, all decrypt. */
export class Transformer {
  readonly #providers: readonly Provider[]

  constructor(providers: readonly Provider[]) {
    this.#providers = providers
  }

  /** True if every provider is `identity`. */
  get isPlain(): boolean {
    return this.#providers.every((provider) => provider === identity)
  }

  get #writer(): NamedCipher {
    return this.#providers[0]!.ciphers[0]!
  }

  write(plain: Buffer, key: string): Buffer {
    const { prefix, cipher } = this.#writer
    return prefix.length === 0 ? plain : Buffer.concat([prefix, cipher.encrypt(plain, key)])
  }

  /**
   * Decrypts a value. Returns a promise only if a key must be fetched. Throws or rejects with a message that names the
   * store key.
   */
  read(data: Buffer, key: string): Buffer | Promise<Buffer> {
    const candidates = this.#providers.filter(({ prefix }) => startsWith(data, prefix))
    const ciphers = candidates.flatMap((provider) => provider.ciphers.filter(({ prefix }) => startsWith(data, prefix)))
    const noMatch = candidates.find(({ noMatch: sentence }) => sentence !== '')?.noMatch ?? 'no matching prefix found'
    return this.#readBy(ciphers, 0, data, key, [], noMatch)
  }

  #readBy(
    ciphers: readonly NamedCipher[],
    from: number,
    data: Buffer,
    key: string,
    failures: string[],
    noMatch: string,
  ): Buffer | Promise<Buffer> {
    for (let i = from; i < ciphers.length; i++) {
      const { prefix, cipher } = ciphers[i]!
      const failed = (e: unknown) => void failures.push((e as Error).message)
      try {
        // A plain value stays the same buffer, because identity identifies its writer.
        const read = cipher.decrypt(prefix.length === 0 ? data : data.subarray(prefix.length), key)
        if (!(read instanceof Promise)) return read
        return read.catch((e: unknown) => {
          failed(e)
          return this.#readBy(ciphers, i + 1, data, key, failures, noMatch)
        })
      } catch (e) {
        failed(e)
      }
    }
    throw new TransformError(key, [...new Set(failures)].join('; ') || noMatch)
  }

  /** True if the value would be encrypted differently now. */
  isStale(data: Buffer): boolean {
    const { prefix, cipher } = this.#writer
    if (prefix.length === 0) return isEncrypted(data)
    return !startsWith(data, prefix) || (cipher.isOutdated?.(data.subarray(prefix.length)) ?? false)
  }
}

/**
 * CBC has no authentication tag. With a wrong key, the padding is valid by chance in 1 of 256 cases, so the content is
 * checked.
 */
function checked(plain: Buffer): Buffer {
  if (plain[0] !== 0x7b) throw new Error('the decrypted data is not an object: the key may be wrong')
  return plain
}

/** An error of encrypting or decrypting a stored value. */
export class TransformError extends Error {
  constructor(key: string, why: string) {
    super(`unable to transform key ${JSON.stringify(key)}: ${why}`)
    this.name = 'TransformError'
  }
}
