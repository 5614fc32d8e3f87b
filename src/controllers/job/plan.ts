import type { Pod } from '../../api/generated/types.ts'
import type { Step } from '../kit/index.ts'
import { msUntilDeadline } from './goal.ts'
import type { Member } from './member.ts'
import type { Observed } from './observe.ts'
import { type RunAction, runPods } from './run-pods.ts'
import { isFinished, isManagedElsewhere } from './tracking.ts'

export type Action =
  | RunAction
  | { kind: 'AdoptPod'; pod: Pod }
  | { kind: 'ReleasePod'; pod: Pod }
  /** Its end is on record, or does not matter. */
  | { kind: 'LetGoPod'; pod: Pod }
  /** It is counted as failed. */
  | { kind: 'DeletePod'; pod: Pod }

/** How many pods are made, let go or deleted before the Job is looked at again, as in Kubernetes. */
const mostAtOnce = 500

/**
 * Decides the next step. The end of a pod is written into the status first; when that is seen, the pod is let go; when that is done, the status counts
 * it. So whatever is interrupted, no pod is counted twice or not at all.
 */
export function plan(seen: Observed): Step<Action> {
  const { job, goal, pods, nowMs } = seen
  if (isManagedElsewhere(job) || isFinished(job)) return { actions: [] }
  if (seen.strays.length + seen.strangers.length > 0) return { actions: sortOut(seen), wait: 'pods that belong to it, or no longer do' }
  const letGo = accounted(seen).map((pod): Action => ({ kind: 'LetGoPod', pod }))
  if (job.metadata.deletionTimestamp) return { actions: letGo }
  if (goal?.isDeclared) return { actions: [...letGo, ...endPods(seen)], wait: `${pods.counts.going} pods to go` }
  if (goal) return { actions: letGo, wait: goal.message }
  const { actions, requeueAfterMs, ...why } = runPods(seen, mostAtOnce)
  const laterMs = [requeueAfterMs, msUntilDeadline(job, nowMs)].filter((ms) => ms !== undefined)
  return { ...why, actions: [...letGo, ...actions], ...(laterMs.length > 0 ? { requeueAfterMs: Math.min(...laterMs) } : {}) }
}

function sortOut({ strays, strangers }: Observed): Action[] {
  return [...strangers.map((pod): Action => ({ kind: 'ReleasePod', pod })), ...strays.map((pod): Action => ({ kind: 'AdoptPod', pod }))]
}

/** Tracked pods whose end the status knows, as far as it has to. */
function accounted(seen: Observed): Pod[] {
  const found = new Set<Pod>()
  for (const { pod } of ends(seen)) {
    if (found.size === mostAtOnce) break
    found.add(pod)
  }
  return [...found]
}

function* ends({ pods, tally: { written } }: Observed): Generator<Member> {
  for (const uid of written) {
    const member = pods.tracked.get(uid)
    if (member?.fate && !pods.isPredecessor(member)) yield member
  }
  yield* pods.ended['passed over'].values()
  // An index is on record by itself.
  const { completed } = pods.known
  for (const member of pods.ended.succeeded.values()) {
    if (member.index !== undefined && completed.has(member.index)) yield member
  }
}

/** Pods that would go on running though the Job is decided. Those of a Job that has failed count as failed. */
function endPods({ goal, pods }: Observed): Action[] {
  const isCounted = ({ isTracked }: Member) => isTracked && !goal!.isSuccess
  const some = [...pods.active.values()].slice(0, mostAtOnce)
  return some.map((member) => ({ kind: isCounted(member) ? 'DeletePod' : 'DropPod', pod: member.pod }))
}
