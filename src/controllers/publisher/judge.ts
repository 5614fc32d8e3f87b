import type { WorkloadCondition } from '../../api/kinds/workloads/rollout-clock.ts'
import type { AnyAction, ObserveContext, Outcome } from '../kit/index.ts'
import { type Condition, findCondition, isConditionTrue, setCondition } from '../kit/workload/index.ts'
import type { PublishedKind } from './kinds.ts'
import { type Published, type Workload, stateOf, viewOf } from './view.ts'

/** The status that our own controller would report for a workload. */
export interface Judgement extends Published {
  /** Time until the status changes without an event. */
  changesInMs: number | undefined
  /** State that the controller keeps for its next reconcile. */
  memory: unknown
}

/** Evaluates a workload with the controller of its kind, which is never run. Pure except for reads of the caches. */
export function judge(
  kind: PublishedKind,
  ctx: ObserveContext,
  workload: Workload,
  last: Published | undefined,
): Judgement {
  const { controller } = kind
  const view = viewOf(workload, kind, last)
  if (isFinishedJob(kind, view))
    return { conditions: finished(view, ctx.nowMs), state: {}, changesInMs: undefined, memory: undefined }
  const observed = controller.observe(ctx, view) as unknown
  const seen = controller.derive ? (controller.derive(observed) as unknown) : observed
  const outcome: Outcome<AnyAction> = {
    done: [],
    failed: refusalsIn(view),
    skipped: [],
    wait: controller.plan(seen).wait,
  }
  const status = controller.status!.compute(seen, outcome) as NonNullable<Workload['status']>
  const conditions = (status.conditions ?? []).filter(({ type }) => kind.conditions.includes(type)) as Condition[]
  const changesInMs = controller.status!.changesInMs?.(seen, status as never)
  return { conditions, state: stateOf(status, kind), changesInMs, memory: controller.remember?.(seen, outcome) }
}

/** Failures to create pods, which only the owner's conditions report. */
function refusalsIn({ status }: Workload): Outcome<AnyAction>['failed'] {
  const failure = findCondition(status?.conditions, 'ReplicaFailure')
  return failure?.status === 'True' ? [{ action: { kind: 'CreatePod' }, error: new Error(failure.message ?? '') }] : []
}

const isFinishedJob = ({ controller }: PublishedKind, { status }: Workload): boolean =>
  controller.owner.kind === 'Job' && ['Complete', 'Failed'].some((type) => isConditionTrue(status?.conditions, type))

/** A Job that finished before it was published is not changed. */
function finished({ status }: Workload, nowMs: number): Condition[] {
  const said = (status?.conditions ?? []).filter(({ type }) => type === 'Waiting' || type === 'Running')
  return said.flatMap(({ type }) =>
    setCondition(
      said.filter((c) => c.type === type),
      { type, status: 'False', reason: 'JobFinished', message: 'The Job is finished.' },
      nowMs,
    ),
  )
}

/** The fields of conditions in every stock type. */
type StockCondition = Pick<WorkloadCondition, 'type' | 'status' | 'reason' | 'message' | 'lastTransitionTime'>

/** Removes fields that stock types lack: the server would reject an apply that contains one. */
export const stockCondition = ({
  type,
  status,
  reason,
  message,
  lastTransitionTime,
}: WorkloadCondition): StockCondition => ({
  type,
  status,
  ...(reason ? { reason } : {}),
  ...(message ? { message } : {}),
  ...(lastTransitionTime ? { lastTransitionTime } : {}),
})

/** Compares two lists of conditions: equal, different in wording, or different in what users and scripts wait for. */
export function differenceOf(
  stored: readonly WorkloadCondition[] | null | undefined,
  wanted: readonly WorkloadCondition[],
): 'none' | 'words' | 'state' {
  let difference: 'none' | 'words' = 'none'
  for (const condition of wanted) {
    const before = stored?.find(({ type }) => type === condition.type)
    if (before?.status !== condition.status || before.reason !== condition.reason) return 'state'
    if (
      before.message !== condition.message ||
      (before.lastTransitionTime ?? '') !== (condition.lastTransitionTime ?? '')
    )
      difference = 'words'
  }
  return difference
}
