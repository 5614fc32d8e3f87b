import { type SharedInformer, defaultLagLimits } from '../../src/client/index.ts'
import { isFree } from '../../src/controllers/kit/index.ts'
import { isWrite } from './call.ts'
import type { Invariant, Verdict } from './invariant.ts'
import type { ManagerLife } from './manager.ts'
import { heardBy } from './watch-link.ts'
import type { World } from './world.ts'

/** A check costs more than a step. */
const askEvery = 25
/** One second more than the limit, because times are rounded. */
const limitMs = defaultLagLimits.unseenWriteSeconds * 1000 + 1000

/** A healthy watch is not silent for this time: bookmarks arrive every minute. */
const bookmarkMs = 70_000

/** An acknowledged write of a manager, and the cache that must contain it. */
interface Written {
  informer: SharedInformer
  revision: number
  /** The time by the manager's own clock. */
  atMs: number
}

const isOpen = ({ informer, revision }: Written): boolean =>
  informer.state.kind !== 'Stopped' && Number(informer.lastSyncResourceVersion) < revision

/** A manager whose caches have not seen one of its own writes for too long is not ready. In the end it is ready. */
export const behindIsTold = (): Invariant => {
  const written = new Map<ManagerLife, Written[]>()
  /** Free controllers do not report their writes. With a changed clock the time is unknown. */
  const canTell = ({ controllers, profile }: World): boolean =>
    !profile.world.jumpManagerClock && !controllers.some((c) => c.controllers().some(isFree))
  const unseenOf = (life: ManagerLife): Written[] => {
    const left = (written.get(life) ?? []).filter(isOpen)
    written.set(life, left)
    return left
  }
  return {
    name: 'a manager whose caches are behind is not ready',
    answered(call, world): Verdict {
      const life = world.lives.get(call.process)
      const isDone = call.told === 'the truth' && isWrite(call) && call.method !== 'DELETE'
      const version = isDone && call.outcome?.object?.metadata?.resourceVersion
      const informer = life && [...life.caches].find((cache) => cache.informer.type.plural === call.plural)?.informer
      if (!version || !informer) return undefined
      const write: Written = { informer, revision: Number(version), atMs: call.process.clock.now() }
      // The response to the removal of the last finalizer has an old version.
      if (isOpen(write)) written.set(life, [...unseenOf(life), write])
      return undefined
    },
    afterStep(world): Verdict {
      if (world.steps % askEvery !== 0 || !canTell(world)) return undefined
      for (const { life } of world.managers) {
        const late = life && unseenOf(life).find(({ atMs }) => life.process.clock.now() - atMs > limitMs)
        if (!late || life.manager.problems().length > 0) continue
        const { type, lastSyncResourceVersion } = late.informer
        const cache = `cache of ${type.plural} is at ${lastSyncResourceVersion}`
        return `${life.identity} says that it is ready, and its ${cache}, though it wrote ${late.revision} long ago`
      }
      return undefined
    },
    unfinished(world): Verdict {
      const leader = world.managers.find((m) => m.life?.manager.isActive)?.life
      if (!leader) return undefined
      const watches = [...world.network.watches].filter((watch) => watch.process === leader.process)
      const frozen = watches.find(({ isFrozen }) => isFrozen)
      if (frozen) return `the watch of ${frozen.plural} is frozen, and nobody has noticed`
      // After a frozen or broken watch a kind is silent. Its replacement delivers an event within a minute.
      const isSilent = ([plural, atMs]: [string, number]) => plural !== 'leases' && world.timeline.nowMs - atMs > bookmarkMs
      const silent = world.isIdle ? undefined : [...heardBy(leader.process)].find(isSilent)
      if (silent) return `nothing was heard of ${silent[0]} for long`
      return leader.manager.problems()[0]
    },
  }
}
