import { resourceOfKey } from '../objects/stored-keys.ts'
import { type EncryptionConfiguration, type ProviderConfiguration, kmsTimeoutMs, parseGroupResource } from './config.ts'
import { Channel, parseAddress } from '../../grpc/index.ts'
import { Kms, type KmsOptions } from './kms.ts'
import { type Provider, Transformer, identity, keysProvider } from './transformers.ts'

const plain = new Transformer([identity])

/** The transformers of each resource in a configuration. */
export class Encryption {
  /** Keyed by `group/plural`, where `*` matches all. */
  readonly #transformers: ReadonlyMap<string, Transformer>
  readonly #byKind = new Map<string, Transformer>()
  readonly #kms: readonly Kms[]

  private constructor(transformers: ReadonlyMap<string, Transformer>, kms: readonly Kms[]) {
    this.#transformers = transformers
    this.#kms = kms
  }

  /** Rejects if an earlier rule masks a resource, or a KMS plug-in is unusable. */
  static async of(
    config: EncryptionConfiguration,
    around: Omit<KmsOptions, 'name' | 'channel' | 'timeoutMs'>,
  ): Promise<Encryption> {
    const kms: Kms[] = []
    const providers = new Map<string, Provider[]>()
    try {
      for (const { resources = [], providers: list = [] } of config.resources ?? []) {
        const made: Provider[] = []
        for (const entry of list) made.push(await makeProvider(entry, around, kms))
        for (const name of resources) addResource(providers, name, made)
      }
      await Promise.all(kms.map((plugin) => plugin.start()))
    } catch (e) {
      for (const plugin of kms) plugin.close()
      throw e
    }
    return new Encryption(new Map([...providers].map(([name, list]) => [name, new Transformer(list)])), kms)
  }

  /** Returns the transformer for a store key. */
  transformerOf(key: string): Transformer {
    // The prefix `/registry/secrets/` or `/registry/example.com/widgets/` identifies the kind.
    const second = key.indexOf('/', key.indexOf('/', 1) + 1)
    const kind = key.slice(0, key.indexOf('/', second + 1) + 1)
    let found = this.#byKind.get(kind)
    if (!found) {
      const { group, plural } = resourceOfKey(key)
      const of = (name: string) => this.#transformers.get(name)
      found = of(`${group}/${plural}`) ?? of(`${group}/*`) ?? of('*/*') ?? plain
      // A core kind's second part may be a namespace, of which there are many: the cache is bounded.
      if (this.#byKind.size >= 10_000) this.#byKind.clear()
      this.#byKind.set(kind, found)
    }
    return found
  }

  /** KMS plug-ins in use. */
  get kms(): readonly Kms[] {
    return this.#kms
  }

  close(): void {
    for (const plugin of this.#kms) plugin.close()
  }
}

function addResource(providers: Map<string, Provider[]>, name: string, more: readonly Provider[]): void {
  const { group, plural } = parseGroupResource(name)
  for (const [masking, shown] of [
    [`${group}/*`, `*.${group}`],
    ['*/*', '*.*'],
  ] as const) {
    if (masking === `${group}/${plural}` || !providers.has(masking)) continue
    throw new Error(`resource ${JSON.stringify(name)} is masked by earlier rule ${JSON.stringify(shown)}`)
  }
  const known = providers.get(`${group}/${plural}`) ?? []
  providers.set(`${group}/${plural}`, [...known, ...more])
}

async function makeProvider(
  entry: ProviderConfiguration,
  around: Omit<KmsOptions, 'name' | 'channel' | 'timeoutMs'>,
  kms: Kms[],
): Promise<Provider> {
  if (entry.aescbc) return keysProvider('aescbc', entry.aescbc)
  if (entry.aesgcm) return keysProvider('aesgcm', entry.aesgcm)
  if (entry.secretbox) return keysProvider('secretbox', entry.secretbox)
  if (!entry.kms) return identity
  const { name = '', endpoint = '' } = entry.kms
  const channel = new Channel({ address: parseAddress(endpoint), clock: around.clock })
  const plugin = new Kms({ ...around, name, channel, timeoutMs: kmsTimeoutMs(entry.kms)! })
  kms.push(plugin)
  return plugin.provider
}
