import type { Refusal } from '../../api/explain/index.ts'
import { millisecondsOf } from '../../api/timestamp.ts'
import type { WorkloadKind } from './kinds.ts'
import { type Workload, conditionOf, isConditionTrue } from './object.ts'
import type { OwnPods } from './own-pods.ts'
import { type Reader, eventTime } from './reader.ts'

/** A refusal that the workload's own conditions tell. */
export function refusalOf(object: Workload): Refusal | undefined {
  const told = (type: string, what: Refusal['what']): Refusal => {
    const { message = '', lastTransitionTime } = conditionOf(object, type)!
    return { what, message, ...(lastTransitionTime ? { since: lastTransitionTime } : {}) }
  }
  if (isConditionTrue(object, 'ReplicaFailure')) {
    return told(
      'ReplicaFailure',
      conditionOf(object, 'ReplicaFailure')!.reason === 'FailedDelete' ? 'DeleteRefused' : 'CreateRefused',
    )
  }
  if (isConditionTrue(object, 'FailedUpdate')) return told('FailedUpdate', 'UpdateRefused')
  return conditionOf(object, 'Waiting')?.reason === 'FailedCreate' ? told('Waiting', 'CreateRefused') : undefined
}

/**
 * Kubernetes' own StatefulSets, DaemonSets and Jobs say only in an event that a pod was refused. It counts until a pod
 * was made after it.
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
  const newestPodMs = Math.max(0, ...(own?.pods ?? []).map((pod) => millisecondsOf(pod.metadata.creationTimestamp)))
  if (millisecondsOf(eventTime(refused)) < newestPodMs) return undefined
  const message = (refused.message ?? '').replace(/^Error creating: /, '')
  return { what: 'CreateRefused', message, since: refused.firstTimestamp ?? eventTime(refused) }
}
