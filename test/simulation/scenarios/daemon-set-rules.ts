import type { ControllerRevision, DaemonSet, DeleteOptions, Node, Pod } from '../../../src/api/generated/types.ts'
import { controllerOf, controllerrevisions, daemonsets, nodes, pods } from '../../../src/client/index.ts'
import { type Fit, fitOf, nodeOf } from '../../../src/controllers/daemonset/daemon-pod.ts'
import { allowsSurge, boundsOf } from '../../../src/controllers/daemonset/rolling.ts'
import { findCondition, isConditionTrue, isPodActive, isPodAvailable, isPodFinished, isPodReady, isPodTerminating } from '../../../src/controllers/kit/workload/index.ts'
import { type Call, describe } from '../call.ts'
import type { Invariant, Verdict } from '../invariant.ts'
import { type LateChildren, isLate } from '../owned-children.ts'
import type { World } from '../world.ts'
import { isStuck } from './troubles.ts'

const imageOf = ({ spec }: Pick<Pod, 'spec'>): string | undefined => spec.containers[0]?.image
const isOld = (set: DaemonSet, pod: Pod): boolean => imageOf(pod) !== imageOf({ spec: set.spec.template.spec! })
const ownerOf = (pod: Pod): string | undefined => controllerOf(pod)?.uid
const isHealthy = (pod: Pod): boolean => isPodActive(pod) && isPodReady(pod)

/** True if a pod is healthy, and has been for long enough. */
const isAvailable = (set: DaemonSet, pod: Pod, nowMs: number): boolean => isHealthy(pod) && isPodAvailable(pod, set.spec.minReadySeconds ?? 0, nowMs)

/** The observation of a decision about a set. */
interface View {
  who: string
  set: DaemonSet
  pods: Pod[]
  podsAt: number
  atMs: number
  fit(node: string): Fit | 'gone'
  desired: number
}

function viewOf(call: Call, world: World, ownerUid: string): View | undefined {
  const life = world.lives.get(call.process)
  const observation = life?.observations.get(ownerUid)
  if (!life || !observation) return undefined
  const set = observation.owner as DaemonSet
  const [podsAt, nodesAt] = [observation.seen.get(pods.plural)!, observation.seen.get(nodes.plural)!]
  const fits = new Map((world.truth.listAt(nodes.plural, nodesAt) as Node[]).map((node) => [node.metadata.name, fitOf(set)(node)]))
  return {
    who: `${life.identity} ${describe(call)}`,
    set,
    pods: (world.truth.listAt(pods.plural, podsAt) as Pod[]).filter((pod) => ownerOf(pod) === ownerUid),
    podsAt,
    atMs: observation.atMs,
    fit: (node) => fits.get(node) ?? 'gone',
    desired: [...fits.values()].filter((fit) => fit === 'run').length,
  }
}

/** No pod is made for a node that was seen to be unfit, nor beside one that was seen there, but for a new one beside an old one while a set surges. */
export const onePodPerNode = (late: LateChildren = new Map()): Invariant => ({
  name: 'one daemon pod per eligible node, plus surge',
  happened(call, world): Verdict {
    const made = call.method === 'POST' && call.plural === pods.plural && call.subresource === '' ? (call.outcome?.object as Pod | undefined) : undefined
    const ownerUid = made && ownerOf(made)
    if (!made || !ownerUid) return undefined
    const revision = Number(made.metadata.resourceVersion)
    if (isLate(call)) late.set(made.metadata.uid!, revision)
    const view = isLate(call) ? undefined : viewOf(call, world, ownerUid)
    if (!view) return undefined
    const node = nodeOf(made)!
    if (view.fit(node) !== 'run') return `${view.who} for node ${node}, which was seen to ${view.fit(node)}`
    const isSurging = allowsSurge(view.set)
    const there = view.pods.filter((pod) => nodeOf(pod) === node && !(isPodTerminating(pod) && isPodFinished(pod)))
    const inTheWay = there.find((pod) => !isSurging || (isPodActive(pod) && !isOld(view.set, pod)))
    if (inTheWay) return `${view.who} for node ${node}, where ${inTheWay.metadata.name} was seen`
    const now = (world.truth.listAt(pods.plural, revision) as Pod[]).filter((pod) => ownerOf(pod) === ownerUid && nodeOf(pod) === node && isPodActive(pod))
    const known = now.filter((pod) => (late.get(pod.metadata.uid!) ?? 0) <= view.podsAt)
    return known.length > (isSurging ? 2 : 1) ? `${view.who} as number ${known.length} on node ${node}` : undefined
  },
})

