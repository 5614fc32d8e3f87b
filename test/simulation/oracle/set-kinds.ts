import type { CloneSet, Pod, StatefulSet } from '../../../src/api/generated/types.ts'
import { hashOf, isActive, isHeldByHook, isReady, isReadyFor, isSelected, isTerminating, managerOf, portion, revisionLabel } from './reading.ts'
import { type Headway, type Look, type Reading, type WorkloadKind, deadlineOf, numberIn } from './workload-kind.ts'

const isOf = (pod: Pod, revision: unknown): boolean => hashOf(pod.metadata.labels?.[revisionLabel]) === hashOf(revision as string)

/** Pods of a set and, in a second reading, those that it may adopt. */
function poolsOf({ owner, around }: Look, isIts: (pod: Pod) => boolean): Pod[][] {
  const { matchLabels } = (owner as StatefulSet).spec.selector
  const candidates = around.pods.filter((pod) => isSelected(pod, matchLabels) && isIts(pod))
  const own = candidates.filter((pod) => managerOf(pod) === owner.metadata.uid)
  const orphans = candidates.filter((pod) => managerOf(pod) === undefined && !isTerminating(pod))
  return orphans.length > 0 ? [own, [...own, ...orphans]] : [own]
}

const ordinalName = /^(.+)-(0|[1-9][0-9]*)$/

function ordinalIn(set: StatefulSet, pod: Pod): number | undefined {
  const [, parent, ordinal] = ordinalName.exec(pod.metadata.name ?? '') ?? []
  return parent === set.metadata.name ? Number(ordinal) : undefined
}

const isOnDelete = (set: StatefulSet): boolean => set.spec.updateStrategy?.type === 'OnDelete'
const partitionOf = (set: StatefulSet): number => (isOnDelete(set) ? 0 : (set.spec.updateStrategy?.rollingUpdate?.partition ?? 0))

export const statefulSetKind: WorkloadKind = {
  plural: 'statefulsets',
  read(look): Reading[] {
    const set = look.owner as StatefulSet
    return poolsOf(look, (pod) => ordinalIn(set, pod) !== undefined).flatMap((pods) => readStatefulSet(look, set, pods))
  },
  terms({ owner, status }) {
    const set = owner as StatefulSet
    const { replicas = 1, updateStrategy } = set.spec
    const goals = [Math.max(0, replicas - partitionOf(set))]
    return { revision: String(status.updateRevision), replicas, goals, isPaused: false, details: updateStrategy?.type ?? '', nodes: new Map() }
  },
  service: ({ owner, status }) => ({ available: numberIn(status, 'availableReplicas'), least: (owner as StatefulSet).spec.replicas ?? 1 }),
  deadlineSeconds: deadlineOf,
}

/** Pods that are going are replicas as long as they are there, but of no revision. Some would count them as old ones. */
function readStatefulSet({ status, atMs }: Look, set: StatefulSet, pods: readonly Pod[]): Reading[] {
  const { replicas = 1, minReadySeconds = 0, ordinals } = set.spec
  const serves = (pod: Pod) => pod.status?.phase === 'Running' && isReady(pod)
  const isAvailable = (pod: Pod) => serves(pod) && isReadyFor(pod, minReadySeconds, atMs)
  const staying = pods.filter((pod) => !isTerminating(pod))
  const updated = staying.filter((pod) => isOf(pod, status.updateRevision))
  const counts = {
    replicas: pods.length,
    readyReplicas: pods.filter(serves).length,
    availableReplicas: pods.filter(isAvailable).length,
    updatedReplicas: updated.length,
  }
  const places = Array.from({ length: replicas }, (_, i) => staying.find((pod) => ordinalIn(set, pod) === (ordinals?.start ?? 0) + i))
  const isDone = (pod: Pod | undefined) => pod !== undefined && isOf(pod, status.updateRevision) && isAvailable(pod)
  const headway: Headway = { updated: updated.length, ready: updated.filter(serves).length, available: updated.filter(isAvailable).length, old: pods.length - updated.length }
  const outdated = staying.length - updated.length
  const partition = partitionOf(set)
  const areAllThere = places.every((pod) => pod !== undefined)
  const reading: Reading = {
    counts,
    headway,
    isComplete: places.every(isDone),
    isHeld: partition > 0 && places.slice(partition).every(isDone),
    isWaiting: isOnDelete(set) && outdated > 0 && updated.every(isAvailable),
  }
  const strict: Reading = {
    ...reading,
    isComplete: reading.isComplete && pods.length === replicas,
    // Without outdated replicas the partition holds nothing back.
    isHeld: reading.isHeld && places.some((pod) => pod && !isOf(pod, status.updateRevision)),
    isWaiting: reading.isWaiting && areAllThere && pods.length === replicas,
  }
  const withoutGoing = { ...strict, headway: { ...headway, old: outdated } }
  const withGoing = pods.filter((pod) => isOf(pod, status.updateRevision))
  return [reading, strict, withoutGoing, { ...strict, headway: { ...headway, ready: withGoing.filter(serves).length, available: withGoing.filter(isAvailable).length } }]
}

