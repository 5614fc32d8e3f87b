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

type Workload = KubeObject & { spec?: { replicas?: number; template?: { metadata?: { labels?: Record<string, string> } } } }

/** A workload that wants another number of pods changes what is expected, before any pod changes. */
const watchScale = (type: ResourceType<Workload>) =>
  watching(
    type,
    ({ metadata, spec }, caches) => keysSelecting(budgets, caches, { metadata: { ...spec?.template?.metadata, namespace: metadata.namespace } }),
    (before, after) => before.spec?.replicas !== after.spec?.replicas || before.metadata.uid !== after.metadata.uid,
  )

/** Keeps the status of disruption budgets, by which evictions are granted. */
export const disruption = defineController<PodDisruptionBudget, Observed, Action>({
  name: 'disruption',
  owner: poddisruptionbudgets,
  watches: [
    selected(budgets, pods, podConcerns),
    ...[deployments, replicasets, statefulsets, replicationcontrollers].map(watchScale),
  ],
  indexes: [podsByLabel, budgets.index],
  // A failure leaves the generation that was last understood.
  observesGeneration: false,
  observe,
  goesThrough: ({ pods: selectedNow }) => selectedNow.length,
  plan,
  apply,
  status,
})
