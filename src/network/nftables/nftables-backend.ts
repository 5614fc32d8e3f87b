import { spawn } from 'node:child_process'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { Route } from '../routes/routes.ts'
import type { ServiceBackend } from '../service-proxy.ts'
import { type RulesetOptions, rulesetOf } from './ruleset.ts'

export interface NftablesOptions extends RulesetOptions {
  clock: Clock
  logger: Logger
  /**
   * Lets packets of pods reach endpoints on the loopback interface, such as the API server of this machine. Called once,
   * after the rules that keep others out are in place. The returned function undoes it.
   */
  routeLoopback?: () => () => void
  /** The program and its first arguments. Default: `nft`. */
  command?: readonly string[]
}

/** The minimum and maximum back-off after the kernel has rejected the rules. */
const retry = { firstMs: 500, longestMs: 30_000 }

/** The time after which unchanged rules are written again, because another program may have removed them. */
const rewriteMs = 30_000

/**
 * Keeps nftables rules in sync with the routes of Services. Changes that arrive during a write are written together in
 * the next one.
 */
export class NftablesBackend implements ServiceBackend {
  readonly #options: NftablesOptions
  readonly #routes = new Map<string, readonly Route[]>()
  /**
   * The chains and sets of the table; undefined if its contents are unknown: before the first write, because a killed
   * process may have left rules, and after a rejected one, because another program may have removed them. The next write
   * then replaces the table.
   */
  #names: ReadonlySet<string> | undefined
  #isChanged = false
  #writing: Promise<void> | undefined
  #cancelRetry = () => {}
  #cancelRewrite = () => {}
  #stopLoopback: (() => void) | undefined
  #isClosed = false

  constructor(options: NftablesOptions) {
    this.#options = options
  }

  update(service: string, routes: readonly Route[]): void {
    if (routes.length === 0) this.#routes.delete(service)
    else this.#routes.set(service, routes)
    this.#startWrite()
  }

  /** Resolves when the rules of the last update are applied or rejected. */
  async settled(): Promise<void> {
    await this.#writing
  }

  /** Deletes the table. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelRetry()
    this.#cancelRewrite()
    await this.#writing
    const { logger } = this.#options
    // Before the rules that keep others out are removed.
    this.#stopLoopback?.()
    await this.#run(this.#removal).catch((error: unknown) =>
      logger.warn('failed to remove the rules of Services', { error }),
    )
  }

  get #removal(): string {
    const { table } = this.#options
    return `add table ip ${table}\ndelete table ip ${table}\n`
  }

  #startWrite(): void {
    this.#isChanged = true
    this.#cancelRewrite()
    this.#writing ??= this.#write()
  }

  async #write(): Promise<void> {
    const { clock, logger } = this.#options
    let delayMs = retry.firstMs
    // All updates of one turn of the event loop are written together.
    await Promise.resolve()
    while (this.#isChanged && !this.#isClosed) {
      this.#isChanged = false
      const { text, names } = rulesetOf([...this.#routes.values()].flat(), this.#options, this.#names)
      try {
        await this.#run(this.#names ? text : `${this.#removal}${text}`)
        this.#names = names
        if (this.#hasLoopbackEndpoint()) this.#stopLoopback ??= this.#options.routeLoopback?.()
        delayMs = retry.firstMs
      } catch (error) {
        logger.warn('failed to apply the rules of Services', { error, retryMs: delayMs })
        this.#names = undefined
        this.#isChanged = true
        await new Promise<void>((resolve) => {
          const cancel = clock.after(delayMs, resolve)
          this.#cancelRetry = () => {
            cancel()
            resolve()
          }
        })
        delayMs = Math.min(delayMs * 2, retry.longestMs)
      }
    }
    this.#writing = undefined
    if (!this.#isClosed) this.#cancelRewrite = clock.after(rewriteMs, () => this.#startWrite())
  }

  #hasLoopbackEndpoint(): boolean {
    const routes = [...this.#routes.values()].flat()
    return routes.some(({ internal }) => internal.some(({ address }) => address.startsWith('127.')))
  }

  #run(text: string): Promise<void> {
    const [program, ...args] = this.#options.command ?? ['nft']
    return new Promise((resolve, reject) => {
      const child = spawn(program!, [...args, '-f', '-'], { stdio: ['pipe', 'ignore', 'pipe'] })
      let said = ''
      child.stderr.on('data', (piece: Buffer) => (said += piece.toString()))
      child.once('error', reject)
      // The process may exit before it has read all input.
      child.stdin.on('error', () => {})
      child.once('close', (code) =>
        code === 0 ? resolve() : reject(new Error(`nft ended with ${code}: ${said.trim().slice(0, 2000)}`)),
      )
      child.stdin.end(text)
    })
  }
}
