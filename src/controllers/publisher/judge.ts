import type { WorkloadCondition } from '../../api/workload-condition.ts'
import type { AnyAction, ObserveContext, Outcome } from '../kit/index.ts'
import { type Condition, findCondition, isConditionTrue, setCondition } from '../kit/workload/index.ts'
import type { PublishedKind } from './kinds.ts'
import { type Published, type Workload, stateOf, viewOf } from './view.ts'

/** What a workload's controller of ours would say of it. */
export interface Judgement extends Published {
  /** The time after which it says something else by itself. */
  changesInMs: number | undefined
  /** What that controller wants to know at its next look. */
  memory: unknown
}

/** Judges a workload by the controller of its kind, which is never let act. Pure but for the caches that it reads. */
export function judge(kind: PublishedKind, ctx: ObserveContext, workload: Workload, last: Published | undefined): Judgement {
  const { controller } = kind
  const view = viewOf(workload, kind, last)
  if (isFinishedJob(kind, view)) return { conditions: finished(view, ctx.nowMs), state: {}, changesInMs: undefined, memory: undefined }
  const seen = controller.observe(ctx, view) as unknown
  const outcome: Outcome<AnyAction> = { done: [], failed: refusalsIn(view), skipped: [], wait: controller.plan(seen).wait }
  const status = controller.status!(seen, outcome) as NonNullable<Workload['status']>
  const conditions = (status.conditions ?? []).filter(({ type }) => kind.conditions.includes(type)) as Condition[]
  const changesInMs = controller.changesInMs?.(seen, status as never)
  return { conditions, state: stateOf(status, kind), changesInMs, memory: controller.remember?.(seen, outcome) }
}

/** What keeps the owner from making pods is in its own condition, and nowhere else. */
function refusalsIn({ status }: Workload): Outcome<AnyAction>['failed'] {
  const failure = findCondition(status?.conditions, 'ReplicaFailure')
  return failure?.status === 'True' ? [{ action: { kind: 'CreatePod' }, error: new Error(failure.message ?? '') }] : []
}

const isFinishedJob = ({ controller }: PublishedKind, { status }: Workload): boolean =>
  controller.owner.kind === 'Job' && ['Complete', 'Failed'].some((type) => isConditionTrue(status?.conditions, type))

/** A Job that was over before it was published is left as it is. */
function finished({ status }: Workload, nowMs: number): Condition[] {
  const said = (status?.conditions ?? []).filter(({ type }) => type === 'Waiting' || type === 'Running')
  return said.flatMap(({ type }) =>
    setCondition(said.filter((c) => c.type === type), { type, status: 'False', reason: 'JobFinished', message: 'The Job is finished.' }, nowMs))
}

/** The fields that the conditions of every stock type have. */
type StockCondition = Pick<WorkloadCondition, 'type' | 'status' | 'reason' | 'message' | 'lastTransitionTime'>

/** A condition without the fields that stock types lack: an apply that names one is refused. */
export const stockCondition = ({ type, status, reason, message, lastTransitionTime }: WorkloadCondition): StockCondition =>
  ({ type, status, ...(reason ? { reason } : {}), ...(message ? { message } : {}), ...(lastTransitionTime ? { lastTransitionTime } : {}) })

/** How much two lists of conditions differ: not at all, in words, or in what people and scripts wait for. */
export function differenceOf(stored: readonly WorkloadCondition[] | null | undefined, wanted: readonly WorkloadCondition[]): 'none' | 'words' | 'state' {
  let difference: 'none' | 'words' = 'none'
  for (const condition of wanted) {
    const before = stored?.find(({ type }) => type === condition.type)
    if (before?.status !== condition.status || before.reason !== condition.reason) return 'state'
    if (before.message !== condition.message || (before.lastTransitionTime ?? '') !== (condition.lastTransitionTime ?? '')) difference = 'words'
  }
  return difference
}
