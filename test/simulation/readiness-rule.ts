import { type SharedInformer, defaultLagLimits } from '../../src/client/index.ts'
import { isFree } from '../../src/controllers/kit/index.ts'
import { isWrite } from './call.ts'
import type { Invariant, Verdict } from './invariant.ts'
import type { ManagerLife } from './manager.ts'
import { heardBy } from './watch-link.ts'
import type { World } from './world.ts'

/** To ask costs more than a step does. */
const askEvery = 25
/** A second more than the limit: times are rounded. */
const limitMs = defaultLagLimits.unseenWriteSeconds * 1000 + 1000

/** A watch that is well is not silent for so long: bookmarks come every minute. */
const bookmarkMs = 70_000

/** A write of a manager that was answered, and the cache that is to have it. */
interface Written {
  informer: SharedInformer
  revision: number
  /** By the manager's own clock. */
  atMs: number
}

const isOpen = ({ informer, revision }: Written): boolean =>
  informer.state.kind !== 'Stopped' && Number(informer.lastSyncResourceVersion) < revision

/** A manager whose caches have not seen one of its own writes for too long is not ready; once all is well, it is. */
export const behindIsTold = (): Invariant => {
  const written = new Map<ManagerLife, Written[]>()
  /** Controllers that are no loop over owners do not say what they write. A clock that is set does not say when. */
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
      // One that is gone with its last finalizer is answered with an old version.
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
      // A watch that was frozen or broken leaves a kind silent. Once it is replaced, the next one speaks within a minute.
      const isSilent = ([plural, atMs]: [string, number]) => plural !== 'leases' && world.timeline.nowMs - atMs > bookmarkMs
      const silent = world.isIdle ? undefined : [...heardBy(leader.process)].find(isSilent)
      if (silent) return `nothing was heard of ${silent[0]} for long`
      return leader.manager.problems()[0]
    },
  }
}
