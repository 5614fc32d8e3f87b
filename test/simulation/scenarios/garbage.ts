import type { DeleteOptions } from '../../../src/api/generated/types.ts'
import type { KubeObject, OwnerReference } from '../../../src/api/object.ts'
import type { SeededRandom } from '../../../src/base/seeded-random.ts'
import { type Client, type PropagationPolicy, type ResourceType, configmaps, finalizersPatch, hasFinalizer, ownerReference, removeFinalizer, secrets } from '../../../src/client/index.ts'
import { defineGarbageCollector } from '../../../src/controllers/garbage-collector/controller.ts'
import { type Call, describe, keyOfCall } from '../call.ts'
import type { Invariant, Verdict } from '../invariant.ts'
import type { SimulatedController, UserAction } from '../simulated-controller.ts'
import type { Change } from '../truth.ts'
import type { World } from '../world.ts'

const kinds: readonly ResourceType[] = [configmaps, secrets]
const names = ['a', 'b', 'c', 'd', 'e', 'f']
/** Somebody else's, who takes a while. */
const finalizer = 'simulation/wait'
const policies: readonly PropagationPolicy[] = ['Background', 'Foreground', 'Orphan']

interface Item {
  type: ResourceType
  object: KubeObject
}

const isOurs = ({ metadata }: KubeObject) => names.includes(metadata.name ?? '')
const itemsOf = (world: World): Item[] => kinds.flatMap((type) => world.truth.list(type.plural).filter(isOurs).map((object) => ({ type, object })))
const typeOf = (ref: OwnerReference) => kinds.find((type) => type.kind === ref.kind)!

/** Some of what there is or, now and then, of what there was. */
function someOwners(random: SeededRandom, world: World): OwnerReference[] {
  const owners = new Map<string, OwnerReference>()
  for (let left = random.below(3); left > 0; left--) {
    const type = random.pick(kinds)
    const key = `default/${random.pick(names)}`
    const versions = world.truth.changesOf(type.plural, key).flatMap((change) => change.after ?? [])
    const current = world.truth.get(type.plural, key)
    const owner = current && random.below(8) > 0 ? current : versions.length > 0 ? random.pick(versions) : undefined
    if (!owner) continue
    const ref = ownerReference({ ...owner, apiVersion: 'v1', kind: type.kind }, { blockOwnerDeletion: random.below(3) > 0 })
    owners.set(ref.uid, ref)
  }
  return [...owners.values()]
}

const create: UserAction = {
  name: 'creates something',
  weight: 6,
  async run(client, random, world) {
    const type = random.pick(kinds)
    const free = names.filter((name) => !world.truth.get(type.plural, `default/${name}`))
    if (free.length === 0) return
    const ownerReferences = someOwners(random, world)
    const finalizers = random.below(4) === 0 ? [finalizer] : []
    await client.create(type, { metadata: { name: random.pick(free), namespace: 'default', ownerReferences, finalizers } })
  },
}

const onSome = async (random: SeededRandom, world: World, act: (item: Item) => Promise<unknown>): Promise<void> => {
  const items = itemsOf(world)
  if (items.length > 0) await act(random.pick(items))
}

const deleteOne: UserAction = {
  name: 'deletes something',
  weight: 3,
  run: (client, random, world) =>
    onSome(random, world, ({ type, object }) => client.delete(type, 'default', object.metadata.name!, { propagationPolicy: random.pick(policies) })),
}

const reassign: UserAction = {
  name: 'gives something other owners',
  weight: 2,
  run: (client, random, world) =>
    onSome(random, world, ({ type, object }) =>
      client.patch(type, 'default', object.metadata.name!, { metadata: { ownerReferences: someOwners(random, world) } }, { type: 'merge' })),
}

/** Takes the other finalizer off whatever is being deleted, after a while. */
function letGo(world: World): void {
  const client: Client = world.userClient
  const lookAgain = (type: ResourceType, key: string, uid: string, afterMs: number) => {
    world.timeline.after(afterMs, () => {
      const object = world.truth.get(type.plural, key)
      if (object?.metadata.uid !== uid || !hasFinalizer(object, finalizer)) return
      client.patch(type, 'default', object.metadata.name!, finalizersPatch(removeFinalizer(object, finalizer)), { type: 'merge' })
        .catch(() => lookAgain(type, key, uid, 1000))
    })
  }
  world.truth.onChange(({ plural, key, before, after }) => {
    const type = kinds.find((t) => t.plural === plural)
    if (type && after?.metadata.deletionTimestamp && !before?.metadata.deletionTimestamp) lookAgain(type, key, after.metadata.uid!, 3000)
  })
}

/** The very owner that a reference names, as it was at a revision. */
function ownerAt(world: World, ref: OwnerReference, revision: number): KubeObject | undefined {
  const owner = world.truth.getAt(typeOf(ref).plural, `default/${ref.name}`, revision)
  return owner?.metadata.uid === ref.uid ? owner : undefined
}

