import type { KubeObject } from '../../../api/object.ts'
import { deadlineExceeded, rolloutState } from '../../../api/rollout-clock.ts'
import type { ApplyContext } from '../definition.ts'
import { type StoredCondition, findCondition } from './conditions.ts'

interface Told {
  conditions?: readonly StoredCondition[] | null
}

/**
 * Events about the progress of a rollout: a Warning when its deadline has passed, a Normal one when it goes on after
 * that, or is complete.
 */
export function announceProgress({ event }: Pick<ApplyContext<KubeObject>, 'event'>, before: Told | undefined, after: Told): void {
  const [was, is] = [before, after].map((status) => findCondition(status?.conditions, 'Progressing'))
  if (!is || (was?.reason === is.reason && was?.status === is.status)) return
  const { reason = '', message = '' } = is
  if (is.reason === deadlineExceeded) event('Warning', reason, message)
  else if (rolloutState(after.conditions) === 'complete') event('Normal', 'RolloutComplete', message)
  else if (is.status === 'True' && was?.status === 'False') event('Normal', 'RolloutRecovered', message)
}
