import type { Pod } from '../../../api/generated/types.ts'

/** What a workload has read of one of its pods. */
export interface KnownMember {
  pod: Pod
  isReady: boolean
  isAvailable: boolean
}

/** How many that have gone since are skipped to find the next. */
const reach = 8

/** What an earlier look read of a workload's pods, for those that are still the same object. Caches keep their order, so that both lists are gone through side by side. */
export class KnownMembers<Member extends KnownMember> {
  readonly #members: readonly Member[]
  #at = 0

  constructor(members: readonly Member[]) {
    this.#members = members
  }

  /** What is known of the next pod of the cache. */
  next(pod: Pod): Member | undefined {
    const members = this.#members
    const end = Math.min(this.#at + reach, members.length)
    for (let i = this.#at; i < end; i++) {
      const known = members[i]!
      if (known.pod === pod) {
        this.#at = i + 1
        // One that is ready becomes available by itself.
        return known.isReady === known.isAvailable ? known : undefined
      }
      if (known.pod.metadata.name === pod.metadata.name) {
        this.#at = i + 1
        return undefined
      }
    }
    return undefined
  }
}
