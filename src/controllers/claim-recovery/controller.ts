import type { Pod, StatefulSet } from '../../api/generated/types.ts'
import { asksForClaimRecovery, newClaims } from '../../api/kinds/workloads/claim-recovery.ts'
import { claimNamesOf } from '../../api/kinds/volumes/volume-references.ts'
import { sandboxConditionOf } from '../../api/kinds/pods/sandbox-condition.ts'
import {
  controllerOf,
  hasFinalizer,
  nodes,
  persistentvolumeclaims,
  persistentvolumes,
  pods,
  refersTo,
  statefulsets,
} from '../../client/index.ts'
import { type Caches, defineController, watching } from '../kit/index.ts'
import { podsByClaim } from '../kit/workload/index.ts'
import { setOfClaim } from '../statefulset/controller.ts'
import { apply, releasePod } from './apply.ts'
import { type Observed, observe } from './observe.ts'
import { type Action, plan, podFinalizer } from './plan.ts'
import { settingsOf, stateAnnotation, triesAnnotation } from './settings.ts'
import { annotations, announce, isCalledInvalid, status } from './status.ts'
import { conditionOf, sandboxHistory, troubleOf } from './trouble.ts'

/**
 * True if a pod was kept for a decision that will not be made: its set is gone, is being deleted, has released it, or
 * has the feature turned off.
 */
export function isForsaken(pod: Pod, setNamed: (name: string) => StatefulSet | undefined): boolean {
  if (!hasFinalizer(pod, podFinalizer)) return false
  const owner = controllerOf(pod)
  const set = owner && refersTo(owner, statefulsets) ? setNamed(owner.name) : undefined
  return (
    !set ||
    set.metadata.uid !== owner?.uid ||
    set.metadata.deletionTimestamp !== undefined ||
    settingsOf(set).kind !== 'on'
  )
}

const setNamed = (pod: Pod, caches: Caches) => (name: string) =>
  caches.get(statefulsets, pod.metadata.namespace ?? '', name)

/** Releases pods that were kept for a decision that will not be made. Their claims are kept. */
export const forsakenPodController = defineController<Pod, boolean, { kind: 'Release' }>({
  name: 'claim-recovery-release',
  owner: pods,
  sources: {
    looksAt: (pod, caches) => isForsaken(pod, setNamed(pod, caches)),
    watches: [watching<StatefulSet>(statefulsets, podsKeptFor)],
  },
  timing: { workers: 1 },
  deletion: { isPlanned: true },
  observe: ({ caches }, pod) => isForsaken(pod, setNamed(pod, caches)),
  plan: (isOver) => ({ actions: isOver ? [{ kind: 'Release' }] : [] }),
  apply: { Release: ({ writer, owner }) => releasePod(writer, owner) },
})

function* podsKeptFor(set: StatefulSet, caches: Caches): Generator<string> {
  for (const pod of caches.owned(pods, set))
    if (hasFinalizer(pod, podFinalizer)) {
      yield `${pod.metadata.namespace}/${pod.metadata.name}`
    }
}

/**
 * Recreates claims that prevent their pods from starting, and pods that do not become ready, for sets that request it.
 */
export const claimRecoveryController = defineController<StatefulSet, Observed, Action>({
  name: 'claim-recovery',
  owner: statefulsets,
  sources: {
    looksAt: (set) =>
      asksForClaimRecovery(set) ||
      Boolean(set.metadata.annotations?.[stateAnnotation]) ||
      Boolean(set.metadata.annotations?.[triesAnnotation]) ||
      isCalledInvalid(set),
    watches: [watching(pods, setsConcerned, isNews)],
    reads: [persistentvolumeclaims, persistentvolumes, nodes],
    indexes: [podsByClaim],
  },
  status: { observesGeneration: false, compute: status, annotations, announce },
  observe,
  plan,
  apply,
})

/**
 * The set that controls a pod, and the sets whose claims it mounts, because any user of a claim may write data to it.
 */
function* setsConcerned(pod: Pod, caches: Caches): Generator<string> {
  const { namespace = '' } = pod.metadata
  const names = isOfSet(pod) ? [`${namespace}/${controllerOf(pod)!.name}`] : []
  const others = claimNamesOf(pod).flatMap((name) => setOfClaim({ metadata: { namespace, name } }, caches))
  for (const key of new Set([...names, ...others])) {
    const set = caches.of(statefulsets).get(key)
    if (set && asksForClaimRecovery(set)) yield key
  }
}

/** Reports whether a relevant field has changed. Called for every change of every pod. */
function isNews(before: Pod, after: Pod): boolean {
  if (!hasClaims(after) && !isOfSet(after)) return isOfSet(before)
  const [old, now] = [factsOf(before), factsOf(after)]
  return now.some((fact, i) => fact !== old[i])
}

const hasClaims = ({ spec }: Pod): boolean => spec?.volumes?.some((volume) => volume.persistentVolumeClaim) ?? false

function isOfSet(pod: Pod): boolean {
  const owner = controllerOf(pod)
  return owner !== undefined && refersTo(owner, statefulsets)
}

function factsOf(pod: Pod): unknown[] {
  const { deletionTimestamp, deletionGracePeriodSeconds, annotations: said } = pod.metadata
  const [sandbox, ready, trouble] = [sandboxConditionOf(pod), conditionOf(pod, 'Ready'), troubleOf(pod)]
  return [
    deletionTimestamp,
    deletionGracePeriodSeconds,
    hasFinalizer(pod, podFinalizer),
    controllerOf(pod)?.uid,
    said?.[newClaims],
    pod.status?.phase,
    pod.status?.observedGeneration,
    sandbox?.status,
    sandbox?.reason,
    sandbox?.message,
    sandbox?.lastTransitionTime,
    sandboxHistory(pod),
    ready?.status,
    ready?.lastTransitionTime,
    trouble?.what,
    trouble?.since,
  ]
}
