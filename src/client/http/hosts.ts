import { ApiError } from '../../api/errors.ts'
import type { ClusterAccess } from '../transport/access.ts'
import { TransportError } from '../transport/transport.ts'
import type { Host } from './attempt.ts'

/** Returns true for a failure that another server of the cluster might not have: no response, or unavailable. */
export const isOfServer = (error: unknown): boolean =>
  error instanceof TransportError || (error instanceof ApiError && (error.code === 503 || error.code === 504))

/** The servers of one cluster. Requests go to one of them until it fails, and then to the next. */
export class Hosts {
  readonly #access: ClusterAccess
  readonly #make: (server: URL) => Host
  readonly #made = new Map<string, Host>()
  #current: URL

  constructor(access: ClusterAccess, make: (server: URL) => Host) {
    this.#access = access
    this.#make = make
    this.#current = access.server
  }

  /** The currently known servers. */
  get #servers(): readonly URL[] {
    const { server, otherServers } = this.#access
    const others = otherServers?.() ?? []
    return [server, ...others.filter(({ href }) => href !== server.href)]
  }

  get count(): number {
    return this.#servers.length
  }

  /** The current server. */
  get current(): Host {
    const { href } = this.#current
    let host = this.#made.get(href)
    if (!host) this.#made.set(href, (host = this.#make(this.#current)))
    return host
  }

  /** Switches to the next server, unless another caller has already left this one. */
  leave(failed: Host): void {
    if (this.current !== failed) return
    const servers = this.#servers
    const at = servers.findIndex(({ href }) => href === this.#current.href)
    this.#current = servers[(at + 1) % servers.length]!
    this.#forgetGone(servers)
  }

  /** Closes the connections to servers that are no longer part of the cluster. */
  #forgetGone(servers: readonly URL[]): void {
    for (const [href, { connections }] of this.#made) {
      if (servers.some((server) => server.href === href)) continue
      this.#made.delete(href)
      void connections.close()
    }
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#made.values(), ({ connections }) => connections.close()))
  }
}
