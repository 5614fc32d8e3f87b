import type { Deployment, Pod, ReplicaSet } from '../../api/generated/types.ts'
import {
  compileLabelSelector,
  controllerOf,
  deployments,
  keyOf,
  pods,
  refersTo,
  replicasets,
} from '../../client/index.ts'
import { type Caches, defineController, indexing, ownedPods, watching } from '../kit/index.ts'
import { announceProgress, isPodFinished, isPodTerminating } from '../kit/workload/index.ts'
import { type Action, apply } from './apply.ts'
import { type Derived, derive } from './derive.ts'
import { type Observed, observe } from './observe.ts'
import { plan } from './plan.ts'
import { managerKeyOf } from './replica-sets.ts'
import { isRollingUpdate } from './rolling.ts'
import { annotations, changesInMs, status } from './status.ts'

const byNamespace = 'deployments-in'

/** The Deployments that may adopt a ReplicaSet without a controller. */
function* adopters(set: ReplicaSet, caches: Caches): Generator<string> {
  if (controllerOf(set) || set.metadata.deletionTimestamp) return
  for (const deployment of caches.byIndex(deployments, byNamespace, set.metadata.namespace ?? '')) {
    if (compileLabelSelector(deployment.spec.selector)(set.metadata.labels)) yield keyOf(deployment)
  }
}

/** A Recreate continues when the last old pod is gone. Other strategies depend on the status of ReplicaSets. */
function* waiting(pod: Pod, caches: Caches): Generator<string> {
  const ref = controllerOf(pod)
  if (!ref || !refersTo(ref, replicasets)) return
  const set = caches.get(replicasets, pod.metadata.namespace ?? '', ref.name)
  const key = set && managerKeyOf(set)
  const deployment = key && caches.of(deployments).get(key)
  if (deployment && !isRollingUpdate(deployment)) yield key
}

const isLeaving = (pod: Pod): boolean => isPodFinished(pod) || isPodTerminating(pod)

export const deploymentController = defineController<Deployment, Observed, Action, Derived>({
  name: 'deployment',
  owner: deployments,
  sources: {
    owns: [replicasets],
    watches: [
      watching(replicasets, adopters),
      watching(pods, waiting, (before, after) => isLeaving(before) !== isLeaving(after)),
    ],
    indexes: [indexing(deployments, byNamespace, (d) => [d.metadata.namespace ?? ''])],
    rosters: ownedPods,
  },
  consistency: { gate: 'StaleControllerConsistencyDeployment' },
  observe,
  derive,
  plan,
  apply,
  status: { compute: status, changesInMs, announce: announceProgress, annotations },
})
