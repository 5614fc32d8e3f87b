import type { CloneSet } from '../../../src/api/generated/types.ts'
import type { SeededRandom } from '../../../src/base/seeded-random.ts'
import { clonesets, controllerOf, pods } from '../../../src/client/index.ts'
import { cloneSetController } from '../../../src/controllers/cloneset/controller.ts'
import type { SimulatedController, UserAction } from '../simulated-controller.ts'
import { collectClaims } from './claim-collector.ts'
import { answerHooks, hookFinalizer, keepContainers } from './clone-nodes.ts'
import { conditionRules } from '../oracle/condition-oracle.ts'
import { cloneSetKind } from '../oracle/set-kinds.ts'
import { cloneSetRules } from './clone-set-rules.ts'
import { collectPods, flapPods, runPods } from './pod-nodes.ts'
import { deleteSome } from './replica-sets.ts'
import { changeDeadline, liftLimits, limitPods, quietInTheEnd, someDeadline, someImage } from './troubles.ts'

const names = ['a', 'b']
const mostReplicas = 6

const strategy = (random: SeededRandom): object => {
  const bounds = random.pick([{ maxUnavailable: 1, maxSurge: 0 }, { maxUnavailable: '40%', maxSurge: 0 }, { maxUnavailable: 0, maxSurge: 2 }, { maxUnavailable: 1, maxSurge: '30%' }])
  const inPlaceUpdateStrategy = { gracePeriodSeconds: random.pick([0, 0, 2]) }
  return { ...bounds, inPlaceUpdateStrategy, type: random.pick(['ReCreate', 'ReCreate', 'InPlaceIfPossible', 'InPlaceOnly']), partition: random.pick([0, 0, 0, 1, 3, '30%', '60%']), paused: random.below(6) === 0 }
}

const patching = (name: string, weight: number, spec: (random: SeededRandom) => object): UserAction => ({
  name,
  weight,
  async run(client, random, world) {
    const all = world.truth.list(clonesets.plural)
    if (all.length > 0) await client.patch(clonesets, 'default', random.pick(all).metadata.name!, { spec: spec(random) }, { type: 'merge' })
  },
})

const scale = patching('scales a set', 4, (random) => ({ replicas: random.below(mostReplicas + 1) }))

const claim = { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }

const create: UserAction = {
  name: 'creates a set',
  weight: 3,
  async run(client, random, world) {
    const free = names.filter((name) => !world.truth.get(clonesets.plural, `default/${name}`))
    if (free.length === 0) return scale.run(client, random, world)
    const name = random.pick(free)
    const labels = { app: name }
    const isHooked = random.below(4) === 0
    const set = {
      metadata: { name, namespace: 'default' },
      spec: {
        replicas: random.below(mostReplicas + 1),
        // A manager whose clock is far behind would wait for it to catch up.
        minReadySeconds: world.profile.world.jumpManagerClock ? 0 : random.pick([0, 0, 4]),
        selector: { matchLabels: labels },
        template: {
          metadata: { labels, ...(isHooked ? { finalizers: [hookFinalizer] } : {}) },
          spec: { terminationGracePeriodSeconds: 30, containers: [{ name: 'main', image: someImage(random), resources: {} }] },
        },
        progressDeadlineSeconds: someDeadline(random),
        ...(isHooked ? { lifecycle: { preDelete: { finalizersHandler: [hookFinalizer] } } } : {}),
        updateStrategy: strategy(random),
        revisionHistoryLimit: random.below(3),
        scaleStrategy: { ...(random.below(4) === 0 ? { maxUnavailable: 2 } : {}), disablePVCReuse: random.below(3) === 0 },
        ...(random.below(3) === 0 ? { volumeClaimTemplates: [claim] } : {}),
      },
    }
    return client.create(clonesets, set as unknown as CloneSet)
  },
}

const deleteSet: UserAction = {
  name: 'deletes a set',
  weight: 1,
  async run(client, random, world) {
    const all = world.truth.list(clonesets.plural)
    if (all.length > 0) await client.delete(clonesets, 'default', random.pick(all).metadata.name!, { propagationPolicy: 'Background' })
  },
}

/** One that is there, by its name or by a label on it. */
const askToDelete: UserAction = {
  name: 'asks for the deletion of a pod',
  weight: 2,
  async run(client, random, world) {
    const owned = world.truth.list(pods.plural).filter((pod) => controllerOf(pod))
    if (owned.length === 0) return
    const pod = random.pick(owned)
    const name = pod.metadata.name!
    if (random.below(2) === 0) await client.patch(pods, 'default', name, { metadata: { labels: { 'apps.kruise.io/specified-delete': 'true' } } }, { type: 'merge' })
    else await client.patch(clonesets, 'default', controllerOf(pod)!.name, { spec: { scaleStrategy: { podsToDelete: [name] } } }, { type: 'merge' })
  },
}

const orphan: UserAction = {
  name: 'takes the owner off a pod',
  weight: 1,
  async run(client, random, world) {
    const owned = world.truth.list(pods.plural).filter((pod) => controllerOf(pod))
    if (owned.length > 0) await client.patch(pods, 'default', random.pick(owned).metadata.name!, { metadata: { ownerReferences: null } }, { type: 'merge' })
  },
}

const userActions: readonly UserAction[] = [
  create,
  scale,
  deleteSet,
  patching('updates a set', 5, (random) => ({ template: { spec: { containers: [{ name: 'main', image: someImage(random), resources: {} }] } } })),
  patching('changes a strategy', 3, (random) => ({ updateStrategy: strategy(random) })),
  patching('moves a partition', 2, (random) => ({ updateStrategy: { partition: random.pick([0, 1, 2, '50%']) } })),
  patching('pauses or goes on', 2, (random) => ({ updateStrategy: { paused: random.below(2) === 0 } })),
  changeDeadline(clonesets),
  limitPods,
  askToDelete,
  deleteSome(pods, 2),
  orphan,
]

/** The controller of CloneSets, with nodes on which pods sometimes fail and are updated in place, hooks that are answered, and somebody who collects what owners have left. */
export const cloneSetScenario: SimulatedController = {
  name: 'clone-sets',
  controllers: () => [cloneSetController],
  touched: [clonesets, pods],
  userActions,
  actor(world) {
    runPods(world)
    flapPods(world)
    liftLimits(world)
    keepContainers(world)
    answerHooks(world)
    collectPods(world, clonesets.plural)
    collectClaims(world, [clonesets.plural, pods.plural])
  },
  invariants: () => [...cloneSetRules(), ...conditionRules(cloneSetKind), quietInTheEnd()],
}
