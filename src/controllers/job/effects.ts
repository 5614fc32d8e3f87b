import type { Pod } from '../../api/generated/types.ts'
import type { Outcome } from '../kit/index.ts'
import type { Action } from './plan.ts'

/** What actions have made of the pods. */
export interface Effects {
  created: number
  /** Deleted or dropped. */
  ended: ReadonlySet<Pod>
  /** No longer tracked. */
  letGo: ReadonlySet<Pod>
  /** Why a pod could not be made. */
  refusal: Error | undefined
}

export function effectsOf({ done, failed }: Outcome<Action>): Effects {
  const of = (...kinds: Action['kind'][]) => new Set(done.flatMap((a) => ('pod' in a && kinds.includes(a.kind) ? [a.pod] : [])))
  return {
    created: done.filter((a) => a.kind === 'CreatePod').length,
    ended: of('DeletePod', 'DropPod'),
    letGo: of('LetGoPod', 'DropPod', 'ReleasePod'),
    refusal: failed.find(({ action }) => action.kind === 'CreatePod')?.error,
  }
}
