import type { ConfigMap, DeleteOptions, ReplicaSet } from '../../src/api/generated/types.ts'
import type { KubeObject } from '../../src/api/object.ts'
import { configmaps, controllerOf, replicasets } from '../../src/client/index.ts'
import { defineController } from '../../src/controllers/kit/index.ts'
import type { SeededRandom } from '../../src/base/seeded-random.ts'
import { type Call, describe } from './call.ts'
import type { Invariant, Verdict } from './invariant.ts'
import type { SimulatedController, UserAction } from './simulated-controller.ts'
import type { World } from './world.ts'

const ownerType = replicasets
const childType = configmaps

interface Observed {
  owner: ReplicaSet
  children: ConfigMap[]
}

type Action = { kind: 'Create' } | { kind: 'Delete'; child: ConfigMap }

const byName = (a: KubeObject, b: KubeObject) => (a.metadata.name! < b.metadata.name! ? -1 : 1)

/** N children for each owner, by generated names. */
const controller = defineController<ReplicaSet, Observed, Action>({
  name: 'demonstration',
  owner: ownerType,
  owns: [childType],
  finalizer: 'simulation/children',
  workers: 2,
  observe: ({ caches }, owner) => ({ owner, children: caches.owned(childType, owner).sort(byName) }),
  plan({ owner, children }) {
    const wanted = owner.metadata.deletionTimestamp ? 0 : wantedBy(owner)
    const surplus = children.slice(wanted)
    return {
      actions: [
        ...Array.from({ length: Math.max(0, wanted - children.length) }, (): Action => ({ kind: 'Create' })),
        ...surplus.map((child): Action => ({ kind: 'Delete', child })),
      ],
    }
  },
  apply: {
    Create: {
      pace: 'slow start',
      run: ({ owner, writer }) => writer.create(childType, { metadata: { generateName: `${owner.metadata.name}-` }, data: {} }),
    },
    Delete: { pace: 'all at once', run: ({ writer }, { child }) => writer.delete(childType, child) },
  },
  status: ({ children }) => ({ replicas: children.length }),
})

const wantedBy = (owner: KubeObject): number => (owner as ReplicaSet).spec?.replicas ?? 0

const names = ['a', 'b', 'c']
const mostChildren = 4

const userActions: UserAction[] = [
  {
    name: 'creates an owner',
    weight: 5,
    run: (client, random) =>
      client.create(ownerType, {
        metadata: { name: random.pick(names), namespace: 'default' },
        spec: {
          replicas: random.below(mostChildren + 1),
          selector: { matchLabels: { app: 'x' } },
          template: { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'main', image: 'nginx', resources: {} }] } },
        },
      }),
  },
  {
    name: 'changes an owner',
    weight: 4,
    run: (client, random, world) => onSome(ownerType.plural, random, world, ({ name }) => client.patch(ownerType, 'default', name, { spec: { replicas: random.below(mostChildren + 1) } }, { type: 'merge' })),
  },
  { name: 'deletes an owner', weight: 1, run: (client, random, world) => onSome(ownerType.plural, random, world, ({ name }) => client.delete(ownerType, 'default', name, { propagationPolicy: 'Background' })) },
  { name: 'deletes a child', weight: 2, run: (client, random, world) => onSome(childType.plural, random, world, ({ name }) => client.delete(childType, 'default', name)) },
]

async function onSome(plural: string, random: SeededRandom, world: World, act: (meta: { name: string }) => Promise<unknown>): Promise<void> {
  const objects = world.truth.list(plural)
  if (objects.length > 0) await act({ name: random.pick(objects).metadata.name! })
}

/** Children of an owner that are there, and are to stay, at a revision. */
const childrenAt = (world: World, ownerUid: string, revision: number): KubeObject[] =>
  world.truth.listAt(childType.plural, revision).filter((c) => controllerOf(c)?.uid === ownerUid && !c.metadata.deletionTimestamp)

