import type { StatefulSet } from '../../../src/api/generated/types.ts'
import { claimRecovery, claimRecoveryAfter, claimRecoveryLimit } from '../../../src/api/kinds/workloads/claim-recovery.ts'
import type { SeededRandom } from '../../../src/base/seeded-random.ts'
import { persistentvolumeclaims, pods, statefulsets } from '../../../src/client/index.ts'
import { claimRecoveryController, forsakenPodController } from '../../../src/controllers/claim-recovery/controller.ts'
import { statefulSetController } from '../../../src/controllers/statefulset/controller.ts'
import { withDelusion } from '../claim-breakages.ts'
import type { SimulatedController, UserAction } from '../simulated-controller.ts'
import type { World } from '../world.ts'
import { collectClaims } from './claim-collector.ts'
import { claimRecoveryRules } from './claim-recovery-rules.ts'
import { collectPods } from './pod-nodes.ts'
import { deleteSome } from './replica-sets.ts'
import { StorageNodes, areClocksSet } from './storage-nodes.ts'

const names = ['a', 'b']
const users = ['x', 'y']

const asked = (random: SeededRandom) => ({
  [claimRecovery]: 'recreate',
  [claimRecoveryAfter]: random.pick(['10s', '10s', '30s']),
  [claimRecoveryLimit]: random.pick(['2', '4', '4']),
})

/** Mostly claims go with their pods: those that stay are not made anew, as they may have been used. */
const retention = (random: SeededRandom) => ({ whenDeleted: random.pick(['Delete', 'Delete', 'Retain']), whenScaled: random.pick(['Delete', 'Delete', 'Retain']) })

const someSet = async (random: SeededRandom, world: World, act: (name: string) => Promise<unknown>): Promise<void> => {
  const all = world.truth.list(statefulsets.plural)
  if (all.length > 0) await act(random.pick(all).metadata.name!)
}

const create: UserAction = {
  name: 'creates a set',
  weight: 4,
  async run(client, random, world) {
    const name = names.find((n) => !world.truth.get(statefulsets.plural, `default/${n}`))
    if (!name) return
    const labels = { app: name }
    const claim = { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }
    const template = { metadata: { labels }, spec: { terminationGracePeriodSeconds: 30, containers: [{ name: 'main', image: 'app:1' }] } }
    const spec = { replicas: 1 + random.below(3), podManagementPolicy: random.pick(['OrderedReady', 'Parallel']), serviceName: name, selector: { matchLabels: labels }, template, volumeClaimTemplates: [claim], persistentVolumeClaimRetentionPolicy: retention(random) }
    await client.create(statefulsets, { metadata: { name, namespace: 'default', annotations: asked(random) }, spec } as unknown as StatefulSet)
  },
}

const scale: UserAction = {
  name: 'scales a set',
  weight: 2,
  run: (client, random, world) => someSet(random, world, (name) => client.patch(statefulsets, 'default', name, { spec: { replicas: random.below(4) } }, { type: 'merge' })),
}

const changeMind: UserAction = {
  name: 'asks for it, or does not',
  weight: 1,
  run: (client, random, world) =>
    someSet(random, world, (name) => {
      const annotations = random.below(3) === 0 ? { [claimRecovery]: random.pick([null, 'nonsense', 'observe']) } : asked(random)
      return client.patch(statefulsets, 'default', name, { metadata: { annotations } }, { type: 'merge' })
    }),
}

const deleteSet: UserAction = {
  name: 'deletes a set',
  weight: 0.5,
  run: (client, random, world) => someSet(random, world, (name) => client.delete(statefulsets, 'default', name, { propagationPolicy: 'Background' })),
}

const forcePod: UserAction = {
  name: 'forces a pod out of the way',
  weight: 0.5,
  async run(client, random, world) {
    const all = world.truth.list(pods.plural)
    if (all.length > 0) await client.delete(pods, 'default', random.pick(all).metadata.name!, { gracePeriodSeconds: 0 })
  },
}

/** A pod that waits for it then waits for ever, or for a clock that was set. */
const deleteClaim: UserAction = {
  ...deleteSome(persistentvolumeclaims, 0.5),
  run: async (client, random, world) => (areClocksSet(world) ? undefined : deleteSome(persistentvolumeclaims, 1).run(client, random, world)),
}

/** Somebody looks into a claim with a pod of their own, for a while. */
const borrow: UserAction = {
  name: 'uses a claim, or does no longer',
  weight: 1,
  async run(client, random, world) {
    const name = random.pick(users)
    if (world.truth.get(pods.plural, `default/${name}`)) return client.delete(pods, 'default', name)
    const all = world.truth.list(persistentvolumeclaims.plural)
    if (all.length === 0) return
    const volumes = [{ name: 'borrowed', persistentVolumeClaim: { claimName: random.pick(all).metadata.name! } }]
    await client.create(pods, { metadata: { name, namespace: 'default' }, spec: { containers: [{ name: 'main', image: 'app:1' }], volumes } })
  },
}

/** By world: what its nodes know. */
const nodesOf = new WeakMap<World, StorageNodes>()

/** Claim recovery and StatefulSets, on nodes whose volumes fail and which are ahead of what they tell. */
export const claimRecoveryScenario: SimulatedController = {
  name: 'claim-recovery',
  controllers: () => [statefulSetController, withDelusion(claimRecoveryController), forsakenPodController],
  touched: [statefulsets, pods, persistentvolumeclaims],
  userActions: [create, scale, changeMind, deleteSet, forcePod, borrow, deleteSome(pods, 0.5), deleteClaim],
  actor(world) {
    nodesOf.set(world, new StorageNodes(world))
    collectPods(world, statefulsets.plural)
    collectClaims(world, [statefulsets.plural, pods.plural])
  },
  invariants: () => claimRecoveryRules((world) => nodesOf.get(world)!),
}
