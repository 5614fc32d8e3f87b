import { readFileSync } from 'node:fs'
import { type Clock, steadyOf } from '../../base/clock.ts'

/**
 * A small file that is used often and reread from time to time: tokens and certificates are replaced while the process
 * runs.
 */
export class WatchedFile {
  readonly #path: string
  readonly #what: string
  readonly #clock: Clock
  readonly #everyMs: number
  #content: string | undefined
  #readAtMs = 0

  /** `what` names the file in errors: `tokenFile of user "ci"`. */
  constructor(path: string, what: string, clock: Clock, everyMs: number) {
    this.#path = path
    this.#what = what
    this.#clock = steadyOf(clock)
    this.#everyMs = everyMs
  }

  /** Returns the content, no older than `everyMs`. The last content is used while the file cannot be read. */
  content(): string {
    const isFresh = this.#content !== undefined && this.#clock.now() - this.#readAtMs < this.#everyMs
    return isFresh ? this.#content! : this.reread()
  }

  /** Returns the current content. */
  reread(): string {
    this.#readAtMs = this.#clock.now()
    try {
      this.#content = readFileSync(this.#path, 'utf8')
    } catch (e) {
      // The file may be in the middle of being replaced.
      if (this.#content === undefined)
        throw new Error(`${this.#what} cannot be read: ${why(e, this.#path)}`, { cause: e })
    }
    return this.#content!
  }
}

function why(e: unknown, path: string): string {
  const { code, message } = e as NodeJS.ErrnoException
  if (code === 'ENOENT') return `${path} does not exist`
  if (code === 'EACCES') return `${path} may not be read`
  return message
}