function neverTooMany(): Invariant {
  /** Children that came when nobody waited for them any more, and when: nobody could know of those, and they must go again. */
  const late = new Map<string, number>()
  return {
    name: 'never more children than wanted',
    happened(call, world): Verdict {
      const made = call.method === 'POST' && call.plural === childType.plural ? call.outcome?.object : undefined
      const life = world.lives.get(call.process)
      const ownerUid = made && controllerOf(made)?.uid
      if (!life || !ownerUid) return undefined
      const revision = Number(made.metadata.resourceVersion)
      if (call.told !== 'nothing' || life.process.isDead) {
        late.set(made.metadata.uid!, revision)
        return undefined
      }
      const { owner, seen } = life.observations.get(ownerUid)!
      const known = childrenAt(world, ownerUid, revision).filter((c) => (late.get(c.metadata.uid!) ?? 0) <= seen.get(childType.plural)!).length
      const wanted = wantedBy(owner)
      return known > wanted ? `${life.identity} ${describe(call)} as number ${known}, and saw that ${owner.metadata.name} wants ${wanted}` : undefined
    },
  }
}

/** The child that a call is to delete. */
const deletedUid = (call: Call): string | undefined =>
  call.method === 'DELETE' && call.plural === childType.plural ? (call.body as DeleteOptions | undefined)?.preconditions?.uid : undefined

function neverTooFew(): Invariant {
  /** Children that have gone, and when; with who their owner was. */
  const gone = new Map<string, { revision: number; ownerUid: string; byManager: boolean }>()
  return {
    name: 'no wanted child is deleted, and none twice',
    changed({ plural, before, after, revision }): Verdict {
      if (plural !== childType.plural || after || !before) return undefined
      gone.set(before.metadata.uid!, { revision, ownerUid: controllerOf(before)?.uid ?? '', byManager: false })
      return undefined
    },
    sent(call, world): Verdict {
      const before = gone.get(deletedUid(call) ?? '')
      const life = world.lives.get(call.process)
      if (!before || !life) return undefined
      const seen = life.observations.get(before.ownerUid)?.seen.get(childType.plural) ?? 0
      return seen >= before.revision ? `${life.identity} ${describe(call)}, though it has seen that one go at ${before.revision}` : undefined
    },
    happened(call, world): Verdict {
      const end = call.outcome?.object && gone.get(deletedUid(call) ?? '')
      const life = world.lives.get(call.process)
      // One that comes when nobody waits for it any more is nobody's decision by then: those who follow count it as a loss.
      if (!end || !life || call.told !== 'nothing' || life.process.isDead) return undefined
      end.byManager = true
      const { owner, seen } = life.observations.get(end.ownerUid)!
      if (owner.metadata.deletionTimestamp) return undefined
      const since = seen.get(childType.plural)!
      const lost = [...gone.values()].filter((g) => g.ownerUid === end.ownerUid && !g.byManager && g.revision > since && g.revision < end.revision).length
      const left = childrenAt(world, end.ownerUid, end.revision).length
      const wanted = wantedBy(owner)
      return left + lost < wanted ? `${life.identity} ${describe(call)}: ${left} are left, and it saw that ${owner.metadata.name} wants ${wanted}` : undefined
    },
  }
}

/** Every owner has as many children as it wants and says so, and there are no others. */
function enoughInTheEnd(): Invariant {
  return {
    name: 'every owner has its children',
    unfinished(world): Verdict {
      const owners = world.truth.list(ownerType.plural)
      for (const owner of owners) {
        const { name, uid, deletionTimestamp, generation } = owner.metadata
        if (deletionTimestamp) return `${name} is still being deleted`
        const { length } = childrenAt(world, uid!, world.truth.revision)
        if (length !== wantedBy(owner)) return `${name} has ${length} children and wants ${wantedBy(owner)}`
        const { replicas, observedGeneration } = (owner as ReplicaSet).status ?? {}
        if (replicas !== length || observedGeneration !== generation) return `${name} says that it has ${replicas} children, and has ${length}`
      }
      const uids = new Set(owners.map((o) => o.metadata.uid))
      const orphan = world.truth.list(childType.plural).find((c) => controllerOf(c) && !uids.has(controllerOf(c)!.uid))
      return orphan && `${orphan.metadata.name} is left of an owner that is gone`
    },
  }
}

/** A controller with two kinds of objects, and what must hold of it. */
export const demonstration: SimulatedController = {
  name: 'demonstration',
  controllers: () => [controller],
  touched: [ownerType, childType],
  userActions,
  invariants: () => [neverTooMany(), neverTooFew(), enoughInTheEnd()],
}
