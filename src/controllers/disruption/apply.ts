import { semanticEqual } from '../../api/deep-equal.ts'
import type { PodDisruptionBudget } from '../../api/generated/types.ts'
import type { Appliers } from '../kit/index.ts'
import { askScale } from './expected.ts'
import { newsOf, status } from './status.ts'
import type { Action } from './plan.ts'

export const apply: Appliers<PodDisruptionBudget, Action> = {
  AskScale: {
    pace: 'all at once',
    run: async ({ ask, owner }, { ref, seen }) => {
      try {
        seen.scales.set(ref.uid, await askScale(ask, owner.metadata.namespace ?? '', ref))
      } catch (e) {
        seen.scales.set(ref.uid, { failure: (e as Error).message })
        throw e
      }
    },
  },
  // Emitted when the status changes, not with every reconcile.
  Tell: async ({ event }, { seen }) => {
    if (semanticEqual(status(seen), seen.budget.status)) return
    for (const { type, reason, message, about } of newsOf(seen)) event(type, reason, message, about)
  },
}
