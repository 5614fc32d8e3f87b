import type { DaemonSet, Node, Pod } from '../../../src/api/generated/types.ts'
import { hashOf, imageOf, isFinished, isReady, isReadyFor, isSelected, isTerminating, managerOf, msOf, revisionLabel } from './reading.ts'
import { type Look, type Reading, type WorkloadKind, deadlineOf, numberIn } from './workload-kind.ts'

/** Taints that every daemon tolerates. */
const tolerated = new Set(
  ['not-ready NoExecute', 'unreachable NoExecute', 'disk-pressure NoSchedule', 'memory-pressure NoSchedule', 'pid-pressure NoSchedule', 'unschedulable NoSchedule'].map(
    (taint) => `node.kubernetes.io/${taint}`,
  ),
)

/** True if a node is to run a pod of the set. The simulation's users choose nodes by labels, and tolerate nothing. */
function isToRun({ spec }: DaemonSet, node: Node): boolean {
  const isOpen = (node.spec?.taints ?? []).every(({ key, effect }) => effect === 'PreferNoSchedule' || tolerated.has(`${key} ${effect}`))
  return isOpen && isSelected(node, spec.template.spec?.nodeSelector ?? {})
}

/** The node that a pod is on, or was made for. */
function nodeOf({ spec }: Pod): string | undefined {
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  return spec.nodeName ?? terms.flatMap(({ matchFields = [] }) => matchFields).find(({ key }) => key === 'metadata.name')?.values?.[0]
}

/** The pod that counts comes first: one on the node before those that wait for it, then the oldest. */
function byRank(a: Pod, b: Pod): number {
  const [first, second] = [a, b].map(({ metadata, spec }) => `${spec.nodeName ? 0 : 1} ${metadata.creationTimestamp} ${metadata.name}`) as [string, string]
  return first < second ? -1 : 1
}

const isOnDelete = ({ spec }: DaemonSet): boolean => spec.updateStrategy?.type === 'OnDelete'

export const daemonSetKind: WorkloadKind = {
  plural: 'daemonsets',
  read(look): Reading[] {
    const set = look.owner as DaemonSet
    const candidates = look.around.pods.filter((pod) => isSelected(pod, set.spec.selector.matchLabels) && !(isTerminating(pod) && isFinished(pod)))
    const own = candidates.filter((pod) => managerOf(pod) === set.metadata.uid)
    const orphans = candidates.filter((pod) => managerOf(pod) === undefined && !isTerminating(pod))
    const byLabel = (pod: Pod) => hashOf(pod.metadata.labels?.[revisionLabel]) === hashOf(look.status.updateRevision as string)
    // If two revisions have equal content, pods of both are up to date.
    const byImage = (pod: Pod) => imageOf(pod.spec) === imageOf(set.spec.template.spec)
    const pools = orphans.length > 0 ? [own, [...own, ...orphans]] : [own]
    return pools.flatMap((pods) => [byLabel, byImage].flatMap((isUpdated) => readDaemonSet(look, set, pods, isUpdated)))
  },
  terms({ owner, status, around }) {
    const set = owner as DaemonSet
    const nodes = new Map(around.nodes.filter((node) => isToRun(set, node)).map(({ metadata }) => [metadata.uid!, msOf(metadata.creationTimestamp as unknown as string)]))
    return { revision: String(status.updateRevision), replicas: 0, goals: [0], isPaused: false, details: set.spec.updateStrategy?.type ?? '', nodes }
  },
  service: ({ status }) => ({ available: numberIn(status, 'numberAvailable'), least: numberIn(status, 'desiredNumberScheduled') }),
  deadlineSeconds: deadlineOf,
}

function readDaemonSet({ around, atMs }: Look, set: DaemonSet, pods: readonly Pod[], isUpdated: (pod: Pod) => boolean): Reading[] {
  const { minReadySeconds = 0 } = set.spec
  const isAvailable = (pod: Pod) => isReadyFor(pod, minReadySeconds, atMs)
  const podsOn = (node: Node) => pods.filter((pod) => nodeOf(pod) === node.metadata.name).toSorted(byRank)
  const wanted = around.nodes.filter((node) => isToRun(set, node)).map(podsOn)
  const misplaced = around.nodes.filter((node) => !isToRun(set, node)).map(podsOn).filter((some) => some.length > 0)
  const first = wanted.flatMap((some) => some.slice(0, 1))
  const counts = {
    desiredNumberScheduled: wanted.length,
    currentNumberScheduled: first.length,
    numberMisscheduled: misplaced.length,
    numberReady: first.filter(isReady).length,
    numberAvailable: first.filter(isAvailable).length,
    updatedNumberScheduled: first.filter(isUpdated).length,
  }
  const everywhere = wanted.flat()
  const outdated = everywhere.filter((pod) => !isUpdated(pod))
  const isDone = (pod: Pod) => isUpdated(pod) && isAvailable(pod) && !isTerminating(pod)
  const isSettled = misplaced.length === 0 && counts.numberAvailable === wanted.length
  const headwayOf = (some: readonly Pod[], old: number) => {
    const updated = some.filter(isUpdated)
    return { updated: updated.length, ready: updated.filter(isReady).length, available: updated.filter(isAvailable).length, old }
  }
  const reading: Reading = {
    counts,
    headway: headwayOf(first, outdated.length + misplaced.length),
    isComplete: isSettled && first.every(isDone),
    isHeld: false,
    isWaiting: isOnDelete(set) && outdated.length > 0 && first.filter(isUpdated).every(isAvailable),
  }
  const staying = everywhere.filter((pod) => !isTerminating(pod))
  const strict: Reading = {
    ...reading,
    headway: headwayOf(staying, staying.filter((pod) => !isUpdated(pod)).length),
    isComplete: reading.isComplete && pods.length === first.length,
    isWaiting: reading.isWaiting && isSettled && everywhere.filter(isUpdated).every(isAvailable) && pods.length === first.length && !pods.some(isTerminating),
  }
  return [reading, strict, { ...strict, headway: headwayOf(first, counts.currentNumberScheduled - counts.updatedNumberScheduled + misplaced.length) }]
}
