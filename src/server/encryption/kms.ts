import { createHash, createHmac, randomBytes } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { Random } from '../../base/random.ts'
import { type Channel } from '../../grpc/index.ts'
import { EncryptedObject, type WrappedKey, dekSource, kmsMethods, readEncryptedObject } from './kms-messages.ts'
import { type Cipher, type Provider, aesgcm, encryptedPrefix } from './transformers.ts'

export interface KmsOptions {
  name: string
  /** The gRPC channel to the plug-in. */
  channel: Channel
  /** The timeout of a call. */
  timeoutMs: number
  clock: Clock
  random: Random
  logger: Logger
}

/** As in Kubernetes: the interval of health checks, and how long after one its key may encrypt. */
const healthyMs = 60_000
const unhealthyMs = 10_000
const writableMs = 3 * 60_000

/** The current encryption key. */
interface WriteKey {
  seed: Buffer
  wrapped: WrappedKey
  expiresMs: number
}

/**
 * A KMS v2 plug-in. The server encrypts values with keys derived from a seed; the plug-in encrypts the seed, which is
 * stored with each value. A new seed is created at startup and when the plug-in rotates its key.
 */
export class Kms {
  readonly name: string
  readonly #o: KmsOptions
  /** Seeds that the plug-in has decrypted, by their encrypted form. */
  readonly #known = new Map<string, Buffer>()
  #write: WriteKey | undefined
  #problem: string | undefined = 'no status yet'
  #cancelPoll: () => void = () => {}
  #isClosed = false

  constructor(options: KmsOptions) {
    this.name = options.name
    this.#o = options
  }

  /** Checks the plug-in and creates the first seed. Rejects if the plug-in is unusable. */
  async start(): Promise<void> {
    await this.#refresh()
    this.#schedule()
  }

  close(): void {
    this.#isClosed = true
    this.#cancelPoll()
    this.#o.channel.close()
  }

  /** Why the plug-in is unusable; undefined if it is healthy. */
  get problem(): string | undefined {
    return this.#problem
  }

  get provider(): Provider {
    const prefix = Buffer.from(`${encryptedPrefix}kms:v2:${this.name}:`)
    return { prefix, ciphers: [{ prefix, cipher: this.#cipher() }], noMatch: '' }
  }

  #cipher(): Cipher {
    return {
      encrypt: (plain, key) => this.#encrypt(plain, key),
      decrypt: (data, key) => this.#decrypt(data, key),
      isOutdated: (data) => readEncryptedObject(data).keyId !== this.#write?.wrapped.keyId,
    }
  }

  #encrypt(plain: Buffer, key: string): Buffer {
    const write = this.#write
    if (!write || this.#o.clock.now() > write.expiresMs) {
      throw new Error(`KMS provider ${this.name} cannot encrypt: ${this.#problem ?? 'its key has expired'}`)
    }
    const info = randomBytes(32)
    const data = Buffer.concat([info, aesgcm(derivedKey(write.seed, info)).encrypt(plain, key)])
    return EncryptedObject.encode({ ...write.wrapped, data, source: dekSource.hkdfSeed })
  }

  #decrypt(bytes: Buffer, key: string): Buffer | Promise<Buffer> {
    const { data, source, ...wrapped } = readEncryptedObject(bytes)
    const open = (dek: Buffer): Buffer => {
      if (source === dekSource.aesGcmKey) return aesgcm(dek).decrypt(data, key) as Buffer
      return aesgcm(derivedKey(dek, data.subarray(0, 32))).decrypt(data.subarray(32), key) as Buffer
    }
    const known = this.#known.get(nameOf(wrapped))
    return known ? open(known) : this.#unwrap(wrapped).then(open)
  }

  async #unwrap(wrapped: WrappedKey): Promise<Buffer> {
    const { channel, timeoutMs, random } = this.#o
    try {
      const { plaintext: key } = await channel.call(
        kmsMethods.decrypt,
        { ...wrapped, uid: random.uuid() },
        { timeoutMs },
      )
      this.#known.set(nameOf(wrapped), key)
      return key
    } catch (e) {
      throw new Error(`failed to decrypt DEK, error: ${(e as Error).message}`, { cause: e })
    }
  }

  /** Checks the plug-in's health, and creates a new seed if its key has changed. */
  async #refresh(): Promise<void> {
    const { channel, timeoutMs, clock, random } = this.#o
    try {
      const { version, healthz, keyId } = await channel.call(kmsMethods.status, {}, { timeoutMs })
      if (healthz !== 'ok') throw new Error(`got unexpected healthz status: ${healthz}`)
      if (version !== 'v2' && version !== 'v2beta1') throw new Error(`expected KMSv2 API version v2, got ${version}`)
      if (keyId === '') throw new Error('expected KMSv2 KeyID to be set, got ')
      if (this.#write?.wrapped.keyId !== keyId) {
        const seed = randomBytes(32)
        const wrapped = await channel.call(kmsMethods.encrypt, { plaintext: seed, uid: random.uuid() }, { timeoutMs })
        if (wrapped.ciphertext.length === 0 || wrapped.ciphertext.length > 1024)
          throw new Error(`encrypted DEK source is ${wrapped.ciphertext.length} bytes`)
        this.#known.set(nameOf(wrapped), seed)
        this.#write = { seed, wrapped, expiresMs: 0 }
      }
      this.#write!.expiresMs = clock.now() + writableMs
      this.#problem = undefined
    } catch (e) {
      this.#problem = `kmsv2 Provider ${this.name} is not healthy, error: ${(e as Error).message}`
      throw new Error(this.#problem, { cause: e })
    }
  }

  #schedule(): void {
    if (this.#isClosed) return
    this.#cancelPoll = this.#o.clock.after(this.#problem === undefined ? healthyMs : unhealthyMs, () => {
      this.#refresh()
        .catch((e: unknown) =>
          this.#o.logger.error('a KMS plug-in is not healthy', { name: this.name, error: (e as Error).message }),
        )
        .finally(() => this.#schedule())
    })
  }
}

/** HKDF-Expand with SHA-256 for one block of 32 bytes. */
const derivedKey = (seed: Buffer, info: Buffer): Buffer =>
  createHmac('sha256', seed).update(info).update(Buffer.of(1)).digest()

function nameOf({ ciphertext, keyId, annotations }: WrappedKey): string {
  const hash = createHash('sha256').update(keyId).update('\0').update(ciphertext)
  for (const [key, value] of Object.entries(annotations)) hash.update('\0').update(key).update('\0').update(value)
  return hash.digest('base64')
}
