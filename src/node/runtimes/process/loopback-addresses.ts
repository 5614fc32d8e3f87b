import { createHash } from 'node:crypto'
import { SandboxNetworkError } from '../../runtime/runtime.ts'

const size = 256 * 254

/**
 * Assigns each pod an address in 127.x/16, so that ports of pods do not conflict. On Linux all of these addresses are
 * local.
 */
export class LoopbackAddresses {
  readonly #prefix: string
  readonly #taken = new Set<string>()
  #next = 0

  /** `prefix` has the first two parts, for example `127.5`. */
  constructor(prefix: string) {
    this.#prefix = prefix
  }

  /** Returns the next free address after the last one, so that a released address is not reused at once. */
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

  /** Reserves the address of a pod that exists already. */
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
 * An address range for the runtime of a directory, derived from its path so that two runtimes rarely share one. 127.0
 * is used by services of the machine, 127.128 and above by cluster IPs.
 */
export function addressPrefixFor(directory: string): string {
  return `127.${1 + (createHash('sha256').update(directory).digest()[0]! % 127)}`
}
