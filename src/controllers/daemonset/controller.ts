import type { DaemonSet } from '../../api/generated/types.ts'
import { controllerrevisions, daemonsets, pods } from '../../client/index.ts'
import { defineController } from '../kit/index.ts'
import { announceProgress, byNode, raisedQuotas, selectedOrphans, selectorIndex } from '../kit/workload/index.ts'
import { apply } from './apply.ts'
import { withFailures } from './failed-pods.ts'
import { type Observed, observe } from './observe.ts'
import { type Action, type DeletePod, plan } from './plan.ts'
import { changesInMs, status } from './status.ts'
import { nodeWatch, waitingDaemons } from './wake.ts'
import { daemonsOnNode, nodeRosters } from './node-rosters.ts'

const selecting = selectorIndex(daemonsets, (set) => set.spec.selector)
const quotas = raisedQuotas(daemonsets)

/** A pod on every node that is to have one. */
export const daemonSetController = defineController<DaemonSet, Observed, Action>({
  name: 'daemonset',
  owner: daemonsets,
  owns: [pods, controllerrevisions],
  watches: [selectedOrphans(selecting, pods), selectedOrphans(selecting, controllerrevisions), nodeWatch, quotas.watch],
  indexes: [selecting.index, quotas.index, byNode, waitingDaemons, daemonsOnNode],
  gate: 'StaleControllerConsistencyDaemonSet',
  // A set that is being deleted keeps the status it has.
  observesGeneration: false,
  rosters: nodeRosters,
  observe,
  plan,
  apply,
  status,
  changesInMs,
  announce: announceProgress,
  remember: ({ failures, nowMs }, { done, failed }) => withFailures(failures, failedOn([...done, ...failed.map((f) => f.action)]), nowMs),
})

const failedOn = (actions: readonly Action[]): string[] =>
  actions.filter((action): action is DeletePod => action.kind === 'DeletePod' && action.because === 'failed').map(({ node }) => node)
