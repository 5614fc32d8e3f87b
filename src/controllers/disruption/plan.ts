import type { OwnerReference } from '../../api/object.ts'
import type { Step } from '../kit/index.ts'
import { disruptedOf } from './disrupted.ts'
import type { Observed } from './observe.ts'

export type Action =
  | { kind: 'AskScale'; ref: OwnerReference; seen: Observed }
  /** Says what is odd, if the status is about to change. */
  | { kind: 'Tell'; seen: Observed }

/** A budget has nothing to do but to be true: who is asked, what is said, and when an eviction that was granted is overdue. */
export function plan(seen: Observed): Step<Action> {
  const { recheckAtMs } = disruptedOf(seen.pods, seen.budget.status.disruptedPods, seen.nowMs)
  return {
    actions: [...seen.unknown.map((ref): Action => ({ kind: 'AskScale', ref, seen })), { kind: 'Tell', seen }],
    ...(recheckAtMs === undefined ? {} : { requeueAfterMs: recheckAtMs - seen.nowMs }),
  }
}
