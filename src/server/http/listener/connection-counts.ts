/** The maximum numbers of open connections; 0 is unlimited. */
export interface ConnectionLimits {
  inAll: number
  perAddress: number
}

export const defaultConnectionLimits: ConnectionLimits = { inAll: 20_000, perAddress: 5000 }

/** One client may own a whole /64 of IPv6, so the rest of an address is ignored. */
const ownerOf = (address: string): string => {
  if (address.startsWith('::ffff:')) return address.slice(7)
  if (!address.includes(':')) return address
  const [head = '', tail] = address.split('::')
  const groups = head === '' ? [] : head.split(':')
  const last = tail ? tail.split(':') : []
  const all =
    tail === undefined
      ? groups
      : [...groups, ...Array<string>(Math.max(0, 8 - groups.length - last.length)).fill('0'), ...last]
  return all.slice(0, 4).join(':')
}

/** Counts connections by address. */
export class ConnectionCounts {
  readonly #limits: ConnectionLimits
  readonly #byOwner = new Map<string, number>()
  #all = 0

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
  }

  /** Counts a connection, or returns the reason to reject it. */
  add(address: string): string | undefined {
    const { inAll, perAddress } = this.#limits
    const owner = ownerOf(address)
    const own = this.#byOwner.get(owner) ?? 0
    if (inAll > 0 && this.#all >= inAll) return `${inAll} connections are open, which is the limit`
    if (perAddress > 0 && own >= perAddress)
      return `${perAddress} connections of this address are open, which is the limit`
    this.#all++
    this.#byOwner.set(owner, own + 1)
    return undefined
  }

  /** Counts the end of a connection. */
  remove(address: string): void {
    const owner = ownerOf(address)
    const own = this.#byOwner.get(owner) ?? 0
    this.#all--
    if (own > 1) this.#byOwner.set(owner, own - 1)
    else this.#byOwner.delete(owner)
  }

  /** The number of addresses with connections. */
  get owners(): number {
    return this.#byOwner.size
  }
}
