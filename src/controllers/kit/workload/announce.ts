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
  else if (rolloutState(after.conditions) === 'running' && hasGoneOn(was, is)) event('Normal', 'RolloutRecovered', 'The rollout makes progress again.')
}

/** A deadline that was raised, or another rollout that begins, is no progress: only a clock that has moved under the reason of moving pods is. */
const hasGoneOn = (was: StoredCondition | undefined, is: StoredCondition): boolean =>
  was?.status === 'False' && is.status === 'True' && movingReasons.has(is.reason ?? '') && was.lastUpdateTime !== is.lastUpdateTime &&
  was.progress?.revision === is.progress?.revision

const movingReasons: ReadonlySet<string> = new Set(['ReplicaSetUpdated', 'ReplicasUpdated'])