export const cloneSetKind: WorkloadKind = {
  plural: 'clonesets',
  read(look): Reading[] {
    const set = look.owner as CloneSet
    return poolsOf(look, isActive).flatMap((pods) => {
      const reading = readCloneSet(look, set, pods)
      const { old, available } = reading.headway
      // If fewer pods are outdated than the partition would keep, all others may be waited for.
      return [reading, { ...reading, isHeld: reading.isHeld && old > 0 && available >= (set.spec.replicas ?? 1) - Math.min(old, keptBack(set)) }]
    })
  },
  terms({ owner, status }) {
    const { spec: { replicas = 1, updateStrategy } } = owner as CloneSet
    const goals = [replicas - keptBack(owner as CloneSet), numberIn(status, 'expectedUpdatedReplicas')]
    const { generation = 0 } = owner.metadata
    // A set that changed twice between two reconciles may have been paused in between.
    const mayHaveBegun = Number(generation) - Number((owner as CloneSet).status?.observedGeneration ?? generation) > 1
    const revision = String(status.updateRevision)
    return { revision, replicas, goals, isPaused: updateStrategy?.paused === true, details: updateStrategy?.type ?? '', mayHaveBegun, nodes: new Map() }
  },
  service: ({ owner, status }) => ({ available: numberIn(status, 'availableReplicas'), least: (owner as CloneSet).spec.replicas ?? 1 }),
  deadlineSeconds: deadlineOf,
}

/** The number of replicas that the partition keeps. Less than 100 % updates at least one of two or more. */
function keptBack({ spec: { replicas = 1, updateStrategy } }: CloneSet): number {
  const partition = updateStrategy?.partition
  const kept = Math.min(replicas, portion(partition, replicas, Math.ceil))
  return typeof partition === 'string' && partition !== '100%' && replicas > 1 && kept === replicas ? replicas - 1 : kept
}

/** A pod that a hook holds, or that is being updated in place, serves nobody. */
function serves(pod: Pod): boolean {
  const gate = pod.status?.conditions?.find(({ type }) => type === 'InPlaceUpdateReady')
  return !isHeldByHook(pod) && pod.status?.phase === 'Running' && isReady(pod) && (gate === undefined || gate.status === 'True')
}

function readCloneSet({ status, atMs }: Look, set: CloneSet, pods: readonly Pod[]): Reading {
  const { replicas = 1, minReadySeconds = 0 } = set.spec
  const isAvailable = (pod: Pod) => serves(pod) && isReadyFor(pod, minReadySeconds, atMs)
  const updated = pods.filter((pod) => isOf(pod, status.updateRevision))
  const counts = {
    replicas: pods.length,
    readyReplicas: pods.filter(serves).length,
    availableReplicas: pods.filter(isAvailable).length,
    updatedReplicas: updated.length,
    updatedReadyReplicas: updated.filter(serves).length,
    updatedAvailableReplicas: updated.filter(isAvailable).length,
  }
  const kept = keptBack(set)
  return {
    counts,
    headway: { updated: updated.length, ready: counts.updatedReadyReplicas, available: counts.updatedAvailableReplicas, old: pods.length - updated.length },
    isComplete: [counts.replicas, counts.updatedReplicas, counts.updatedAvailableReplicas].every((count) => count === replicas),
    isHeld: kept > 0 && counts.updatedAvailableReplicas >= replicas - kept,
    isWaiting: false,
  }
}
