import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import type { ClusterAccess } from '../../client/index.ts'
import type { Viewer } from './viewer.ts'

interface Session {
  viewer: Viewer
  usedMs: number
}

/** A session expires after this time without requests. */
const idleMs = 12 * 3_600_000
const mostSessions = 200

const newSecret = (): string => randomBytes(24).toString('base64url')

/** Compares secrets in constant time. */
function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/**
 * Browser sessions. A link with a key opens one, once, with the identity that printed it; a bearer token opens one for
 * its own user. Sessions are kept in memory only.
 */
export class Sessions {
  readonly #clock: Clock
  readonly #own: () => Promise<ClusterAccess>
  readonly #viewerOf: (access: ClusterAccess) => Promise<Viewer>
  readonly #sessions = new Map<string, Session>()
  #key: string | undefined
  /** The key of a login that has begun. */
  #keyInUse: string | undefined

  constructor(own: () => Promise<ClusterAccess>, clock: Clock, viewerOf: (access: ClusterAccess) => Promise<Viewer>) {
    this.#own = own
    this.#clock = clock
    this.#viewerOf = viewerOf
  }

  /** Returns a new key for one login. The previous key becomes invalid. */
  newKey(): string {
    this.#keyInUse = undefined
    return (this.#key = newSecret())
  }

  /**
   * Consumes the key and returns the id of a new session; undefined if the key is wrong or used. A login that fails
   * leaves the key valid, unless a newer one has been made.
   */
  async openByKey(key: string): Promise<string | undefined> {
    if (this.#key === undefined || !isSame(key, this.#key)) return undefined
    this.#key = undefined
    this.#keyInUse = key
    try {
      return await this.open(await this.#own())
    } catch (e) {
      if (this.#keyInUse === key) this.#key = key
      throw e
    }
  }

  /** Opens a session for the user as identified by the API server; rejects with its error. */
  async open(access: ClusterAccess): Promise<string> {
    const viewer = await this.#viewerOf(access)
    this.#sweep()
    const id = newSecret()
    this.#sessions.set(id, { viewer, usedMs: this.#clock.now() })
    viewer.ended.addEventListener('abort', () => void this.close(id), { once: true })
    return id
  }

  /** Returns the viewer of a session; undefined if it has ended. */
  viewer(id: string): Viewer | undefined {
    const session = this.#sessions.get(id)
    if (!session || this.#clock.now() - session.usedMs > idleMs) return undefined
    session.usedMs = this.#clock.now()
    return session.viewer
  }

  /** Ends a session. Its streams and shells end with its viewer. */
  async close(id: string): Promise<void> {
    const session = this.#sessions.get(id)
    this.#sessions.delete(id)
    await session?.viewer.close()
  }

  async closeAll(): Promise<void> {
    for (const id of this.#sessions.keys()) await this.close(id)
  }

  #sweep(): void {
    const nowMs = this.#clock.now()
    for (const [id, { usedMs }] of this.#sessions) if (nowMs - usedMs > idleMs) void this.close(id)
    const [oldest] = this.#sessions.keys()
    if (this.#sessions.size >= mostSessions && oldest !== undefined) void this.close(oldest)
  }
}
