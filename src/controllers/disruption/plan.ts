import type { OwnerReference } from '../../api/object.ts'
import type { Step } from '../kit/index.ts'
import { type Observed, disruptedOf } from './observe.ts'

export type Action =
  | { kind: 'AskScale'; ref: OwnerReference; seen: Observed }
  /** Emits events about problems if the status is about to change. */
  | { kind: 'Tell'; seen: Observed }

/** The actions only complete the observation and emit events. The timer is set to the next overdue eviction. */
export function plan(seen: Observed): Step<Action> {
  const { recheckAtMs } = disruptedOf(seen.pods, seen.budget.status.disruptedPods, seen.nowMs)
  return {
    actions: [...seen.unknown.map((ref): Action => ({ kind: 'AskScale', ref, seen })), { kind: 'Tell', seen }],
    ...(recheckAtMs === undefined ? {} : { requeueAfterMs: recheckAtMs - seen.nowMs }),
  }
}
