import type { Lease } from '../../../api/generated/types.ts'
import type { Clock } from '../../../base/clock.ts'
import { ObservedLease, type SharedInformer } from '../../../client/index.ts'

/** The lease of another manager that may run the same controller. */
export interface RivalLease {
  namespace: string
  name: string
}

/** The duration of a lease without `leaseDurationSeconds`, which is that of kube-controller-manager. */
const defaultDurationMs = 15_000

/** Tracks whether another manager holds its lease. While it does, this manager does not run the same controller. */
export class RivalWatch {
  readonly informer: SharedInformer<Lease>
  readonly #lease: RivalLease
  readonly #observed: ObservedLease
  readonly #listeners = new Set<() => void>()
  #stop = () => {}

  constructor(lease: RivalLease, informer: SharedInformer<Lease>, clock: Clock) {
    this.#lease = lease
    this.informer = informer
    this.#observed = new ObservedLease(clock, defaultDurationMs, () => this.#changed())
  }

  /** Starts to follow the lease. */
  start(): void {
    const see = (lease: Lease | undefined) => {
      const before = this.refusal()
      this.#observed.see(lease)
      if (this.refusal() !== before) this.#changed()
    }
    const unfollow = this.informer.addHandler({
      add: (lease) => see(lease),
      update: (_, lease) => see(lease),
      delete: () => see(undefined),
    })
    const unlisten = this.informer.onAbsence(() => this.#changed())
    this.#stop = () => {
      unfollow()
      unlisten()
    }
  }

  stop(): void {
    this.#stop()
    this.#observed.close()
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener)
  }

  /** The reason why the controller does not run here. Undefined while no other manager may run it. */
  refusal(): string | undefined {
    const lease = `${this.#lease.namespace}/${this.#lease.name}`
    if (this.informer.absence) return `failed to read the lease ${lease}: ${this.informer.absence.message}`
    if (this.#observed.isFreeFor('')) return undefined
    return `the lease ${lease} is held by ${this.#observed.holder || 'somebody'}, who may run it`
  }

  #changed(): void {
    for (const listener of this.#listeners) listener()
  }
}
