import type { DaemonSet, Node, Pod } from '../../../src/api/generated/types.ts'
import type { SeededRandom } from '../../../src/base/seeded-random.ts'
import { type Client, daemonsets, nodes, pods } from '../../../src/client/index.ts'
import { nodeOf } from '../../../src/controllers/daemonset/daemon-pod.ts'
import { daemonSetController } from '../../../src/controllers/daemonset/controller.ts'
import type { SimulatedController, UserAction } from '../simulated-controller.ts'
import type { World } from '../world.ts'
import { daemonsInTheEnd, neverTooManyTakenDown, onePodPerNode } from './daemon-set-rules.ts'
import { conditionRules } from '../oracle/condition-oracle.ts'
import { daemonSetKind } from '../oracle/daemon-kind.ts'
import { collectPods, flapPods, runPods } from './pod-nodes.ts'
import { deleteSome } from './replica-sets.ts'
import { changeDeadline, liftLimits, limitPods, quietInTheEnd, someDeadline, someImage } from './troubles.ts'

const names = ['a', 'b']
const nodeNames = ['n1', 'n2', 'n3', 'n4', 'n5']

/** One in six leaves it to users to delete old pods. */
const strategy = (random: SeededRandom): object => {
  if (random.below(6) === 0) return { type: 'OnDelete', rollingUpdate: null }
  const maxSurge = random.pick([0, 0, 1, '50%'])
  return { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable: maxSurge === 0 ? random.pick([1, 2, '25%', '60%']) : 0 } }
}

async function someSet(random: SeededRandom, world: World, act: (name: string) => Promise<unknown>): Promise<void> {
  const all = world.truth.list(daemonsets.plural)
  if (all.length > 0) await act(random.pick(all).metadata.name!)
}

const patching = (name: string, weight: number, body: (random: SeededRandom) => object): UserAction => ({
  name,
  weight,
  run: (client, random, world) => someSet(random, world, (set) => client.patch(daemonsets, 'default', set, body(random), { type: 'merge' })),
})

const update = patching('updates a set', 5, (random) => ({ spec: { template: { spec: { containers: [{ name: 'main', image: someImage(random) }] } } } }))

const create: UserAction = {
  name: 'creates a set',
  weight: 3,
  async run(client, random, world) {
    const free = names.filter((name) => !world.truth.get(daemonsets.plural, `default/${name}`))
    if (free.length === 0) return update.run(client, random, world)
    const name = random.pick(free)
    const template = {
      metadata: { labels: { app: name } },
      spec: { nodeSelector: { [name]: 'yes' }, terminationGracePeriodSeconds: 30, containers: [{ name: 'main', image: someImage(random), resources: {} }] },
    }
    // A manager whose clock is far behind would wait for it to catch up.
    const minReadySeconds = world.profile.world.jumpManagerClock ? 0 : random.pick([0, 0, 4])
    const spec = { selector: { matchLabels: { app: name } }, template, minReadySeconds, progressDeadlineSeconds: someDeadline(random), updateStrategy: strategy(random) }
    const set = { metadata: { name, namespace: 'default' }, spec }
    return client.create(daemonsets, set as unknown as DaemonSet)
  },
}

const addNode = (client: Client, name: string): Promise<unknown> => client.create(nodes, { metadata: { name, labels: { a: 'yes', b: 'yes' } } } as unknown as Node)

/** Every new node has a taint until it is known to be ready. */
export function openNodes(world: World): void {
  const isClosed = (node: Node | undefined) => node?.spec?.taints?.some(({ key }) => key === 'node.kubernetes.io/not-ready')
  const open = (name: string): void => {
    world.timeline.after(500, () => {
      if (isClosed(world.truth.get(nodes.plural, name) as Node | undefined)) world.userClient.patch(nodes, '', name, { spec: { taints: null } }, { type: 'merge' }).catch(() => open(name))
    })
  }
  world.truth.onChange(({ plural, key, after }) => {
    if (plural === nodes.plural && isClosed(after as Node | undefined)) open(key)
  })
}

const addOrRemoveNode: UserAction = {
  name: 'adds or removes a node',
  weight: 1,
  async run(client, random, world) {
    const name = random.pick(nodeNames)
    return world.truth.get(nodes.plural, name) ? client.delete(nodes, '', name) : addNode(client, name)
  },
}

/** Daemons do not mind that a node is closed to other pods. */
const cordoned = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }

/** Mostly it is as it should be. A taint with which pods may stay wakes nobody, as in Kubernetes: what a set says of it may be of before, and is not judged here. */
const changeNode: UserAction = {
  name: 'changes a node',
  weight: 3,
  async run(client, random, world) {
    const all = world.truth.list(nodes.plural)
    if (all.length === 0) return
    const label = random.below(3) === 0 ? null : 'yes'
    const taint = random.pick([undefined, undefined, undefined, { key: 'closed', effect: 'NoExecute' }, cordoned])
    const patch = { metadata: { labels: { [random.pick(names)]: label } }, spec: { taints: taint ? [taint] : null } }
    await client.patch(nodes, '', random.pick(all).metadata.name!, patch, { type: 'merge' })
  },
}

/** Ends pods whose node is gone, as the garbage collector of pods does. */
export function collectFromGoneNodes(world: World): void {
  const look = (pod: Pod): void => {
    world.timeline.after(3000, () => {
      const current = world.truth.get(pods.plural, `default/${pod.metadata.name}`) as Pod | undefined
      if (current?.metadata.uid !== pod.metadata.uid || !current?.spec.nodeName || world.truth.get(nodes.plural, current.spec.nodeName)) return
      world.userClient.delete(pods, 'default', pod.metadata.name!, { uid: pod.metadata.uid, gracePeriodSeconds: 0 }).catch(() => look(pod))
    })
  }
  world.truth.onChange(({ plural, key, after }) => {
    if (plural === nodes.plural && !after) for (const pod of world.truth.list(pods.plural) as Pod[]) if (pod.spec.nodeName === key) look(pod)
    const pod = plural === pods.plural ? (after as Pod | undefined) : undefined
    if (pod?.spec.nodeName && !world.truth.get(nodes.plural, pod.spec.nodeName)) look(pod)
  })
}

/** The controller of DaemonSets, on nodes that come and go, change, and fail pods. */
export const daemonSetScenario: SimulatedController = {
  name: 'daemon-sets',
  controllers: () => [daemonSetController],
  touched: [daemonsets, pods, nodes],
  userActions: [
    create,
    update,
    patching('changes a strategy', 1, (random) => ({ spec: { updateStrategy: strategy(random) } })),
    { name: 'deletes a set', weight: 1, run: (client, random, world) => someSet(random, world, (name) => client.delete(daemonsets, 'default', name)) },
    addOrRemoveNode,
    changeNode,
    changeDeadline(daemonsets),
    limitPods,
    deleteSome(pods, 2),
  ],
  actor(world: World) {
    for (const name of nodeNames.slice(0, 3)) world.timeline.after(1, () => void addNode(world.userClient, name).catch(() => {})) // somebody may add it later
    openNodes(world)
    runPods(world, (pod) => (world.truth.get(nodes.plural, nodeOf(pod)!) ? nodeOf(pod) : undefined))
    flapPods(world)
    liftLimits(world)
    collectPods(world, daemonsets.plural)
    collectFromGoneNodes(world)
  },
  invariants: () => [onePodPerNode(), neverTooManyTakenDown(), daemonsInTheEnd(), ...conditionRules(daemonSetKind), quietInTheEnd()],
}
