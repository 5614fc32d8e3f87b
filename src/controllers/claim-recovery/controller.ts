import type { Pod, StatefulSet } from '../../api/generated/types.ts'
import { asksForClaimRecovery } from '../../api/kinds/claim-recovery.ts'
import { claimNamesOf } from '../../api/kinds/pod-claims.ts'
import { controllerOf, persistentvolumeclaims, pods, refersTo, statefulsets } from '../../client/index.ts'
import { type Caches, defineController, watching } from '../kit/index.ts'
import { podsByClaim } from '../kit/workload/index.ts'
import { setOfClaim } from '../statefulset/index.ts'
import { apply } from './apply.ts'
import { type Observed, observe } from './observe.ts'
import { type Action, plan } from './plan.ts'
import { stateAnnotation } from './recovery.ts'
import { conditionOf, sandboxCondition, sandboxHistory } from './sandbox.ts'
import { annotations, announce, status } from './status.ts'

/** Makes claims anew that keep their pods from starting, and pods that start and do not become ready, for sets that ask for it. */
export const claimRecoveryController = defineController<StatefulSet, Observed, Action>({
  name: 'claim-recovery',
  owner: statefulsets,
  looksAt: (set) => asksForClaimRecovery(set) || Boolean(set.metadata.annotations?.[stateAnnotation]),
  watches: [watching(pods, setsConcerned, isNews)],
  reads: [persistentvolumeclaims],
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
  const owner = controllerOf(pod)
  const names = owner && refersTo(owner, statefulsets) ? [`${namespace}/${owner.name}`] : []
  const others = claimNamesOf(pod).flatMap((name) => setOfClaim({ metadata: { namespace, name } }, caches))
  for (const key of new Set([...names, ...others])) {
    const set = caches.of(statefulsets).get(key)
    if (set && asksForClaimRecovery(set)) yield key
  }
}

function isNews(before: Pod, after: Pod): boolean {
  const gist = (pod: Pod) => {
    const { deletionTimestamp, deletionGracePeriodSeconds, finalizers, ownerReferences, annotations: said } = pod.metadata
    const conditions = [sandboxCondition(pod), conditionOf(pod, 'Ready')].map((c) => [c?.status, c?.lastTransitionTime])
    return JSON.stringify([deletionTimestamp, deletionGracePeriodSeconds, finalizers, ownerReferences, said, conditions, pod.status?.phase, pod.status?.observedGeneration, sandboxHistory(pod)])
  }
  return gist(before) !== gist(after)
}
