import { recoveryAnnotation } from '../../api/explain/index.ts'
import type { Pod } from '../../api/generated/types.ts'
import { isPodReady, millisecondsOf } from '../kit/workload/index.ts'
import { startOrdinal } from './identity.ts'
import type { Look } from './look.ts'
import type { Member } from './member.ts'

const brokenReasons = new Set(['CrashLoopBackOff', 'ImagePullBackOff', 'ErrImagePull', 'CreateContainerConfigError', 'CreateContainerError'])

/** Whether a pod is outdated, does not work, and is to be replaced at once because the set asks for that. */
export function isBrokenRollout({ seen: { set }, revisions, partition }: Look, { pod, ordinal, revision, isTerminating }: Member): boolean {
  if (set.metadata.annotations?.[recoveryAnnotation] !== 'true' || set.spec.updateStrategy.type === 'OnDelete') return false
  if (ordinal < startOrdinal(set) + partition || revision === revisions.update.name) return false
  return !isTerminating && !isPodReady(pod) && (hasBrokenContainer(pod) || wasNeverReady(pod))
}

const hasBrokenContainer = ({ status }: Pod): boolean =>
  [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].some(({ state }) => brokenReasons.has(state?.waiting?.reason ?? ''))

/** A pod that was ready once has lost its readiness later than it was initialised. */
function wasNeverReady({ status }: Pod): boolean {
  const timeOf = (type: string) => millisecondsOf(status?.conditions?.find((c) => c.type === type)?.lastTransitionTime)
  const lostAtMs = timeOf('Ready')
  return Number.isNaN(lostAtMs) || lostAtMs <= Math.max(timeOf('Initialized') || 0, millisecondsOf(status?.startTime) || 0)
}
