import type { Invariant } from './invariant.ts'
import { describe, isElection, isWrite, keyOfCall } from './call.ts'
import { readsAreFresh } from './fresh-reads-rule.ts'
import { oneLeaderActs } from './leadership-rule.ts'
import { behindIsTold } from './readiness-rule.ts'
import { deletesNameTheirObject, namesAreUsedAgain } from './write-rules.ts'

/** A check of all caches costs more than a step. */
const checkCachesEvery = 25

/** A cache has the state of the version that it reports. */
const cachesAreTrue = (): Invariant => ({
  name: 'a cache never goes back in time',
  afterStep(world) {
    if (world.steps % checkCachesEvery !== 0) return undefined
    for (const { life } of world.managers) for (const cache of life?.caches ?? []) cache.check()
    return undefined
  },
  unfinished(world) {
    const leader = world.managers.find((m) => m.life?.manager.isActive)
    if (!leader) return 'nobody leads'
    // A cache that is not filled yet may be filled with newer objects.
    if (leader.life!.manager.role.kind !== 'acting') return `${leader.name} has not begun`
    for (const cache of leader.life!.caches) {
      const verdict = cache.behind()
      if (verdict) return verdict
    }
    return undefined
  },
})

/** An acknowledged write is on disk, whatever happens to the server. */
const nothingIsLost = (): Invariant => ({
  name: 'what was acknowledged is kept',
  answered(call, world) {
    const { outcome, told } = call
    if (!isWrite(call) || told !== 'the truth' || !outcome || outcome.error) return undefined
    const { resourceVersion, name } = outcome.object.metadata ?? {}
    const key = keyOfCall({ namespace: call.namespace, name: call.name || name || '' })
    if (call.method === 'DELETE') {
      const uid = (outcome.object as { details?: { uid?: string } }).details?.uid ?? outcome.object.metadata.uid
      const isMarked = world.truth.changesOf(call.plural, key).some((c) => c.before?.metadata.uid === uid && (!c.after || c.after.metadata.deletionTimestamp))
      return isMarked ? undefined : `${describe(call)} was acknowledged, and nothing of it is on the disk`
    }
    // The response to a binding has no version.
    if (call.subresource === 'binding') return undefined
    const change = world.truth.change(Number(resourceVersion))
    // The removal of the last finalizer removes a terminating object.
    const isRemoved = outcome.object.metadata.deletionTimestamp && !world.truth.get(call.plural, key)
    return isRemoved || (change?.key === key && change.plural === call.plural) ? undefined : `${describe(call)} was acknowledged at ${resourceVersion}, where the disk has ${change ? `${change.plural}/${change.key}` : 'nothing'}`
  },
})

/** An idle cluster writes nothing. */
const idlenessIsQuiet = (): Invariant => ({
  name: 'an idle cluster writes nothing',
  sent(call, world) {
    return world.isIdle && isWrite(call) && !isElection(call) ? `${call.process.name} sends ${describe(call)}` : undefined
  },
})

/** Rules that hold for all controllers. */
export const commonRules = (): Invariant[] => [
  oneLeaderActs(),
  cachesAreTrue(),
  nothingIsLost(),
  deletesNameTheirObject(),
  namesAreUsedAgain(),
  behindIsTold(),
  idlenessIsQuiet(),
  readsAreFresh(),
]
