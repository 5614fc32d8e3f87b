import type { Pod } from '../../api/generated/types.ts'
import type { Step } from '../kit/index.ts'
import { msUntilDeadline } from './goal.ts'
import { IndexSet } from './index-set.ts'
import type { Observed } from './observe.ts'
import { type RunAction, runPods } from './run-pods.ts'
import { completionsOf } from './tally.ts'
import { indexOf, isFinished, isIndexed, isManagedElsewhere, isTracked } from './tracking.ts'

export type Action =
  | RunAction
  | { kind: 'AdoptPod'; pod: Pod }
  | { kind: 'ReleasePod'; pod: Pod }
  /** Its end is on record, or does not matter. */
  | { kind: 'LetGoPod'; pod: Pod }
  /** It is counted as failed. */
  | { kind: 'DeletePod'; pod: Pod }

/** How many pods are made, or deleted, before the Job is looked at again. */
const mostAtOnce = 500

/**
 * Decides the next step. The end of a pod is written into the status first; when that is seen, the pod is let go; when that is done, the status counts
 * it. So whatever is interrupted, no pod is counted twice or not at all.
 */
export function plan(seen: Observed): Step<Action> {
  const { job, goal, tally, nowMs } = seen
  if (isManagedElsewhere(job) || isFinished(job)) return { actions: [] }
  if (seen.strays.length + seen.strangers.length > 0) return { actions: sortOut(seen), wait: 'pods that belong to it, or no longer do' }
  const letGo = accounted(seen).map((pod): Action => ({ kind: 'LetGoPod', pod }))
  if (job.metadata.deletionTimestamp) return { actions: letGo }
  if (goal) return goal.isDeclared ? { actions: [...letGo, ...endPods(seen)], wait: `${tally.terminating} pods to go` } : { actions: letGo, wait: goal.message }
  const { actions, requeueAfterMs, ...why } = runPods(seen, mostAtOnce)
  const laterMs = [requeueAfterMs, msUntilDeadline(job, nowMs)].filter((ms) => ms !== undefined)
  return { ...why, actions: [...letGo, ...actions], ...(laterMs.length > 0 ? { requeueAfterMs: Math.min(...laterMs) } : {}) }
}

function sortOut({ strays, strangers }: Observed): Action[] {
  return [...strangers.map((pod): Action => ({ kind: 'ReleasePod', pod })), ...strays.map((pod): Action => ({ kind: 'AdoptPod', pod }))]
}

/** Tracked pods whose end the status knows, as far as it has to. */
function accounted({ job, tally }: Observed): Pod[] {
  const completions = completionsOf(job)
  const completed = isIndexed(job) ? IndexSet.parse(job.status?.completedIndexes, completions) : undefined
  const isKnown = (pod: Pod): boolean => tally.written.has(pod.metadata.uid!)
  return [...tally.fates].flatMap(([pod, fate]) => {
    const isAccounted = isKnown(pod) || fate === 'passed over' || (fate === 'succeeded' && completed?.has(indexOf(pod, completions)!))
    return isAccounted ? [pod] : []
  })
}

/** Pods that would go on running though the Job is decided. Those of a Job that has failed count as failed. */
function endPods({ goal, tally }: Observed): Action[] {
  return tally.active.slice(0, mostAtOnce).map((pod) => (goal!.isSuccess || !isTracked(pod) ? { kind: 'DropPod', pod } : { kind: 'DeletePod', pod }))
}
