import type { Job, Pod } from '../../api/generated/types.ts'
import { controllerOf, jobs, pods } from '../../client/index.ts'
import { defineController, ownedPods, watching } from '../kit/index.ts'
import { findCondition, keysSelecting, raisedQuotas, selectorIndex } from '../kit/workload/index.ts'
import { type Action, announce, apply } from './apply.ts'
import { changesInMs } from './conditions.ts'
import { type Observed, observe } from './observe.ts'
import { plan } from './plan.ts'
import { rememberedBackOff, status, statusMayWait } from './status.ts'

const bySelector = selectorIndex<Job>(jobs, ({ spec }) => spec.selector)

const quotas = raisedQuotas<Job>(jobs, (conditions) => findCondition(conditions, 'Waiting')?.reason === 'FailedCreate')

/** Runs the pods of Jobs to completion, and counts each pod once. */
export const jobController = defineController<Job, Observed, Action>({
  name: 'job',
  owner: jobs,
  sources: {
    owns: [pods],
    watches: [
      watching<Pod>(pods, (pod, caches) => (controllerOf(pod) ? [] : keysSelecting(bySelector, caches, pod))),
      quotas.watch,
    ],
    indexes: [bySelector.index, quotas.index],
    rosters: ownedPods,
  },
  consistency: { gate: 'StaleControllerConsistencyJob' },
  status: { observesGeneration: false, compute: status, changesInMs, mayWait: statusMayWait, announce },
  deletion: { isPlanned: true },
  observe,
  plan,
  apply,
  remember: rememberedBackOff,
})
