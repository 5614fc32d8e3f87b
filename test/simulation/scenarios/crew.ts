import type { ConfigMap } from '../../../src/api/generated/types.ts'
import { configmaps, controllerOf, pods, replicasets } from '../../../src/client/index.ts'
import { crew as controller } from '../../integration/kit/crew.ts'
import type { Invariant } from '../invariant.ts'
import { type Family, childrenAt, familyRules } from '../owned-children.ts'
import type { SimulatedController } from '../simulated-controller.ts'
import type { World } from '../world.ts'
import { createSet, deleteSome, replicasOf, scaleSet, statusIsTrue } from './replica-sets.ts'

const family: Family = { owner: replicasets, child: pods, wantedBy: replicasOf }

/** A set with pods has a roster that names them all; a set without has none. */
const rosterIsTrue = (): Invariant => ({
  name: 'every roster names the pods of its set',
  unfinished(world) {
    for (const set of world.truth.list(replicasets.plural)) {
      const { uid, name } = set.metadata
      const crew = childrenAt(world, family, uid!, world.truth.revision).map((p) => p.metadata.name).sort().join(' ')
      const rosters = world.truth.list(configmaps.plural).filter((c) => controllerOf(c)?.uid === uid) as ConfigMap[]
      const said = rosters.map((r) => r.data?.names ?? '').join(' and ')
      if (said !== crew) return `the roster of ${name} says "${said}" instead of "${crew}"`
    }
    return undefined
  },
})

/** Ends pods that a crash of the server has left half deleted, as a node would. */
export function endPods(world: World): void {
  const end = (name: string, uid: string) => {
    world.timeline.after(1000, () => {
      if (world.truth.get(pods.plural, `default/${name}`)?.metadata.uid !== uid) return
      world.userClient.delete(pods, 'default', name, { uid, gracePeriodSeconds: 0 }).catch(() => end(name, uid))
    })
  }
  world.truth.onChange(({ plural, after }) => {
    if (plural === pods.plural && after?.metadata.deletionTimestamp) end(after.metadata.name!, after.metadata.uid!)
  })
}

/** A controller of two kinds of objects, of which one tells of the other. */
export const crew: SimulatedController = {
  name: 'crew',
  controllers: () => [controller],
  touched: [replicasets, pods, configmaps],
  userActions: [createSet, scaleSet, deleteSome(pods, 2), deleteSome(configmaps, 1)],
  actor: endPods,
  invariants: () => [...familyRules(family, statusIsTrue), rosterIsTrue()],
}
