import type { Pod, ReplicaSet } from '../../../src/api/generated/types.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import type { SeededRandom } from '../../../src/base/seeded-random.ts'
import { controllerOf, pods, replicasets } from '../../../src/client/index.ts'
import { isConditionTrue, isPodActive, isPodFinished, isPodReady } from '../../../src/controllers/kit/workload/index.ts'
import { replicaSetController } from '../../../src/controllers/replicaset/controller.ts'
import type { Invariant, Verdict } from '../invariant.ts'
import { type Family, familyRules } from '../owned-children.ts'
import type { SimulatedController, UserAction } from '../simulated-controller.ts'
import { usefulGoLast } from '../useful-last.ts'
import type { World } from '../world.ts'
import { conditionRules } from '../oracle/condition-oracle.ts'
import { replicaSetKind } from '../oracle/replica-kinds.ts'
import { collectPods, flapPods, runPods } from './pod-nodes.ts'
import { deleteSet, deleteSome, replicasOf, scaleSet, statusIsTrue } from './replica-sets.ts'
import { isStuck, liftLimits, limitPods, quietInTheEnd, someImage, troubleOf } from './troubles.ts'

const names = ['a', 'b', 'c']
const mostReplicas = 5
const podSpec = { containers: [{ name: 'main', image: 'registry.example/app:1', resources: {} }], terminationGracePeriodSeconds: 30 }

/** Every set selects pods that carry its name. */
const isSelected = (pod: KubeObject, name: string | undefined): boolean => name !== undefined && pod.metadata.labels?.set === name
const family: Family = {
  owner: replicasets,
  child: pods,
  wantedBy: replicasOf,
  counts: (pod) => isPodActive(pod as Pod) && isSelected(pod, controllerOf(pod)?.name),
}

const createSet: UserAction = {
  name: 'creates a set',
  weight: 3,
  async run(client, random, world) {
    const free = names.filter((name) => !world.truth.get(replicasets.plural, `default/${name}`))
    if (free.length === 0) return scaleSet.run(client, random, world)
    const name = random.pick(free)
    return client.create(replicasets, {
      metadata: { name, namespace: 'default' },
      spec: {
        replicas: random.below(mostReplicas + 1),
        // A manager whose clock is far behind would wait for it to catch up.
        minReadySeconds: world.profile.world.jumpManagerClock ? 0 : random.pick([0, 7]),
        selector: { matchLabels: { set: name } },
        template: { metadata: { labels: { set: name } }, spec: { ...podSpec, containers: [{ ...podSpec.containers[0]!, image: someImage(random) }] } },
      },
    })
  },
}

const somebody = (random: SeededRandom) => random.pick([...names, 'nobody'])

const createLonePod: UserAction = {
  name: 'creates a pod that belongs to nobody',
  weight: 1,
  run: (client, random) => client.create(pods, { metadata: { generateName: 'lone-', namespace: 'default', labels: { set: somebody(random) } }, spec: podSpec }),
}

const relabelPod: UserAction = {
  name: 'gives a pod to another set',
  weight: 1,
  async run(client, random, world) {
    const all = world.truth.list(pods.plural)
    if (all.length === 0) return
    await client.patch(pods, 'default', random.pick(all).metadata.name!, { metadata: { labels: { set: somebody(random) } } }, { type: 'merge' })
  },
}

/** Those that are not ready are deleted before those that are. */
const unreadyGoFirst = () => usefulGoLast((call, { ownerUid, pods: seen }) => {
  const counted = seen.filter((pod) => controllerOf(pod)?.uid === ownerUid && family.counts!(pod))
  const chosen = call.method === 'DELETE' ? counted.find((pod) => pod.metadata.name === call.name) : undefined
  return chosen && { chosen, others: counted, serves: isPodReady }
})

/** In the end every pod that is to stay belongs to the set that selects it, and to no other. */
const everyPodIsClaimed = (): Invariant => ({
  name: 'every pod belongs to the set that selects it',
  unfinished(world) {
    const sets = world.truth.list(replicasets.plural)
    for (const pod of world.truth.list(pods.plural) as Pod[]) {
      if (!isPodActive(pod)) continue
      const owner = controllerOf(pod)
      const chosen = sets.find((set) => isSelected(pod, set.metadata.name))
      if (owner?.uid !== chosen?.metadata.uid) return `${pod.metadata.name} belongs to ${owner?.name ?? 'nobody'} and is selected by ${chosen?.metadata.name ?? 'nobody'}`
    }
    return undefined
  },
})

/** In the end every pod has run, and every set tells what there is. */
export const everyCountIsTrue = (): Invariant => ({
  name: 'every set tells what there is',
  unfinished(world) {
    const all = world.truth.list(pods.plural) as Pod[]
    const idle = all.find((pod) => pod.metadata.deletionTimestamp || !(isPodReady(pod) || isPodFinished(pod) || troubleOf(pod.spec)))
    if (idle) return `${idle.metadata.name} is on its way`
    for (const set of world.truth.list(replicasets.plural) as ReplicaSet[]) {
      const own = all.filter((pod) => isPodActive(pod) && controllerOf(pod)?.uid === set.metadata.uid)
      const verdict = isStuck(set.spec.template?.spec, own) ? undefined : judgeCounts(set, own.length)
      if (verdict) return `${set.metadata.name} ${verdict}`
    }
    return undefined
  },
})

function judgeCounts({ status }: ReplicaSet, count: number): Verdict {
  const { fullyLabeledReplicas = 0, readyReplicas = 0, availableReplicas = 0, terminatingReplicas, conditions } = status
  const counts = [fullyLabeledReplicas, readyReplicas, availableReplicas]
  if (counts.some((c) => c !== count) || terminatingReplicas !== 0) return `says ${counts.join(', ')} and ${terminatingReplicas} of ${count}`
  if (!isConditionTrue(conditions, 'Available')) return 'does not say that it is available'
  return isConditionTrue(conditions, 'ReplicaFailure') ? 'says that it fails' : undefined
}

/** The controller of ReplicaSets, with nodes that run its pods and sometimes fail. */
export const replicas: SimulatedController = {
  name: 'replicas',
  controllers: () => [replicaSetController],
  touched: [replicasets, pods],
  userActions: [createSet, scaleSet, deleteSet, limitPods, deleteSome(pods, 2), createLonePod, relabelPod],
  actor(world: World) {
    runPods(world)
    flapPods(world)
    liftLimits(world)
    collectPods(world, replicasets.plural)
  },
  invariants: () => [
    ...familyRules(family, statusIsTrue), unreadyGoFirst(), everyPodIsClaimed(), everyCountIsTrue(), ...conditionRules(replicaSetKind), quietInTheEnd(),
  ],
}