/** No healthy pod is taken from a node that is to run one, but to be replaced within the bounds, or because another is there. */
export const neverTooManyTakenDown = (): Invariant => {
  /** By set: nodes that lost a healthy pod by a controller's hand, and had no healthy one since. */
  const down = new Map<string, Set<string>>()
  return {
    name: 'never more than maxUnavailable taken down by our hand',
    changed({ plural, after, key }): Verdict {
      // The node may be eligible or not from now on, so the next reconcile counts again.
      if (plural === nodes.plural) for (const some of down.values()) some.delete(key)
      const pod = plural === pods.plural ? (after as Pod | undefined) : undefined
      if (pod && isHealthy(pod)) down.get(ownerOf(pod) ?? '')?.delete(nodeOf(pod)!)
      return undefined
    },
    happened(call, world): Verdict {
      const { method, plural, body, outcome } = call
      const uid = method === 'DELETE' && plural === pods.plural && outcome?.object ? (body as DeleteOptions | undefined)?.preconditions?.uid : undefined
      const ownerUid = uid && ownerOf(outcome!.object as Pod)
      const view = ownerUid && !isLate(call) ? viewOf(call, world, ownerUid) : undefined
      // One that became healthy since then is nobody's fault.
      const pod = view?.pods.find((p) => p.metadata.uid === uid)
      const node = view && pod && isAvailable(view.set, pod, view.atMs) ? nodeOf(pod) : undefined
      if (!view || !ownerUid || !pod || !node || view.fit(node) !== 'run') return undefined
      if (view.pods.some((p) => p !== pod && nodeOf(p) === node && isPodActive(p))) return undefined
      if (view.set.spec.updateStrategy.type !== 'RollingUpdate' || allowsSurge(view.set)) return `${view.who}, which was the only one on node ${node}`
      if (!isOld(view.set, pod)) return `${view.who}, which is up to date`
      const current = world.truth.get(nodes.plural, node) as Node | undefined
      // It is another node by now: none that whoever looks next would miss.
      if (!current || fitOf(view.set)(current) !== 'run') return undefined
      const some = down.get(ownerUid) ?? new Set()
      down.set(ownerUid, some.add(node))
      const { maxUnavailable } = boundsOf(view.set, view.desired)
      // A node that is to run none any more misses none.
      const missing = [...some].filter((name) => view.fit(name) === 'run')
      return missing.length > maxUnavailable ? `${view.who}: nodes ${missing.join()} are down, and ${maxUnavailable} may be` : undefined
    },
  }
}

/** In the end every node that is to run a pod has one that is ready and up to date, no other has one, and every set says so. */
export const daemonsInTheEnd = (): Invariant => ({
  name: 'every DaemonSet is rolled out',
  unfinished(world): Verdict {
    const closed = (world.truth.list(nodes.plural) as Node[]).find(({ spec }) => spec?.taints?.some(({ key, effect }) => effect === 'NoSchedule' && key !== 'node.kubernetes.io/unschedulable'))
    if (closed) return `${closed.metadata.name} is not open yet`
    const sets = world.truth.list(daemonsets.plural) as DaemonSet[]
    const all = world.truth.list(pods.plural) as Pod[]
    const uids = new Set(sets.map((set) => set.metadata.uid))
    const stray = all.find((pod) => !uids.has(ownerOf(pod)))
    if (stray) return `${stray.metadata.name} is left of a set that is gone`
    for (const set of sets) {
      const own = all.filter((pod) => ownerOf(pod) === set.metadata.uid)
      const isOver = isStuck(set.spec.template.spec, own)
      const verdict = isOver ? judgeRevision(world, set) : (judgeEnd(set, world.truth.list(nodes.plural) as Node[], own) ?? judgeRevision(world, set))
      if (verdict) return `${set.metadata.name} ${verdict}`
    }
    return undefined
  },
})

/** The revision that a set says it is of holds its template. */
function judgeRevision(world: World, { metadata, spec, status }: DaemonSet): Verdict {
  const revision = world.truth.get(controllerrevisions.plural, `default/${status.updateRevision}`) as ControllerRevision | undefined
  const held = (revision?.data as { spec?: { template?: { spec: Pod['spec'] } } } | undefined)?.spec?.template
  if (!revision || !held || controllerOf(revision)?.uid !== metadata.uid) return `says that it is of ${status.updateRevision}, which is not its own`
  return imageOf({ spec: held.spec }) === imageOf({ spec: spec.template.spec! }) ? undefined : `says that it is of ${status.updateRevision}, which is another`
}

function judgeEnd(set: DaemonSet, all: readonly Node[], own: readonly Pod[]): Verdict {
  const { spec, status, metadata } = set
  if (metadata.deletionTimestamp) return 'is still being deleted'
  const fits = new Map(all.map((node) => [node.metadata.name!, fitOf(set)(node)]))
  for (const pod of own) {
    const { name } = pod.metadata
    if (!isHealthy(pod)) return `has ${name}, which is on its way`
    if (fits.get(nodeOf(pod)!) !== 'run') return `has ${name} on ${nodeOf(pod)}, which is not to run it`
    if (spec.updateStrategy.type !== 'OnDelete' && isOld(set, pod)) return `has ${name}, which is old`
  }
  const wanted = [...fits].filter(([, fit]) => fit === 'run').map(([node]) => node)
  for (const [node] of fits) {
    const count = own.filter((pod) => nodeOf(pod) === node).length
    if (count > 1 || (count === 0 && wanted.includes(node))) return `has ${count} pods on ${node}`
  }
  const updated = own.filter((pod) => !isOld(set, pod)).length
  const told = [status.desiredNumberScheduled, status.currentNumberScheduled, status.numberMisscheduled, status.numberReady, status.numberAvailable ?? 0, status.updatedNumberScheduled ?? 0]
  const truth = [wanted.length, wanted.length, 0, wanted.length, wanted.length, updated]
  if (told.join() !== truth.join()) return `says ${told.join()}, and it is ${truth.join()}`
  if (status.observedGeneration !== metadata.generation) return `says that it is of generation ${status.observedGeneration}, and is of ${metadata.generation}`
  if (!isConditionTrue(status.conditions, 'Available')) return 'does not say that it is available'
  if (isConditionTrue(status.conditions, 'ReplicaFailure')) return 'says that it fails'
  const progressing = findCondition(status.conditions, 'Progressing')?.reason
  return progressing === 'NewRevisionAvailable' || updated < wanted.length ? undefined : `says ${progressing}`
}
