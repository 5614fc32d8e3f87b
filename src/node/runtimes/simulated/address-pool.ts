import { SandboxNetworkError } from '../../runtime/runtime.ts'

const first = 2
const last = 254

/** Assigns the addresses of a small network, the least recently released one first. */
export class AddressPool {
  readonly #subnet: string
  readonly #taken = new Map<string, string>()
  #next = first
  #free: string[] = []

  /** `subnet` has the first three parts, for example `10.244.7`. */
  constructor(subnet: string) {
    this.#subnet = subnet
  }

  take(owner: string): string {
    const address = this.#next <= last ? `${this.#subnet}.${this.#next++}` : this.#free.shift()
    if (address === undefined) {
      const range = `${this.#subnet}.${first}-${this.#subnet}.${last}`
      throw new SandboxNetworkError(`failed to allocate for range 0: no IP addresses available in range set: ${range}`)
    }
    this.#taken.set(owner, address)
    return address
  }

  giveBack(owner: string): void {
    const address = this.#taken.get(owner)
    if (address === undefined) return
    this.#taken.delete(owner)
    this.#free.push(address)
  }

  clear(): void {
    this.#taken.clear()
    this.#free = []
    this.#next = first
  }
}
