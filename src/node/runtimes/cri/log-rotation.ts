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

/**
 * Rotates logs that have grown too large: the file is renamed to FILE.1, and FILE.1 to FILE.2. If the runtime does not
 * reopen the log, the files get their names back, because the runtime still writes to the old file.
 */
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
    for (const [id, file] of this.#o.running()) {
      try {
        await this.#rotate(id, file)
      } catch (error) {
        this.#o.logger.warn('failed to rotate a log', { id, file, error })
      }
    }
  }

  async #rotate(id: string, file: string): Promise<void> {
    const { reopen, sizeLimit = mostBytes } = this.#o
    const size = await sizeOf(file)
    // An agent that was killed between the two steps of a rotation has left FILE.1 alone.
    if (size === undefined) return (await sizeOf(`${file}.1`)) === undefined ? undefined : reopen(id)
    if (size <= sizeLimit) return
    await shift(file)
    try {
      await reopen(id)
    } catch (e) {
      // A new file shows that the runtime has reopened the log, whatever it reports.
      if ((await sizeOf(file)) === undefined) await shiftBack(file)
      throw e
    }
  }
}

/** Undefined if there is no such file. */
const sizeOf = (file: string): Promise<number | undefined> =>
  stat(file).then(
    ({ size }) => size,
    (e: NodeJS.ErrnoException) => {
      if (e.code === 'ENOENT') return undefined
      throw e
    },
  )

const older = (file: string, n: number): string => (n === 0 ? file : `${file}.${n}`)

async function shift(file: string): Promise<void> {
  for (let n = mostFiles - 2; n >= 0; n--)
    await rename(older(file, n), older(file, n + 1)).catch(n === 0 ? rethrow : unlessMissing)
}

async function shiftBack(file: string): Promise<void> {
  for (let n = 0; n <= mostFiles - 2; n++) await rename(older(file, n + 1), older(file, n)).catch(unlessMissing)
}

const rethrow = (error: unknown): never => {
  throw error
}
const unlessMissing = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'ENOENT') throw error
}
