import type { KubeObject } from '../../api/object.ts'
import type { WorkloadCondition } from '../../api/kinds/workloads/rollout-clock.ts'
import { type Condition, noDeadline } from '../kit/workload/index.ts'
import type { PublishedKind } from './kinds.ts'
import type { RolloutState, WorkloadStatus } from './workload-status.ts'

/** Stands for spec.progressDeadlineSeconds where the kind has no such field. */
export const deadlineAnnotation = 'coxswain.dev/progress-deadline-seconds'

/** A workload, as far as publishing goes. */
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

/** The fields of a status that the next one is judged by. */
export const stateOf = (status: RolloutState, { state }: PublishedKind): RolloutState =>
  Object.fromEntries(state.flatMap((field) => (status[field] === undefined ? [] : [[field, status[field]]])))

/** The seconds that the annotation says; undefined where it says none. */
export function annotatedDeadline({ metadata: { annotations } }: KubeObject): number | undefined {
  const text = annotations?.[deadlineAnnotation] ?? ''
  const seconds = /^[0-9]{1,10}$/.test(text) ? Number(text) : 0
  return seconds > 0 && seconds <= noDeadline ? seconds : undefined
}

/**
 * The workload as its own controller of ours would have it stored: with the conditions that were published last instead
 * of those that the owner has left, with our fields of the status, and with the deadline of the annotation.
 */
export function viewOf(workload: Workload, kind: PublishedKind, last: Published | undefined): Workload {
  const { status = {} } = workload
  const spec =
    workload.spec?.progressDeadlineSeconds === undefined && kind.conditions.includes('Progressing')
      ? { ...workload.spec, progressDeadlineSeconds: annotatedDeadline(workload) ?? noDeadline }
      : workload.spec
  if (!last)
    return { ...workload, ...(spec ? { spec } : {}), status: { ...status, conditions: status.conditions ?? [] } }
  const others = (status.conditions ?? []).filter(({ type }) => !kind.conditions.includes(type))
  const conditions = [...others, ...last.conditions.filter(({ type }) => kind.conditions.includes(type))]
  return { ...workload, ...(spec ? { spec } : {}), status: { ...status, ...last.state, conditions } }
}
