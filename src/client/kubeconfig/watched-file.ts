import { readFileSync } from 'node:fs'
import type { Clock } from '../../base/clock.ts'

/** A small file whose content is used again and again, and read again once in a while: tokens and certificates are replaced while we run. */
export class WatchedFile {
  readonly #path: string
  readonly #what: string
  readonly #clock: Clock
  readonly #everyMs: number
  #content: string | undefined
  #readAtMs = 0

  /** `what` names it in errors: `tokenFile of user "ci"`. */
  constructor(path: string, what: string, clock: Clock, everyMs: number) {
    this.#path = path
    this.#what = what
    this.#clock = clock
    this.#everyMs = everyMs
  }

  /** The content, no older than it should be. The last one goes on being used while the file cannot be read. */
  content(): string {
    const isFresh = this.#content !== undefined && this.#clock.now() - this.#readAtMs < this.#everyMs
    return isFresh ? this.#content! : this.reread()
  }

  /** The content as it is now. */
  reread(): string {
    this.#readAtMs = this.#clock.now()
    try {
      this.#content = readFileSync(this.#path, 'utf8')
    } catch (e) {
      // It may be in the middle of being replaced.
      if (this.#content === undefined) throw new Error(`${this.#what} cannot be read: ${why(e, this.#path)}`, { cause: e })
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
