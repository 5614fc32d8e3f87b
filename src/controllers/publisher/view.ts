import type { KubeObject } from '../../api/object.ts'
import { type WorkloadCondition, deadlineOf } from '../../api/kinds/workloads/rollout-clock.ts'
import { type Condition, noDeadline } from '../kit/workload/index.ts'
import type { PublishedKind } from './kinds.ts'
import type { RolloutState, WorkloadStatus } from './workload-status.ts'

/** The part of a workload that publishing needs. */
export interface Workload extends KubeObject {
  spec?: { progressDeadlineSeconds?: number }
  status?: RolloutState & { conditions?: WorkloadCondition[] | null; observedGeneration?: number }
}

/** The conditions that were published last, with the clock and the state that stock types have no fields for. */
export interface Published {
  conditions: readonly Condition[]
  state: RolloutState
}

/** The published part of a companion. */
export function publishedIn(companion: WorkloadStatus | undefined, kind: PublishedKind): Published | undefined {
  if (!companion?.status) return undefined
  return { conditions: (companion.status.conditions ?? []) as Condition[], state: stateOf(companion.status, kind) }
}

/** The fields of a status that the next evaluation needs. */
export const stateOf = (status: RolloutState, { state }: PublishedKind): RolloutState =>
  Object.fromEntries(state.flatMap((field) => (status[field] === undefined ? [] : [[field, status[field]]])))

/**
 * The workload as our own controller would have stored it: with the published conditions instead of the stored ones,
 * with our status fields, and with the deadline of the annotation.
 */
export function viewOf(workload: Workload, kind: PublishedKind, last: Published | undefined): Workload {
  const { status = {} } = workload
  const spec =
    workload.spec?.progressDeadlineSeconds === undefined && kind.conditions.includes('Progressing')
      ? { ...workload.spec, progressDeadlineSeconds: deadlineOf(workload) ?? noDeadline }
      : workload.spec
  if (!last)
    return { ...workload, ...(spec ? { spec } : {}), status: { ...status, conditions: status.conditions ?? [] } }
  const others = (status.conditions ?? []).filter(({ type }) => !kind.conditions.includes(type))
  const conditions = [...others, ...last.conditions.filter(({ type }) => kind.conditions.includes(type))]
  return { ...workload, ...(spec ? { spec } : {}), status: { ...status, ...last.state, conditions } }
}
