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

/** Restores the part. */
type Mend = () => void

/** Parts that can be broken deliberately, for all managers in this process. */
const parts = {
  /** Every cache counts as having every write. */
  'consistency-store': (): Mend => replace(ConsistencyStore.prototype, 'wroteAt', () => true),

  /** Writes without a response are forgotten. */
  expectations: (): Mend => replace(UnsettledWrites.prototype, 'add', () => {}),

  /** A failed create is repeated with another name. */
  'names-again': (): Mend => replace(UnsettledWrites.prototype, 'takeName', () => undefined),

  /** Deletes have no uid as a precondition. */
  'delete-uid': (): Mend => {
    const remove = Client.prototype.delete
    const careless: typeof remove = function careless(this: Client, type, namespace, name, options = {}) {
      const { uid: _, ...rest } = options
      return remove.call(this, type, namespace, name, rest) as never
    }
    return replace(Client.prototype, 'delete', careless)
  },

  /** A new leader accepts any list as the newest. */
  'first-list': (): Mend => replace(LeaderElector.prototype, 'lastWritten', () => ''),

  /** One of several servers responds before it has caught up. */
  'server-behind': (): Mend => replace(ObjectStore.prototype, 'catchUp', async () => {}),

  /** Managers with stale caches report that they are ready. */
  readiness: (): Mend => replace(LagMeter.prototype, 'problem', () => undefined),

  /** The leader relies on its timer alone: after a pause it writes without checking the clock. */
  'leader-fence': (): Mend => replace(Leadership.prototype, 'isLeader', () => true),

  /** Each event is applied after the one that follows it. */
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

/** Bugs that can be planted in the conditions of controllers. */
const bugs = Object.fromEntries(
  Object.entries(distortions).map(([name, bug]) => [name, (): Mend => replace(planted, 'bug', bug)]),
) as Record<Bug, () => Mend>

type Delusion = keyof typeof delusions

/** Bugs that can be planted in claim recovery, and a node that does not wait for its marks. */
const losses = {
  ...(Object.fromEntries(Object.entries(delusions).map(([name, by]) => [name, (): Mend => replace(deluded, 'by', by)])) as Record<Delusion, () => Mend>),
  'claim-mark-not-written': (): Mend => replace(StorageNodes.prototype, 'mark', async () => {}),
}

/** Everything that can be broken, to test that the simulation detects it. */
export const breakages = { ...parts, ...bugs, ...losses }

export type Breakage = keyof typeof breakages

function replace<T extends object, K extends keyof T>(target: T, name: K, value: T[K]): Mend {
  const before = target[name]
  target[name] = value
  return () => {
    target[name] = before
  }
}
