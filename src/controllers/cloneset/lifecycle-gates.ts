import type { CloneSetSpec, LifecycleHook, Pod, PodCondition } from '../../api/generated/types.ts'
import { inPlaceUpdateReady, shutGate } from '../../api/kinds/in-place-update.ts'
import { findCondition, timestamp } from '../kit/workload/index.ts'
import type { LifecycleState } from '../../api/kinds/lifecycle-hooks.ts'
import type { PodPatch } from './actions.ts'
import { kruisePodReady } from './member.ts'

/** What one of the gates is to say. */
export type Gate = Pick<PodCondition, 'type' | 'status' | 'reason' | 'message'>

/** Those that a pod of a set has to be made with: they cannot be added later. Who replaces pods needs none, and does not keep them from being ready when no controller runs. */
export function gatesFor({ lifecycle = {}, updateStrategy = {} }: Pick<CloneSetSpec, 'lifecycle' | 'updateStrategy'>): string[] {
  const marksNotReady = lifecycle.preDelete?.markPodNotReady || lifecycle.inPlaceUpdate?.markPodNotReady
  const isInPlace = updateStrategy.type === 'InPlaceIfPossible' || updateStrategy.type === 'InPlaceOnly'
  return [...(isInPlace ? [inPlaceUpdateReady] : []), ...(marksNotReady ? [kruisePodReady] : [])]
}

const hasGate = (pod: Pod, type: string): boolean => pod.spec.readinessGates?.some((gate) => gate.conditionType === type) === true

export const hasUpdateGate = (pod: Pod): boolean => hasGate(pod, inPlaceUpdateReady)

/** The gate of updates in place, for a pod that has it. */
export const openUpdateGate = (pod: Pod): Gate[] => (hasUpdateGate(pod) ? [{ type: inPlaceUpdateReady, status: 'True' }] : [])
export const shutUpdateGate = (pod: Pod, revision: string): Gate[] => (hasUpdateGate(pod) ? [shutGate(revision)] : [])

/** Who has shut the gate of hooks, as OpenKruise writes it into the condition's message. */
interface Shutter {
  userAgent: string
  key: string
}

const userAgent = 'Lifecycle'

/** The hook that shuts it in a state. A pod that is being updated was let go by its hook, and is out of service nonetheless. */
const keyOfState: Partial<Record<LifecycleState, string>> = { PreparingUpdate: 'preUpdateHook', Updating: 'preUpdateHook', PreparingDelete: 'preDeleteHook' }

/** The gate of hooks in a state, for a pod that has it. What shut it for this state before, or for reasons of its own, keeps it shut. */
export function hookGate(pod: Pod, state: LifecycleState, hook?: LifecycleHook): Gate[] {
  if (!hasGate(pod, kruisePodReady)) return []
  const before = shuttersOf(pod)
  const key = keyOfState[state]
  const others = before.filter((s) => s.userAgent !== userAgent)
  const isShut = key !== undefined && (hook?.markPodNotReady === true || before.some((s) => s.userAgent === userAgent && s.key === key))
  const shutters = isShut ? [...others, { userAgent, key }] : others
  return [shutters.length === 0 ? { type: kruisePodReady, status: 'True' } : { type: kruisePodReady, status: 'False', message: JSON.stringify(shutters) }]
}

function shuttersOf(pod: Pod): Shutter[] {
  const condition = findCondition(pod.status?.conditions, kruisePodReady)
  if (condition?.status !== 'False' || !condition.message) return []
  try {
    const list = JSON.parse(condition.message) as unknown
    return Array.isArray(list) ? (list as Shutter[]) : []
  } catch {
    return [] // in nobody's words
  }
}

/** What says on a pod how gates are, as far as it is new. One that is shut takes the pod out of service at once, before its node has heard. */
export function gatesPatch(pod: Pod, gates: readonly Gate[], nowMs: number): Pick<PodPatch, 'status'> {
  const { conditions } = pod.status ?? {}
  const news = gates.filter(({ type, status, message = '' }) => {
    const old = findCondition(conditions, type)
    return old?.status !== status || (old.message ?? '') !== message
  })
  if (news.length === 0) return {}
  const shut = news.find(({ status }) => status !== 'True')
  const isServing = findCondition(conditions, 'Ready')?.status === 'True'
  const patch = news.map((gate) => withTime(pod, gate, nowMs))
  if (shut && isServing) patch.push(withTime(pod, { type: 'Ready', status: 'False', reason: 'ReadinessGatesNotReady', message: notTrue(shut) }, nowMs))
  return { status: { metadata: { uid: pod.metadata.uid }, status: { conditions: patch } } }
}

/** In the words of the node, which will say the same. */
const notTrue = ({ type, status }: Gate): string => `the status of pod readiness gate "${type}" is not "True", but ${status}`

function withTime(pod: Pod, { type, status, reason, message }: Gate, nowMs: number): object {
  const old = findCondition(pod.status?.conditions, type)
  const lastTransitionTime = (old?.status === status && old.lastTransitionTime) || timestamp(nowMs)
  // Null takes away what was said before.
  return { type, status, ...(reason || old?.reason ? { reason: reason ?? null } : {}), ...(message || old?.message ? { message: message ?? null } : {}), lastTransitionTime }
}
