import type { Pod } from '../../../src/api/generated/types.ts'
import type { SeededRandom } from '../../../src/base/seeded-random.ts'
import { nodes, pods } from '../../../src/client/index.ts'
import type { FreeController } from '../../../src/controllers/kit/index.ts'
import { Scheduler } from '../../../src/scheduler/index.ts'
import type { SimulatedController, UserAction } from '../simulated-controller.ts'
import type { World } from '../world.ts'
import { endPods } from './crew.ts'
import { collectFromGoneNodes, openNodes } from './daemon-sets.ts'
import { untilDone } from './pod-nodes.ts'
import { deleteSome } from './replica-sets.ts'
import { schedulingRules } from './scheduling-rules.ts'

const nodeNames = ['n1', 'n2', 'n3']
const podNames = Array.from({ length: 14 }, (_, i) => `p${i}`)

/** The scheduler as something that a manager runs while it leads. */
const scheduler: FreeController = {
  name: 'scheduler',
  start({ client, clock, random, logger }) {
    const running = new Scheduler({ transport: client.transport, clock, random, logger })
    // It is stopped before it has started, at worst.
    const started = running.start().catch(() => undefined)
    return { stop: () => running.stop(), ready: () => started, problems: () => running.problems() }
  },
}

const addNode = (world: World, name: string): Promise<unknown> => {
  const room = { cpu: '4', memory: '8Gi', pods: '3' }
  return world.userClient.create(nodes, { metadata: { name }, status: { capacity: room, allocatable: room } } as never)
}

const createPod: UserAction = {
  name: 'creates a pod',
  weight: 8,
  async run(client, random, world) {
    const name = random.pick(podNames)
    if (world.truth.get(pods.plural, `default/${name}`)) return
    const resources = { requests: { cpu: random.pick(['500m', '1', '2', '3']) } }
    await client.create(pods, { metadata: { name, namespace: 'default' }, spec: { terminationGracePeriodSeconds: 30, containers: [{ name: 'main', image: 'app:1', resources }] } })
  },
}

const addOrRemoveNode: UserAction = {
  name: 'adds or removes a node',
  weight: 1,
  async run(client, random, world) {
    const name = random.pick(nodeNames)
    return world.truth.get(nodes.plural, name) ? client.delete(nodes, '', name) : addNode(world, name)
  },
}

const cordon: UserAction = {
  name: 'closes or opens a node',
  weight: 1,
  async run(client, random, world) {
    const all = world.truth.list(nodes.plural)
    if (all.length > 0) await client.patch(nodes, '', random.pick(all).metadata.name!, { spec: { unschedulable: random.below(3) === 0 ? true : null } }, { type: 'merge' })
  },
}

/** Some pods come to their end by themselves, for as long as anything happens at all. */
function endWork(world: World, random: SeededRandom): void {
  world.truth.onChange(({ plural, before, after }) => {
    const isBound = plural === pods.plural && (after as Pod | undefined)?.spec.nodeName && !(before as Pod | undefined)?.spec.nodeName
    if (!isBound || random.below(3) > 0) return
    untilDone(world, after!, 3000 + random.below(60_000), async ({ metadata: { name = '', uid } }) => {
      if (world.faults.isOn) await world.userClient.patch(pods, 'default', name, { metadata: { uid }, status: { phase: 'Succeeded' } }, { type: 'merge', subresource: 'status' })
    })
  })
}

/** The scheduler, with pods and nodes that come and go. */
export const schedulingScenario: SimulatedController = {
  name: 'scheduling',
  controllers: () => [scheduler],
  touched: [pods, nodes],
  // Here a scheduler does not stand for election itself: nobody tells it what was written before it.
  trustsLists: true,
  userActions: [createPod, addOrRemoveNode, cordon, deleteSome(pods, 2)],
  actor(world) {
    for (const name of nodeNames) world.timeline.after(1, () => void addNode(world, name).catch(() => {})) // somebody may add it later
    openNodes(world)
    endWork(world, world.random.fork('work'))
    endPods(world)
    collectFromGoneNodes(world)
  },
  invariants: schedulingRules,
}
