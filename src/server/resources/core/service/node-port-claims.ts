import type { Store } from '../../../../store/index.ts'

/** The Service that owns a node port. */
export interface PortOwner {
  namespace: string
  name: string
  uid: string
}

/** A stored claim of a node port. */
export interface PortClaim {
  port: number
  owner: PortOwner
  /** The store revision of the claim. */
  revision: number
}

/** No resource uses this prefix, so the API does not expose claims. */
const prefix = '/registry/coxswain.io/node-ports/'

/**
 * Claims of node ports in a store that several servers share. Writing a port's key claims the port, so only one of two
 * servers succeeds. A claim is released by its revision, so that a newer claim of the port is not released.
 */
export class NodePortClaims {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** Claims a port. Resolves with undefined if another Service has it. */
  async take(port: number, owner: PortOwner): Promise<PortClaim | undefined> {
    const key = prefix + port
    const value = () => Buffer.from(JSON.stringify(owner))
    const made = await this.#store.write({ key, expected: 0, value: value() })
    if (made.ok) return { port, owner, revision: made.revision }
    if (!made.current || ownerOf(made.current.value).uid !== owner.uid) return undefined
    // The Service had the port before. A new revision protects the claim from a pending release of the old one.
    const again = await this.#store.write({ key, expected: made.current.revision, value: value() })
    return again.ok ? { port, owner, revision: again.revision } : undefined
  }

  /** Releases a claim unless the port was claimed again. */
  async release({ port, revision }: PortClaim): Promise<void> {
    await this.#store.write({ key: prefix + port, expected: revision, value: undefined })
  }

  /** Releases a Service's claim of a port made before a revision. */
  async releaseOf(port: number, uid: string, before: number): Promise<void> {
    const stored = await this.#store.get(prefix + port)
    if (!stored || stored.revision >= before || ownerOf(stored.value).uid !== uid) return
    await this.release({ port, owner: ownerOf(stored.value), revision: stored.revision })
  }

  /** All claims, with the revision at which they were read. */
  async all(): Promise<{ claims: PortClaim[]; revision: number }> {
    const { items, revision } = await this.#store.range(prefix)
    const claims = items.map((item) => ({
      port: Number(item.key.slice(prefix.length)),
      owner: ownerOf(item.value),
      revision: item.revision,
    }))
    return { claims, revision }
  }
}

const ownerOf = (value: Buffer): PortOwner => JSON.parse(value.toString()) as PortOwner
