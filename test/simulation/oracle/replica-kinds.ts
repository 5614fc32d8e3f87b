import type { Deployment, Pod, ReplicaSet } from '../../../src/api/generated/types.ts'
import { imageOf, isActive, isReady, isReadyFor, isSelected, managerOf, portion } from './reading.ts'
import { type Headway, type Look, type Reading, type WorkloadKind, deadlineOf, numberIn } from './workload-kind.ts'

const noHeadway: Headway = { updated: 0, ready: 0, available: 0, old: 0 }
const unfinished = { headway: noHeadway, isComplete: false, isHeld: false, isWaiting: false }

/** ReplicaSets and ReplicationControllers, which differ in how they select. */
const replicas = (plural: string, labelsOf: (look: Look) => Readonly<Record<string, string>> | undefined): WorkloadKind => ({
  plural,
  read(look): Reading[] {
    const { owner, atMs, around: { pods } } = look
    const { minReadySeconds = 0 } = (owner as ReplicaSet).spec
    const isIts = (pod: Pod) => isActive(pod) && isSelected(pod, labelsOf(look))
    const own = pods.filter((pod) => isIts(pod) && managerOf(pod) === owner.metadata.uid)
    const orphans = pods.filter((pod) => isIts(pod) && managerOf(pod) === undefined)
    return [own, [...own, ...orphans]].map((some) => ({
      ...unfinished,
      counts: {
        replicas: some.length,
        readyReplicas: some.filter(isReady).length,
        availableReplicas: some.filter((pod) => isReadyFor(pod, minReadySeconds, atMs)).length,
      },
    }))
  },
  service: ({ owner, status }) => ({ available: numberIn(status, 'availableReplicas'), least: (owner as ReplicaSet).spec.replicas ?? 1 }),
  deadlineSeconds: () => undefined,
})

export const replicaSetKind = replicas('replicasets', ({ owner }) => (owner as ReplicaSet).spec.selector.matchLabels)

const byAge = (a: ReplicaSet, b: ReplicaSet): number => {
  const [first, second] = [a, b].map(({ metadata }) => `${metadata.creationTimestamp} ${metadata.name}`) as [string, string]
  return first < second ? -1 : 1
}

/** The ReplicaSets of a Deployment, and among them that of its template. */
function setsOf({ owner, around }: Look): { all: ReplicaSet[]; newSet: ReplicaSet | undefined } {
  const { selector, template } = (owner as Deployment).spec
  const all = around.sets.filter((set) => managerOf(set) === owner.metadata.uid && isSelected(set, selector.matchLabels)).toSorted(byAge)
  return { all, newSet: all.find(({ spec }) => imageOf(spec.template?.spec) === imageOf(template.spec)) }
}

/** The number of replicas that a Deployment may lack. */
function mayLack({ spec }: Deployment): number {
  const { replicas = 1, strategy } = spec
  if (strategy?.type === 'Recreate') return 0
  const surge = portion(strategy?.rollingUpdate?.maxSurge, replicas, Math.ceil)
  const lack = portion(strategy?.rollingUpdate?.maxUnavailable, replicas, Math.floor)
  return surge === 0 && lack === 0 ? 1 : lack
}

export const deploymentKind: WorkloadKind = {
  plural: 'deployments',
  /** A Deployment knows what its ReplicaSets tell. */
  read(look): Reading[] {
    const { all, newSet } = setsOf(look)
    const wanted = (look.owner as Deployment).spec.replicas ?? 1
    const sum = (count: (status: ReplicaSet['status']) => number | undefined) => all.reduce((total, { status }) => total + (count(status) ?? 0), 0)
    const counts = {
      replicas: sum((status) => status?.replicas),
      updatedReplicas: newSet?.status?.replicas ?? 0,
      readyReplicas: sum((status) => status?.readyReplicas),
      availableReplicas: sum((status) => status?.availableReplicas),
    }
    const headway = {
      updated: counts.updatedReplicas,
      ready: newSet?.status?.readyReplicas ?? 0,
      available: newSet?.status?.availableReplicas ?? 0,
      old: counts.replicas - counts.updatedReplicas,
    }
    const isComplete = [counts.replicas, counts.updatedReplicas, counts.availableReplicas].every((count) => count === wanted)
    return [{ counts, headway, isComplete, isHeld: false, isWaiting: false }]
  },
  terms(look) {
    const { spec: { replicas = 1, template, paused, strategy } } = look.owner as Deployment
    const { name = '', uid } = setsOf(look).newSet?.metadata ?? {}
    const details = `${uid} ${strategy?.type}`
    return { revision: name, template: imageOf(template.spec), replicas, goals: [replicas], isPaused: paused === true, details, staysComplete: true, nodes: new Map() }
  },
  service({ owner, status }) {
    const deployment = owner as Deployment
    return { available: numberIn(status, 'availableReplicas'), least: (deployment.spec.replicas ?? 1) - mayLack(deployment) }
  },
  deadlineSeconds: deadlineOf,
  needsDeadline: true,
}
