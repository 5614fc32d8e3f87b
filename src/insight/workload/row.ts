import { type Cause, byName } from '../../api/explain/index.ts'
import { controllerOf } from '../../client/index.ts'
import { type WorkloadKind, workloadKinds } from './kinds.ts'
import type { Workload } from './object.ts'
import { type Standing, type State, states } from './said.ts'
import { standingOf } from './standing.ts'

/** A workload of the table. */
export interface Row extends Standing {
  kind: WorkloadKind
  object: Workload
  /** The causes, the most severe first. */
  causes: readonly Cause[]
}

export const rowOf = (kind: WorkloadKind, object: Workload, nowMs: number, causes: readonly Cause[] = []): Row => ({
  ...standingOf(kind, object, nowMs),
  kind,
  object,
  causes,
})

/** States that need no further reads to be explained. */
const plainStates: readonly State[] = ['Available', 'Complete', 'Scheduled', 'Suspended']

/** A running Job needs none while all of its pods run, and a DaemonSet none while its pods are available. */
export const needsExplanation = ({ state, numbers: { desired, ready, current, elsewhere = 0 } }: Row): boolean =>
  elsewhere > 0 || (state === 'Running' ? ready < Math.max(desired, current) : !plainStates.includes(state))

/** Reports whether a workload is omitted, because its owner is in the table. */
export const isOwned = ({ kind, object }: Pick<Row, 'kind' | 'object'>): boolean =>
  kind.ownedBy !== undefined && controllerOf(object)?.kind === kind.ownedBy

/** Sorts workloads that need attention first, then by namespace, kind and name. */
export const byAttention = (a: Row, b: Row): number =>
  states.indexOf(a.state) - states.indexOf(b.state) ||
  byName(a.object.metadata.namespace ?? '', b.object.metadata.namespace ?? '') ||
  workloadKinds.indexOf(a.kind) - workloadKinds.indexOf(b.kind) ||
  byName(a.object.metadata.name ?? '', b.object.metadata.name ?? '')
