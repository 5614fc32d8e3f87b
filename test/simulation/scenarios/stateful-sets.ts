import type { Pod, StatefulSet } from '../../../src/api/generated/types.ts'
import type { SeededRandom } from '../../../src/base/seeded-random.ts'
import { type ResourceType, controllerOf, controllerrevisions, persistentvolumeclaims, pods, statefulsets } from '../../../src/client/index.ts'
import { isPodReady, timestamp } from '../../../src/controllers/kit/workload/index.ts'
import { statefulSetController } from '../../../src/controllers/statefulset/controller.ts'
import { recoveryAnnotation } from '../../../src/api/explain/index.ts'
import type { SimulatedController, UserAction } from '../simulated-controller.ts'
import type { World } from '../world.ts'
import { collectClaims } from './claim-collector.ts'
import { collectPods, flapPods, runPods } from './pod-nodes.ts'
import { deleteSome } from './replica-sets.ts'
import { conditionRules } from '../oracle/condition-oracle.ts'
import { statefulSetKind } from '../oracle/set-kinds.ts'
import { statefulSetRules } from './stateful-set-rules.ts'
import { changeDeadline, liftLimits, limitPods, quietInTheEnd, someDeadline, someImage, troubleOf } from './troubles.ts'

const names = ['a', 'b']
const mostReplicas = 5

const strategy = (random: SeededRandom): object => {
  if (random.below(8) === 0) return { type: 'OnDelete', rollingUpdate: null }
  const partition = random.pick([0, 0, 0, 1, 3])
  const maxUnavailable = random.pick([1, 1, 2, 3, '30%', '40%', '100%'])
  return { type: 'RollingUpdate', rollingUpdate: { partition, maxUnavailable } }
}

const retention = (random: SeededRandom): object => ({ whenDeleted: random.pick(['Retain', 'Delete']), whenScaled: random.pick(['Retain', 'Delete']) })

const patching = (name: string, weight: number, spec: (random: SeededRandom) => object): UserAction => ({
  name,
  weight,
  async run(client, random, world) {
    const all = world.truth.list(statefulsets.plural)
    if (all.length > 0) await client.patch(statefulsets, 'default', random.pick(all).metadata.name!, { spec: spec(random) }, { type: 'merge' })
  },
})

const scale = patching('scales a set', 4, (random) => ({ replicas: random.below(mostReplicas + 1) }))

const create: UserAction = {
  name: 'creates a set',
  weight: 3,
  async run(client, random, world) {
    const free = names.filter((name) => !world.truth.get(statefulsets.plural, `default/${name}`))
    if (free.length === 0) return scale.run(client, random, world)
    const name = random.pick(free)
    const labels = { app: name }
    const claim = { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }
    const set = {
      metadata: { name, namespace: 'default', annotations: { [recoveryAnnotation]: String(random.below(3) === 0) } },
      spec: {
        replicas: random.below(mostReplicas + 1),
        podManagementPolicy: random.pick(['OrderedReady', 'Parallel']),
        // A manager whose clock is far behind would wait for it to catch up.
        minReadySeconds: world.profile.world.jumpManagerClock ? 0 : random.pick([0, 0, 4]),
        ordinals: { start: random.pick([0, 0, 3]) },
        serviceName: name,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { terminationGracePeriodSeconds: 30, containers: [{ name: 'main', image: someImage(random), resources: {} }] } },
        progressDeadlineSeconds: someDeadline(random),
        updateStrategy: strategy(random),
        revisionHistoryLimit: random.below(3),
        ...(random.below(2) === 0 ? { volumeClaimTemplates: [claim], persistentVolumeClaimRetentionPolicy: retention(random) } : {}),
      },
    }
    return client.create(statefulsets, set as unknown as StatefulSet)
  },
}

const deleteSet: UserAction = {
  name: 'deletes a set',
  weight: 1,
  async run(client, random, world) {
    const all = world.truth.list(statefulsets.plural)
    if (all.length > 0) await client.delete(statefulsets, 'default', random.pick(all).metadata.name!, { propagationPolicy: 'Background' })
  },
}

const orphan = (type: ResourceType): UserAction => ({
  name: `takes the owner off one of ${type.plural}`,
  weight: 1,
  async run(client, random, world) {
    const owned = world.truth.list(type.plural).filter((object) => controllerOf(object))
    if (owned.length > 0) await client.patch(type, 'default', random.pick(owned).metadata.name!, { metadata: { ownerReferences: null } }, { type: 'merge' })
  },
})

const userActions: readonly UserAction[] = [
  create,
  scale,
  deleteSet,
  patching('updates a set', 5, (random) => ({ template: { spec: { containers: [{ name: 'main', image: someImage(random) }] } } })),
  patching('changes a strategy', 2, (random) => ({ updateStrategy: strategy(random) })),
  patching('changes what becomes of claims', 1, (random) => ({ persistentVolumeClaimRetentionPolicy: retention(random) })),
  patching('lets ordinals start elsewhere', 1, (random) => ({ ordinals: { start: random.pick([0, 1, 3]) } })),
  changeDeadline(statefulsets),
  limitPods,
  deleteSome(pods, 2),
  orphan(pods),
  orphan(controllerrevisions),
]

/** One pod in six that became ready is not for a while. */
function upsetPods(world: World): void {
  const random = world.random.fork('upsets')
  const report = (name: string, uid: string, isReady: boolean) => {
    const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: timestamp(world.timeline.nowMs) }]
    return world.userClient.patch(pods, 'default', name, { metadata: { uid }, status: { conditions } }, { type: 'strategic', subresource: 'status' })
  }
  const soon = (name: string, uid: string, isReady: boolean, then?: () => void) => {
    world.timeline.after(1000 + random.below(8000), () => {
      const pod = world.truth.get(pods.plural, `default/${name}`)
      if (pod?.metadata.uid !== uid || pod.metadata.deletionTimestamp || (isReady && isPodReady(pod as Pod))) return
      // A write without a response may have taken effect, and must be reverted.
      if (!isReady && !world.faults.isOn) then?.()
      else report(name, uid, isReady).then(then, () => soon(name, uid, isReady, then))
    })
  }
  world.truth.onChange(({ plural, before, after }) => {
    if (plural !== pods.plural || !after || !world.faults.isOn) return
    const isNew = isPodReady(after as Pod) && before !== undefined && !isPodReady(before as Pod)
    const { name = '', uid = '' } = after.metadata
    if (isNew && !troubleOf((after as Pod).spec) && random.below(6) === 0) soon(name, uid, false, () => soon(name, uid, true))
  })
}

/** The controller of StatefulSets, with nodes on which pods sometimes fail, and somebody who collects what its owners have left. */
export const statefulSetScenario: SimulatedController = {
  name: 'stateful-sets',
  controllers: () => [statefulSetController],
  touched: [statefulsets, pods, persistentvolumeclaims],
  userActions,
  actor(world) {
    runPods(world)
    flapPods(world)
    liftLimits(world)
    upsetPods(world)
    collectPods(world, statefulsets.plural)
    collectClaims(world, [statefulsets.plural, pods.plural])
  },
  invariants: () => [...statefulSetRules(), ...conditionRules(statefulSetKind), quietInTheEnd()],
}
