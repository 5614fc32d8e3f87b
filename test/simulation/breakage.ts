import type { KubeObject } from '../../src/api/object.ts'
import { LagMeter } from '../../src/client/cache/lag.ts'
import { ObjectCache } from '../../src/client/cache/object-cache.ts'
import { Client, ConsistencyStore, LeaderElector } from '../../src/client/index.ts'
import { Leadership } from '../../src/client/leadership/index.ts'
import { UnsettledWrites } from '../../src/controllers/kit/writes/unsettled.ts'
import { ObjectStore } from '../../src/server/objects/object-store.ts'
import { deluded, delusions } from './claim-breakages.ts'
import { distortions, planted } from './condition-breakages.ts'
import { StorageNodes } from './scenarios/storage-nodes.ts'

/** Undoes it. */
type Mend = () => void

/** Parts that can be broken on purpose, for everybody in this process. */
const parts = {
  /** Every cache is thought to have every write. */
  'consistency-store': (): Mend => replace(ConsistencyStore.prototype, 'wroteAt', () => true),

  /** Writes that were not answered are forgotten. */
  expectations: (): Mend => replace(UnsettledWrites.prototype, 'add', () => {}),

  /** A create that has failed is repeated under another name. */
  'names-again': (): Mend => replace(UnsettledWrites.prototype, 'takeName', () => undefined),

  /** Whatever object has a name is deleted. */
  'delete-uid': (): Mend => {
    const remove = Client.prototype.delete
    const careless: typeof remove = function careless(this: Client, type, namespace, name, options = {}) {
      const { uid: _, ...rest } = options
      return remove.call(this, type, namespace, name, rest) as never
    }
    return replace(Client.prototype, 'delete', careless)
  },

  /** A new leader takes any list for the newest. */
  'first-list': (): Mend => replace(LeaderElector.prototype, 'lastWritten', () => ''),

  /** Of several servers, one that is behind answers at once. */
  'server-behind': (): Mend => replace(ObjectStore.prototype, 'catchUp', async () => {}),

  /** Whoever is behind says that all is well. */
  readiness: (): Mend => replace(LagMeter.prototype, 'problem', () => undefined),

  /** Whoever leads goes by its timer alone: one that wakes up does not look at the clock before it writes. */
  'leader-fence': (): Mend => replace(Leadership.prototype, 'isLeader', () => true),

  /** Every event is taken in after the one behind it. */
  'informer-order': (): Mend => {
    const held = new WeakMap<object, Parameters<ObjectCache<KubeObject>['apply']>>()
    const { apply } = ObjectCache.prototype
    return replace(ObjectCache.prototype, 'apply', function late(this: ObjectCache<KubeObject>, ...event) {
      const before = held.get(this)
      held.set(this, event)
      return before ? apply.call(this, ...before) : []
    })
  },
}

type Bug = keyof typeof distortions

/** What controllers can be made to say on purpose. */
const bugs = Object.fromEntries(
  Object.entries(distortions).map(([name, bug]) => [name, (): Mend => replace(planted, 'bug', bug)]),
) as Record<Bug, () => Mend>

type Delusion = keyof typeof delusions

/** What claim recovery can be made to believe on purpose, and a node that does not wait for its marks. */
const losses = {
  ...(Object.fromEntries(Object.entries(delusions).map(([name, by]) => [name, (): Mend => replace(deluded, 'by', by)])) as Record<Delusion, () => Mend>),
  'claim-mark-not-written': (): Mend => replace(StorageNodes.prototype, 'mark', async () => {}),
}

/** All that can be broken, to see that the simulation notices. */
export const breakages = { ...parts, ...bugs, ...losses }

export type Breakage = keyof typeof breakages

function replace<T extends object, K extends keyof T>(target: T, name: K, value: T[K]): Mend {
  const before = target[name]
  target[name] = value
  return () => {
    target[name] = before
  }
}
