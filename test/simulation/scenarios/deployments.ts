import type { Deployment, ReplicaSet } from '../../../src/api/generated/types.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import type { SeededRandom } from '../../../src/base/seeded-random.ts'
import { controllerOf, deployments, pods, replicasets } from '../../../src/client/index.ts'
import { deploymentController } from '../../../src/controllers/deployment/controller.ts'
import { replicaSetController } from '../../../src/controllers/replicaset/controller.ts'
import type { SimulatedController, UserAction } from '../simulated-controller.ts'
import type { World } from '../world.ts'
import { neverTooFewAvailable, neverTooManyWanted, rolledOutInTheEnd } from './deployment-rules.ts'
import { conditionRules } from '../oracle/condition-oracle.ts'
import { deploymentKind, replicaSetKind } from '../oracle/replica-kinds.ts'
import { collectPods, flapPods, runPods } from './pod-nodes.ts'
import { deleteSome } from './replica-sets.ts'
import { everyCountIsTrue } from './replicas.ts'
import { changeDeadline, liftLimits, limitPods, quietInTheEnd, someDeadline, someImage } from './troubles.ts'

const names = ['a', 'b']
const mostReplicas = 6

/** One in four rolls out at once. */
const strategy = (random: SeededRandom): object => {
  const maxUnavailable = random.pick([0, 1, 2, '25%', '50%'])
  const maxSurge = maxUnavailable === 0 ? random.pick([1, '50%']) : random.pick([0, 1, '25%', '100%'])
  return random.below(4) === 0 ? { type: 'Recreate', rollingUpdate: null } : { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } }
}

const someDeployment = async (random: SeededRandom, world: World, act: (name: string) => Promise<unknown>): Promise<void> => {
  const all = world.truth.list(deployments.plural)
  if (all.length > 0) await act(random.pick(all).metadata.name!)
}

const patching = (name: string, weight: number, body: (random: SeededRandom) => object): UserAction => ({
  name,
  weight,
  run: (client, random, world) => someDeployment(random, world, (object) => client.patch(deployments, 'default', object, body(random), { type: 'merge' })),
})

const scale = patching('scales a deployment', 4, (random) => ({ spec: { replicas: random.below(mostReplicas + 1) } }))

const create: UserAction = {
  name: 'creates a deployment',
  weight: 3,
  async run(client, random, world) {
    const free = names.filter((name) => !world.truth.get(deployments.plural, `default/${name}`))
    if (free.length === 0) return scale.run(client, random, world)
    const name = random.pick(free)
    const template = {
      metadata: { labels: { app: name } },
      spec: { terminationGracePeriodSeconds: 30, containers: [{ name: 'main', image: someImage(random), resources: {} }] },
    }
    const deployment = {
      metadata: { name, namespace: 'default' },
      spec: {
        replicas: random.below(mostReplicas + 1),
        revisionHistoryLimit: random.below(3),
        progressDeadlineSeconds: someDeadline(random),
        // A manager whose clock is far behind would wait for it to catch up.
        minReadySeconds: world.profile.world.jumpManagerClock ? 0 : random.pick([0, 0, 4]),
        selector: { matchLabels: { app: name } },
        template,
        strategy: strategy(random),
      },
    }
    return client.create(deployments, deployment as unknown as Deployment)
  },
}

const orphanSet: UserAction = {
  name: 'takes the owner off a ReplicaSet',
  weight: 1,
  async run(client, random, world) {
    const owned = world.truth.list(replicasets.plural).filter((set) => controllerOf(set))
    if (owned.length > 0) await client.patch(replicasets, 'default', random.pick(owned).metadata.name!, { metadata: { ownerReferences: null } }, { type: 'merge' })
  },
}

const userActions: readonly UserAction[] = [
  create,
  scale,
  patching('updates a deployment', 5, (random) => ({ spec: { template: { spec: { containers: [{ name: 'main', image: someImage(random) }] } } } })),
  patching('pauses or resumes a deployment', 2, (random) => ({ spec: { paused: random.below(3) === 0 } })),
  patching('changes a strategy', 1, (random) => ({ spec: { strategy: strategy(random) } })),
  { name: 'deletes a deployment', weight: 1, run: (client, random, world) => someDeployment(random, world, (name) => client.delete(deployments, 'default', name)) },
  changeDeadline(deployments),
  limitPods,
  orphanSet,
  deleteSome(pods, 2),
  deleteSome(replicasets, 1),
]

/** Deletes ReplicaSets whose Deployment is gone, or that nobody would adopt any more, as a garbage collector and a user do. */
function collectSets(world: World): void {
  const owners = () => world.truth.list(deployments.plural)
  const isLost = (set: KubeObject): boolean => {
    const owner = controllerOf(set)
    return !owners().some((d) => (owner ? d.metadata.uid === owner.uid : d.metadata.name === set.metadata.labels?.app))
  }
  const collect = ({ metadata: { name = '', uid } }: KubeObject) => {
    world.timeline.after(3000, () => {
      const set = world.truth.get(replicasets.plural, `default/${name}`) as ReplicaSet | undefined
      if (!set || set.metadata.uid !== uid || !isLost(set)) return
      world.userClient.delete(replicasets, 'default', name, { uid }).catch(() => collect(set))
    })
  }
  world.truth.onChange(({ plural, before, after }) => {
    if (plural === deployments.plural && before && before.metadata.uid !== after?.metadata.uid) world.truth.list(replicasets.plural).forEach(collect)
    if (plural === replicasets.plural && after && isLost(after)) collect(after)
  })
}

/** The controllers of Deployments and ReplicaSets, with nodes that run the pods and sometimes fail. */
export const deploymentScenario: SimulatedController = {
  name: 'deployments',
  controllers: () => [deploymentController, replicaSetController],
  touched: [deployments, replicasets, pods],
  userActions,
  actor(world) {
    runPods(world)
    flapPods(world)
    liftLimits(world)
    collectPods(world, replicasets.plural)
    collectSets(world)
  },
  invariants: () => [neverTooManyWanted(), neverTooFewAvailable(), rolledOutInTheEnd(), everyCountIsTrue(), ...conditionRules(deploymentKind, replicaSetKind), quietInTheEnd()],
}
