import { rename, stat } from 'node:fs/promises'
import type { Clock } from '../../../base/clock.ts'
import type { Logger } from '../../../base/logger.ts'

/** Kubelet's defaults. */
const lookMs = 10_000
const mostBytes = 10 << 20
const mostFiles = 5

interface LogRotationOptions {
  clock: Clock
  logger: Logger
  /** The log files of running containers, by container. */
  running(): Iterable<readonly [id: string, file: string]>
  /** Makes the runtime write to a new file with the same name. */
  reopen(id: string): Promise<void>
  /** Default: kubelet's 10 MiB. */
  sizeLimit?: number
}

/** Rotates logs that have grown too large: the file is renamed to FILE.1, and FILE.1 to FILE.2. */
export class LogRotation {
  readonly #o: LogRotationOptions
  #cancel = () => {}
  #isStopped = false

  constructor(options: LogRotationOptions) {
    this.#o = options
  }

  start(): void {
    this.#cancel = this.#o.clock.after(lookMs, () => void this.look().then(() => this.#isStopped || this.start()))
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel()
  }

  /** Checks all logs once. */
  async look(): Promise<void> {
    const { running, reopen, logger, sizeLimit = mostBytes } = this.#o
    for (const [id, file] of running()) {
      try {
        const { size } = await stat(file)
        if (size <= sizeLimit) continue
        await shift(file)
        await reopen(id)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
          logger.warn('failed to rotate a log', { id, file, error })
      }
    }
  }
}

async function shift(file: string): Promise<void> {
  const older = (n: number) => (n === 0 ? file : `${file}.${n}`)
  for (let n = mostFiles - 2; n >= 0; n--) {
    await rename(older(n), older(n + 1)).catch((e: unknown) => {
      if (n === 0 || (e as NodeJS.ErrnoException).code !== 'ENOENT') throw e
    })
  }
}
