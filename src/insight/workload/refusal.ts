import type { Refusal } from '../../api/explain/index.ts'
import { millisecondsOf } from '../../api/object.ts'
import type { WorkloadKind } from './kinds.ts'
import { type Workload, isConditionTrue } from './object.ts'
import type { OwnPods } from './own-pods.ts'
import { type Reader, eventTime } from './reader.ts'

/**
 * Finds the rejection of a pod. Kubernetes' own StatefulSets, DaemonSets and Jobs report it only in an event, which
 * counts until a later pod is created.
 */
export async function refusalInEvents(
  reader: Reader,
  kind: WorkloadKind,
  object: Workload,
  own: OwnPods | undefined,
): Promise<Refusal | undefined> {
  const { desired, current } = kind.numbersOf(object)
  if (current >= desired || kind.kind === 'CronJob' || isConditionTrue(object, 'Complete') || object.spec?.suspend)
    return undefined
  const events = await reader.eventsOf(own?.maker ?? object)
  const refused = events.find(({ type, reason }) => type === 'Warning' && reason === 'FailedCreate')
  if (!refused) return undefined
  const newestPodMs = latest((own?.pods ?? []).map((pod) => millisecondsOf(pod.metadata.creationTimestamp)))
  if (millisecondsOf(eventTime(refused)) < newestPodMs) return undefined
  const message = (refused.message ?? '').replace(/^Error creating: /, '')
  return { what: 'CreateRefused', message, since: refused.firstTimestamp ?? eventTime(refused) }
}

const latest = (times: readonly number[]): number => times.reduce((last, ms) => Math.max(last, ms), 0)
