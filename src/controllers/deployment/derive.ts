import type { ReplicaSet } from '../../api/generated/types.ts'
import type { Observed } from './observe.ts'
import { type Bounds, boundsOf } from './rolling.ts'

/** An observation together with what several stages need of it. */
export interface Derived extends Observed {
  bounds: Bounds
  /** All ReplicaSets of the Deployment: the old ones by age, then the new one. */
  sets: readonly ReplicaSet[]
}

export function derive(seen: Observed): Derived {
  const { deployment, newSet, oldSets } = seen
  return { ...seen, bounds: boundsOf(deployment), sets: newSet ? [...oldSets, newSet] : oldSets }
}
