import { createHash } from 'node:crypto'
import { SandboxNetworkError } from '../../runtime/runtime.ts'

const size = 256 * 254

/**
 * Gives every pod an address of its own in 127.x/16: on Linux all of them are this machine's, so that ports of pods do
 * not collide.
 */
export class LoopbackAddresses {
  readonly #prefix: string
  readonly #taken = new Set<string>()
  #next = 0

  /** `prefix` is the first two parts. */
  constructor(prefix: string) {
    this.#prefix = prefix
  }

  /** The one after that which was handed out last: an address that was just given back is not the next pod's. */
  take(): string {
    if (process.platform !== 'linux') return '127.0.0.1'
    for (let tried = 0; tried < size; tried++) {
      const address = `${this.#prefix}.${Math.floor(this.#next / 254)}.${(this.#next % 254) + 1}`
      this.#next = (this.#next + 1) % size
      if (this.#taken.has(address)) continue
      this.#taken.add(address)
      return address
    }
    throw new SandboxNetworkError(`no addresses are left in ${this.#prefix}.0.0/16`)
  }

  /** One that a pod has from before. */
  keep(address: string): void {
    this.#taken.add(address)
    const [, , third, fourth] = address.split('.').map(Number)
    if (address.startsWith(`${this.#prefix}.`)) this.#next = Math.max(this.#next, (third! * 254 + fourth!) % size)
  }

  giveBack(address: string): void {
    this.#taken.delete(address)
  }
}

/**
 * A range for the runtime of a directory, so that two on one machine rarely share one. 127.0 belongs to the machine's
 * own services, 127.128 and above to the cluster IPs of Services.
 */
export function addressPrefixFor(directory: string): string {
  return `127.${1 + (createHash('sha256').update(directory).digest()[0]! % 127)}`
}
