import type { Pod, StatefulSet } from '../../api/generated/types.ts'
import { asksForClaimRecovery, newClaims } from '../../api/kinds/claim-recovery.ts'
import { claimNamesOf } from '../../api/kinds/pod-claims.ts'
import { sandboxConditionOf } from '../../api/kinds/sandbox-condition.ts'
import {
  controllerOf, hasFinalizer, nodes, persistentvolumeclaims, persistentvolumes, pods, refersTo, statefulsets,
} from '../../client/index.ts'
import { type Caches, defineController, watching } from '../kit/index.ts'
import { podsByClaim } from '../kit/workload/index.ts'
import { setOfClaim } from '../statefulset/index.ts'
import { apply } from './apply.ts'
import { troubleOf } from './due.ts'
import { type Observed, observe } from './observe.ts'
import { type Action, plan } from './plan.ts'
import { stateAnnotation } from './recovery.ts'
import { conditionOf, sandboxHistory } from './sandbox.ts'
import { podFinalizer } from './stage.ts'
import { triesAnnotation } from './tries.ts'
import { annotations, announce, isCalledInvalid, status } from './status.ts'

/** Makes claims anew that keep their pods from starting, and pods that start and do not become ready, for sets that ask for it. */
export const claimRecoveryController = defineController<StatefulSet, Observed, Action>({
  name: 'claim-recovery',
  owner: statefulsets,
  looksAt: (set) => asksForClaimRecovery(set) || Boolean(set.metadata.annotations?.[stateAnnotation]) || Boolean(set.metadata.annotations?.[triesAnnotation]) || isCalledInvalid(set),
  watches: [watching(pods, setsConcerned, isNews)],
  reads: [persistentvolumeclaims, persistentvolumes, nodes],
  indexes: [podsByClaim],
  observesGeneration: false,
  observe,
  plan,
  apply,
  status,
  annotations,
  announce,
})

/** The set that manages a pod, and those whose claims it names: whoever uses a claim may put data there. */
function* setsConcerned(pod: Pod, caches: Caches): Generator<string> {
  const { namespace = '' } = pod.metadata
  const names = isOfSet(pod) ? [`${namespace}/${controllerOf(pod)!.name}`] : []
  const others = claimNamesOf(pod).flatMap((name) => setOfClaim({ metadata: { namespace, name } }, caches))
  for (const key of new Set([...names, ...others])) {
    const set = caches.of(statefulsets).get(key)
    if (set && asksForClaimRecovery(set)) yield key
  }
}

/** Whether anything has changed that is gone by here. Asked for every change of every pod. */
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
    deletionTimestamp, deletionGracePeriodSeconds, hasFinalizer(pod, podFinalizer), controllerOf(pod)?.uid, said?.[newClaims], pod.status?.phase, pod.status?.observedGeneration,
    sandbox?.status, sandbox?.reason, sandbox?.message, sandbox?.lastTransitionTime, sandboxHistory(pod),
    ready?.status, ready?.lastTransitionTime, trouble?.what, trouble?.since,
  ]
}