/** True if the owner had requested the deletion of its dependents by a revision. It may have changed since. */
const hasTakenAlong = (world: World, ref: OwnerReference, revision: number): boolean =>
  world.truth
    .changesOf(typeOf(ref).plural, `default/${ref.name}`)
    .some(({ revision: at, after }) => at <= revision && after?.metadata.uid === ref.uid && Boolean(after.metadata.deletionTimestamp) && hasFinalizer(after, 'foregroundDeletion'))

/** The uid of the deleted object, whether it still exists or not. */
const uidOf = (answer: KubeObject): string => (answer as { details?: { uid?: string } }).details?.uid ?? answer.metadata.uid ?? ''

/** The change by which a delete of the collector took effect; none if the object was on its way out before. */
function deletionBy(call: Call, world: World): Change | undefined {
  if (call.method !== 'DELETE' || !world.lives.has(call.process) || !call.outcome?.object) return undefined
  const changes = world.truth.changesOf(call.plural, keyOfCall(call))
  const { uid } = (call.body as { preconditions: { uid: string } }).preconditions
  return changes.find(({ before, after }) => before?.metadata.uid === uid && !before.metadata.deletionTimestamp && (!after || after.metadata.deletionTimestamp))
}

const livingOwnersKeep = (): Invariant => ({
  name: 'nothing with a living owner is collected',
  happened(call, world): Verdict {
    const deletion = deletionBy(call, world)
    const owners = deletion?.before?.metadata.ownerReferences
    if (!deletion) return undefined
    if (!owners?.length) return `${call.process.name} ${describe(call)}, which has no owners`
    const living = owners.find((ref) => ownerAt(world, ref, deletion.revision - 1) && !hasTakenAlong(world, ref, deletion.revision - 1))
    return living && `${call.process.name} ${describe(call)}, though its owner ${living.name} is there`
  },
})

/**
 * A dependent that existed when its owner was to be orphaned, and has referred to that owner ever since, was missed.
 */
const orphansStay = (): Invariant => {
  /** Owners that somebody has deleted in another way, too. */
  const otherwise = new Set<string>()
  return {
    name: 'nothing is collected whose owner was to leave it behind',
    happened(call, world): Verdict {
      if (call.method === 'DELETE' && call.outcome?.object && (call.body as DeleteOptions).propagationPolicy !== 'Orphan') otherwise.add(uidOf(call.outcome.object))
      const deletion = deletionBy(call, world)
      if (!deletion) return undefined
      const versions = world.truth.changesOf(call.plural, keyOfCall(call))
      const owners = deletion.before?.metadata.ownerReferences ?? []
      const left = owners.find((ref) => {
        const changes = world.truth.changesOf(typeOf(ref).plural, `default/${ref.name}`)
        const end = changes.find(({ before, after }) => before?.metadata.uid === ref.uid && !after)
        const mark = changes.find(({ after }) => after?.metadata.uid === ref.uid && after.metadata.deletionTimestamp && hasFinalizer(after, 'orphan'))
        if (!mark || !end || otherwise.has(ref.uid)) return false
        const names = (object: KubeObject | undefined) =>
          object?.metadata.uid === deletion.before!.metadata.uid && (object?.metadata.ownerReferences ?? []).some((r) => r.uid === ref.uid)
        const then = world.truth.getAt(call.plural, keyOfCall(call), mark.revision)
        return names(then) && versions.every(({ revision, after }) => revision <= mark.revision || revision >= deletion.revision || names(after))
      })
      // With several owners, another one's end may be the reason; with this one alone it cannot be.
      return left && owners.length === 1 ? `${call.process.name} ${describe(call)}, which ${left.name} was to leave behind` : undefined
    },
  }
}

const nothingIsLeft = (): Invariant => ({
  name: 'nothing is left whose owners are gone, nor is anything on its way out',
  unfinished(world): Verdict {
    const uids = new Set(kinds.flatMap((type) => world.truth.list(type.plural)).map((o) => o.metadata.uid))
    for (const { type, object } of itemsOf(world)) {
      const { name, deletionTimestamp, ownerReferences = [], finalizers = [] } = object.metadata
      if (deletionTimestamp) return `${type.plural}/${name} is still being deleted (${finalizers.join()})`
      const gone = ownerReferences.find((ref) => !uids.has(ref.uid))
      if (gone) return `${type.plural}/${name} is left, or still names its owner ${gone.name}, which is gone`
    }
    return undefined
  },
})

/** The garbage collector, among users who make, delete and reassign objects that own each other in every way, circles included. */
export const garbage: SimulatedController = {
  name: 'garbage',
  controllers: () => [defineGarbageCollector({ isCollected: (type) => kinds.some((t) => t.group === type.group && t.plural === type.plural) })],
  touched: kinds,
  userActions: [create, deleteOne, reassign],
  actor: letGo,
  invariants: () => [livingOwnersKeep(), orphansStay(), nothingIsLeft()],
}
