import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import type { ClusterAccess } from '../../client/index.ts'
import type { Viewer } from './viewer.ts'

interface Session {
  viewer: Viewer
  usedMs: number
}

/** A session ends when it has not been used for so long. */
const idleMs = 12 * 3_600_000
const mostSessions = 200

const newSecret = (): string => randomBytes(24).toString('base64url')

/** Compares secrets in a time that tells nothing about them. */
function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/**
 * The sessions of browsers. A link with a key opens one, once, as the identity that printed it; a bearer token opens one
 * as its own user. All are kept in memory: they end with the process.
 */
export class Sessions {
  readonly #clock: Clock
  readonly #own: () => Promise<ClusterAccess>
  readonly #viewerOf: (access: ClusterAccess) => Promise<Viewer>
  readonly #sessions = new Map<string, Session>()
  #key: string | undefined

  constructor(own: () => Promise<ClusterAccess>, clock: Clock, viewerOf: (access: ClusterAccess) => Promise<Viewer>) {
    this.#own = own
    this.#clock = clock
    this.#viewerOf = viewerOf
  }

  /** A new key for one login. The key before it is void. */
  newKey(): string {
    return (this.#key = newSecret())
  }

  /** Uses up the key, and answers the id of a new session; undefined for a key that is wrong or used. */
  async openByKey(key: string): Promise<string | undefined> {
    if (this.#key === undefined || !isSame(key, this.#key)) return undefined
    this.#key = undefined
    return this.open(await this.#own())
  }

  /** Opens a session of whoever the API server says this is, or rejects with its refusal. */
  async open(access: ClusterAccess): Promise<string> {
    const viewer = await this.#viewerOf(access)
    this.#sweep()
    const id = newSecret()
    this.#sessions.set(id, { viewer, usedMs: this.#clock.now() })
    return id
  }

  /** The viewer of a session; undefined where it has ended. */
  viewer(id: string): Viewer | undefined {
    const session = this.#sessions.get(id)
    if (!session || this.#clock.now() - session.usedMs > idleMs) return undefined
    session.usedMs = this.#clock.now()
    return session.viewer
  }

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
