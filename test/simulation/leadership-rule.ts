import type { Lease } from '../../src/api/generated/types.ts'
import { type Call, describe, isElection, isWrite } from './call.ts'
import type { Invariant, Verdict } from './invariant.ts'
import { leaseKey } from './manager.ts'
import type { World } from './world.ts'

/**
 * Only the holder of the lease writes. No write is sent after its term, and none arrives while another process holds
 * the lease. It writes only when its caches contain all writes of earlier leaders.
 */
export function oneLeaderActs(): Invariant {
  let holder = ''
  /** The revision at which the holder acquired the lease. */
  let heldSince = 0
  let renewedAtMs = -Infinity
  let durationMs = 0
  let lastRenewTime: string | undefined
  const identityOf = (call: Call, world: World): string | undefined => {
    if (!world.profile.election || !isWrite(call) || isElection(call)) return undefined
    return world.lives.get(call.process)?.identity
  }
  return {
    name: 'at most one leader acts',
    changed({ plural, key, atMs, after, revision }, world): Verdict {
      if (plural !== 'leases' || key !== leaseKey) return undefined
      const { holderIdentity = '', leaseDurationSeconds = 0, renewTime } = (after as Lease | undefined)?.spec ?? {}
      if (holderIdentity !== holder) world.history.add('lease', holderIdentity ? `is held by ${holderIdentity}` : `is given up by ${holder}`)
      if (holderIdentity !== holder) heldSince = revision
      const isRenewed = holderIdentity !== holder || renewTime !== lastRenewTime
      holder = holderIdentity
      lastRenewTime = renewTime
      if (isRenewed) renewedAtMs = atMs
      durationMs = leaseDurationSeconds * 1000
      return undefined
    },
    sent(call, world): Verdict {
      const identity = identityOf(call, world)
      if (!identity) return undefined
      if (holder !== identity) return `${identity} sends ${describe(call)} though ${holder || 'nobody'} holds the lease`
      const lateMs = world.timeline.nowMs - renewedAtMs - durationMs
      const who = `${identity} sends ${describe(call)}`
      if (lateMs > 0) return `${who} ${(lateMs / 1000).toFixed(3)} s after its lease expired`
      const old = [...world.lives.get(call.process)!.caches].find((cache) => cache.isOlderThan(heldSince))?.informer
      return old && `${who}, elected at ${heldSince}, and its cache of ${old.name} is at ${old.lastSyncResourceVersion}`
    },
    arrived(call, world): Verdict {
      const identity = identityOf(call, world)
      return identity && holder !== identity ? `${describe(call)} of ${identity} reaches the server though ${holder || 'nobody'} holds the lease` : undefined
    },
  }
}
