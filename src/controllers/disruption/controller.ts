import { deepEqual } from '../../api/deep-equal.ts'
import type { Pod, PodDisruptionBudget } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import {
  type ResourceType,
  controllerOf,
  deployments,
  poddisruptionbudgets,
  pods,
  replicasets,
  replicationcontrollers,
  statefulsets,
} from '../../client/index.ts'
import { defineController, watching } from '../kit/index.ts'
import { isPodReady, keysSelecting, podsByLabel, selected, selectorIndex } from '../kit/workload/index.ts'
import { apply } from './apply.ts'
import { type Observed, observe } from './observe.ts'
import { type Action, plan } from './plan.ts'
import { status } from './status.ts'

const budgets = selectorIndex(poddisruptionbudgets, (budget) => budget.spec?.selector)

const podConcerns = (before: Pod, after: Pod): boolean =>
  isPodReady(before) !== isPodReady(after) ||
  before.metadata.uid !== after.metadata.uid ||
  before.metadata.deletionTimestamp !== after.metadata.deletionTimestamp ||
  !deepEqual(before.metadata.labels, after.metadata.labels) ||
  controllerOf(before)?.uid !== controllerOf(after)?.uid

type Workload = KubeObject & {
  spec?: { replicas?: number; template?: { metadata?: { labels?: Record<string, string> } } }
}

/** A scale of a workload changes the expected number before any pod changes. */
const watchScale = (type: ResourceType<Workload>) =>
  watching(
    type,
    ({ metadata, spec }, caches) =>
      keysSelecting(budgets, caches, { metadata: { ...spec?.template?.metadata, namespace: metadata.namespace } }),
    (before, after) => before.spec?.replicas !== after.spec?.replicas || before.metadata.uid !== after.metadata.uid,
  )

/** Maintains the status of disruption budgets, which evictions depend on. */
export const disruption = defineController<PodDisruptionBudget, Observed, Action>({
  name: 'disruption',
  owner: poddisruptionbudgets,
  sources: {
    watches: [
      selected(budgets, pods, podConcerns),
      ...[deployments, replicasets, statefulsets, replicationcontrollers].map(watchScale),
    ],
    indexes: [podsByLabel, budgets.index],
  },
  status: {
    // After a failure the last observed generation is kept.
    observesGeneration: false,
    compute: status,
  },
  observe,
  timing: { goesThrough: ({ pods: selectedNow }) => selectedNow.length },
  plan,
  apply,
})
