import type { Deployment, Pod, ReplicaSet } from '../../api/generated/types.ts'
import { compileLabelSelector, controllerOf, deployments, keyOf, pods, refersTo, replicasets } from '../../client/index.ts'
import { type Caches, defineController, indexing, watching, ownedPods } from '../kit/index.ts'
import { announceProgress, isPodFinished, isPodTerminating } from '../kit/workload/index.ts'
import { appliers } from './apply.ts'
import { isRollingUpdate } from './bounds.ts'
import { type Observed, observe } from './observe.ts'
import { type Action, plan } from './plan.ts'
import { managerKeyOf } from './replica-sets.ts'
import { annotationsOf, changesInMs, statusOf } from './status.ts'

const byNamespace = 'deployments-in'

/** Deployments that might adopt a ReplicaSet that nobody manages. */
function* adopters(set: ReplicaSet, caches: Caches): Generator<string> {
  if (controllerOf(set) || set.metadata.deletionTimestamp) return
  for (const deployment of caches.byIndex(deployments, byNamespace, set.metadata.namespace ?? '')) {
    if (compileLabelSelector(deployment.spec.selector)(set.metadata.labels)) yield keyOf(deployment)
  }
}

/** A Recreate goes on when the last old pod is gone. Other strategies go by what ReplicaSets tell. */
function* waiting(pod: Pod, caches: Caches): Generator<string> {
  const ref = controllerOf(pod)
  if (!ref || !refersTo(ref, replicasets)) return
  const set = caches.get(replicasets, pod.metadata.namespace ?? '', ref.name)
  const key = set && managerKeyOf(set)
  const deployment = key && caches.of(deployments).get(key)
  if (deployment && !isRollingUpdate(deployment)) yield key
}

const isLeaving = (pod: Pod): boolean => isPodFinished(pod) || isPodTerminating(pod)

export const deploymentController = defineController<Deployment, Observed, Action>({
  name: 'deployment',
  owner: deployments,
  owns: [replicasets],
  watches: [watching(replicasets, adopters), watching(pods, waiting, (before, after) => isLeaving(before) !== isLeaving(after))],
  indexes: [indexing(deployments, byNamespace, (d) => [d.metadata.namespace ?? ''])],
  rosters: ownedPods,
  gate: 'StaleControllerConsistencyDeployment',
  observe,
  plan,
  apply: appliers,
  status: statusOf,
  changesInMs,
  announce: announceProgress,
  annotations: annotationsOf,
})
