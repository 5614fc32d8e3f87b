import type { Pod } from '../../api/generated/types.ts'
import { type Amounts, addAmounts, amountsOf, noAmounts } from '../../api/kinds/quantities/counted-amounts.ts'
import { type HostPort, hostPortsOf, portsConflict } from '../../api/kinds/pods/host-ports.ts'
import { podRequests } from '../../api/kinds/pods/pod-resources.ts'
import { quantityToNumber } from '../../api/numbers/quantity.ts'

/** A resource with too little left, in its own unit: millicores, bytes, or a number. */
interface Shortage {
  resource: string
  requested: number
  used: number
  capacity: number
}

interface Place {
  amounts: Amounts
  ports: readonly HostPort[]
}

/** The resources that the pods of a node have requested. */
export class Room {
  readonly #allocatable: Amounts
  readonly #mostPods: number
  readonly #taken = noAmounts()
  readonly #places = new Map<string, Place>()

  constructor(allocatable: Readonly<Record<string, string>>) {
    this.#allocatable = amountsOf(allocatable)
    this.#mostPods = quantityToNumber(allocatable['pods'] ?? '0')
  }

  /** A pod that is already counted stays counted. */
  take(pod: Pod): void {
    const uid = pod.metadata.uid!
    if (this.#places.has(uid)) return
    const amounts = amountsOf(podRequests(pod))
    addAmounts(this.#taken, amounts, 1)
    this.#places.set(uid, { amounts, ports: hostPortsOf(pod) })
  }

  leave(uid: string): void {
    const place = this.#places.get(uid)
    if (!place) return
    addAmounts(this.#taken, place.amounts, -1)
    this.#places.delete(uid)
  }

  /**
   * The first resource with too little left for one more pod; the number of pods is checked first. A resource that the
   * node does not report is unlimited.
   */
  shortage(pod: Pod): Shortage | undefined {
    const { size } = this.#places
    if (size + 1 > this.#mostPods) return { resource: 'pods', requested: 1, used: size, capacity: this.#mostPods }
    const wanted = amountsOf(podRequests(pod))
    const [all, taken] = [this.#allocatable, this.#taken]
    const rest = [...(wanted.others ?? [])].flatMap(([name, amount]): [string, number, number, number][] => {
      const capacity = all.others?.get(name)
      return capacity === undefined ? [] : [[name, amount, taken.others?.get(name) ?? 0, capacity]]
    })
    const lines: [string, number, number, number][] = [
      ['cpu', wanted.cpu, taken.cpu, all.cpu],
      ['memory', wanted.memory, taken.memory, all.memory],
      ['ephemeral-storage', wanted.storage, taken.storage, all.storage],
      ...rest,
    ]
    const short = lines.find(([, requested, used, capacity]) => requested > 0 && requested > capacity - used)
    return short && { resource: short[0], requested: short[1], used: short[2], capacity: short[3] }
  }

  /** True if another pod uses a host port of this pod. */
  hasPortConflict(pod: Pod): boolean {
    const wanted = hostPortsOf(pod)
    if (wanted.length === 0) return false
    for (const { ports } of this.#places.values()) if (portsConflict(wanted, ports)) return true
    return false
  }
}
