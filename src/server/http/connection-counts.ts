/** How many connections may be open; 0 is no limit. */
export interface ConnectionLimits {
  inAll: number
  perAddress: number
}

export const defaultConnectionLimits: ConnectionLimits = { inAll: 20_000, perAddress: 5000 }

/** The part of an address that one client can change at will does not count: it may own a whole /64 of IPv6. */
const ownerOf = (address: string): string => {
  if (address.startsWith('::ffff:')) return address.slice(7)
  if (!address.includes(':')) return address
  const [head = '', tail] = address.split('::')
  const groups = head === '' ? [] : head.split(':')
  const last = tail ? tail.split(':') : []
  const all = tail === undefined ? groups : [...groups, ...Array<string>(Math.max(0, 8 - groups.length - last.length)).fill('0'), ...last]
  return all.slice(0, 4).join(':')
}

/** Counts the connections of each address. */
export class ConnectionCounts {
  readonly #limits: ConnectionLimits
  readonly #byOwner = new Map<string, number>()
  #all = 0

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
  }

  /** Counts one more, or says why it may not be. */
  add(address: string): string | undefined {
    const { inAll, perAddress } = this.#limits
    const owner = ownerOf(address)
    const own = this.#byOwner.get(owner) ?? 0
    if (inAll > 0 && this.#all >= inAll) return `${inAll} connections are open, which is the limit`
    if (perAddress > 0 && own >= perAddress) return `${perAddress} connections of this address are open, which is the limit`
    this.#all++
    this.#byOwner.set(owner, own + 1)
    return undefined
  }

  /** One that was counted has ended. */
  remove(address: string): void {
    const owner = ownerOf(address)
    const own = this.#byOwner.get(owner) ?? 0
    this.#all--
    if (own > 1) this.#byOwner.set(owner, own - 1)
    else this.#byOwner.delete(owner)
  }

  /** Addresses that are remembered. */
  get owners(): number {
    return this.#byOwner.size
  }
}
