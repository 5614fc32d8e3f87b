import { readFileSync } from 'node:fs'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { Random } from '../../base/random.ts'
import { type ApiServer, EncryptedStore, Encryption, readEncryptionConfiguration } from '../../server/index.ts'
import type { Store } from '../../store/index.ts'

/** Flags of encryption at rest. */
export interface EncryptionFlags {
  configFile: string
  /** Reread the file when it changes. */
  reloads: boolean
}

interface Around {
  clock: Clock
  random: Random
  logger: Logger
}

const flag = '--encryption-provider-config'

/** Interval between checks of the file. */
const lookEveryMs = 5000

/** Encrypts the values of a store as configured by a file. */
export class FileEncryption {
  readonly #flags: EncryptionFlags
  readonly #around: Around
  readonly #store: EncryptedStore
  /** Last content of the file, even if it was invalid. */
  #text: string
  #encryption: Encryption
  #cancel: () => void = () => {}
  #isStopped = false

  private constructor(
    flags: EncryptionFlags,
    around: Around,
    store: EncryptedStore,
    text: string,
    encryption: Encryption,
  ) {
    this.#flags = flags
    this.#around = around
    this.#store = store
    this.#text = text
    this.#encryption = encryption
  }

  /** Opens the configuration. Rejects with a sentence that names the flag if the file is unusable. */
  static async open(flags: EncryptionFlags, store: Store, around: Around): Promise<FileEncryption> {
    try {
      const text = readFileSync(flags.configFile, 'utf8')
      const encryption = await Encryption.of(readEncryptionConfiguration(text), around)
      return new FileEncryption(flags, around, new EncryptedStore(store, encryption), text, encryption)
    } catch (e) {
      throw new Error(`${flag}: ${(e as Error).message}: from file ${flags.configFile}`, { cause: e })
    }
  }

  get store(): Store {
    return this.#store
  }

  /** Adds KMS plugins to the server's health, and follows changes of the file. */
  follow(server: ApiServer): void {
    const problems = () => this.#encryption.kms.map(({ problem }) => problem).filter((problem) => problem !== undefined)
    server.health.require({ name: 'kms-providers', check: () => problems().join('; ') || undefined })
    if (!this.#flags.reloads) return
    const reloads = server.metrics.counter(
      'apiserver_encryption_config_controller_automatic_reloads_total',
      'Total number of reload successes and failures of encryption configuration split by apiserver identity.',
    )
    const outcome = (isSuccess: boolean) => reloads.with({ status: isSuccess ? 'success' : 'failure' }).inc()
    this.#schedule(outcome)
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel()
  }

  #schedule(tell: (isSuccess: boolean) => void): void {
    if (this.#isStopped) return
    this.#cancel = this.#around.clock.after(lookEveryMs, () => {
      void this.#reload(tell).finally(() => this.#schedule(tell))
    })
  }

  /** Rereads the file. An unusable file changes nothing. */
  async #reload(tell: (isSuccess: boolean) => void): Promise<void> {
    const { logger } = this.#around
    const file = this.#flags.configFile
    try {
      const text = readFileSync(file, 'utf8')
      if (text === this.#text) return
      this.#text = text
      const encryption = await Encryption.of(readEncryptionConfiguration(text), this.#around)
      await this.#store.use(encryption).catch((e: unknown) => {
        encryption.close()
        throw e
      })
      this.#encryption = encryption
      tell(true)
      logger.info('reloaded the encryption configuration', { file })
    } catch (e) {
      tell(false)
      logger.error('failed to reload the encryption configuration; keeping the previous one', {
        file,
        error: (e as Error).message,
      })
    }
  }
}
