import type { ContainerStatus, PersistentVolumeClaim, Pod, PodCondition } from '../../api/generated/types.ts'
import { blamesClaim, sandboxConditionOf } from '../../api/kinds/pods/sandbox-condition.ts'
import { isPodActive, isPodReady, millisecondsOf } from '../kit/workload/index.ts'
import { type Member, type MemberClaim, type Observed, isWanted } from './observe.ts'
import { countOf, waitMs } from './settings.ts'
import { soonest } from '../../base/soonest.ts'

export const conditionOf = ({ status }: Pod, type: string): PodCondition | undefined =>
  status?.conditions?.find((c) => c.type === type)

/** The start time and the first condition are written together, but may be rounded to different seconds. */
const sameTimeMs = 1000

/**
 * Determines from a pod alone whether it ever had a ready sandbox. A node sets False when it accepts a pod, and a later
 * False follows a True, observed or not. Insufficient information is `unknown`.
 */
export function sandboxHistory(pod: Pod): 'ready' | 'never' | 'unknown' {
  const condition = sandboxConditionOf(pod)
  if (condition?.status === 'True' || hasRun(pod)) return 'ready'
  // Only nodes create sandboxes.
  if (!pod.spec?.nodeName) return 'never'
  const sinceMs = millisecondsOf(condition?.lastTransitionTime)
  const takenMs = millisecondsOf(pod.status?.startTime)
  if (condition?.status !== 'False' || Number.isNaN(sinceMs) || Number.isNaN(takenMs)) return 'unknown'
  return sinceMs <= takenMs + sameTimeMs ? 'never' : 'ready'
}

function hasRun({ status }: Pod): boolean {
  const all = [
    ...(status?.initContainerStatuses ?? []),
    ...(status?.containerStatuses ?? []),
    ...(status?.ephemeralContainerStatuses ?? []),
  ]
  return all.some(isTraceOfRun)
}

/** A pod that finishes before it starts gets `ContainerStatusUnknown` for containers that never existed. */
const isTraceOfRun = ({ state, lastState, restartCount }: ContainerStatus): boolean =>
  restartCount > 0 ||
  Boolean(
    state?.running ||
    lastState?.terminated ||
    lastState?.running ||
    (state?.terminated && state.terminated.reason !== 'ContainerStatusUnknown'),
  )

/**
 * Reports whether a deleted pod has finished, and whether its node, if any, has reported that: its status is then
 * final.
 */
export function endOf(pod: Pod): 'not yet' | 'told' | 'untold' {
  const { deletionTimestamp, deletionGracePeriodSeconds, generation } = pod.metadata
  if (!deletionTimestamp || deletionGracePeriodSeconds !== 0) return 'not yet'
  // A deletion increments the generation. A node that has observed it starts nothing more.
  const isObserved = generation !== undefined && (pod.status?.observedGeneration ?? 0) >= generation
  return !pod.spec?.nodeName || isObserved ? 'told' : 'untold'
}

/**
 * The claims that prevent a pod's sandbox from becoming ready, and the evidence. An unbound claim is evidence by
 * itself. Otherwise the node's condition on the pod must name the volume: a missing config map, or a missing network,
 * has another reason. The report of a lost node may be outdated.
 */
export function volumeTroubles({ pod, claims, isNodeLost }: Member): (MemberClaim & { cause: string })[] {
  const condition = isNodeLost ? undefined : sandboxConditionOf(pod)
  return claims.flatMap((one) => {
    const told = blamesClaim(condition, one.volume) ? `${condition?.reason}: ${condition?.message}` : undefined
    const cause = unbound(one.claim) ?? told
    return cause === undefined ? [] : [{ ...one, cause }]
  })
}

function unbound({ metadata: { name }, status }: PersistentVolumeClaim): string | undefined {
  if (status?.phase === 'Lost') return `claim ${name} has lost its volume`
  return status?.phase === 'Bound' ? undefined : `claim ${name} is not bound`
}

/** The trouble of a pod: its sandbox does not become ready or, with a ready sandbox, the pod does not. */
export interface Trouble {
  what: 'sandbox' | 'readiness'
  /** The time in the API's format. Another time is another wait. */
  since: string
}

/** Undefined for a pod that waits for neither, that makes progress, or whose wait has an unknown start. */
export function troubleOf(pod: Pod): Trouble | undefined {
  const sandbox = sandboxConditionOf(pod)
  const turned = sandbox?.lastTransitionTime
  if (!isPodActive(pod) || isPodReady(pod) || !turned) return undefined
  if (sandbox.status !== 'True') return { what: 'sandbox', since: turned }
  if (isStarting(pod)) return undefined
  const since = latest(turned, initializedAt(pod))
  return wasReadySince(pod, since) ? undefined : { what: 'readiness', since }
}

/** A pod that lost its readiness after its sandbox became ready may recover. */
const wasReadySince = (pod: Pod, since: string): boolean =>
  millisecondsOf(conditionOf(pod, 'Ready')?.lastTransitionTime) > millisecondsOf(since)

const isSidecar = ({ spec }: Pod, name: string): boolean =>
  spec?.initContainers?.some((container) => container.name === name && container.restartPolicy === 'Always') === true

const initStatuses = (pod: Pod): ContainerStatus[] =>
  (pod.status?.initContainerStatuses ?? []).filter(({ name }) => !isSidecar(pod, name))

/**
 * True if an init container runs, or a container's startup probe has not succeeded in its first run. Both may take
 * long.
 */
function isStarting(pod: Pod): boolean {
  const probed = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])].filter(
    ({ startupProbe }) => startupProbe,
  )
  const all = [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])]
  const isStartingUp = ({ name, state, started, restartCount }: ContainerStatus) =>
    state?.running !== undefined &&
    started !== true &&
    restartCount === 0 &&
    probed.some((container) => container.name === name)
  return initStatuses(pod).some(({ state }) => state?.running !== undefined) || all.some(isStartingUp)
}

/** The time at which the last init container succeeded. */
const initializedAt = (pod: Pod): string | undefined =>
  initStatuses(pod)
    .flatMap(({ state }) => (state?.terminated?.exitCode === 0 ? (state.terminated.finishedAt ?? []) : []))
    .toSorted()
    .at(-1)

const latest = (a: string, b: string | undefined): string =>
  b !== undefined && millisecondsOf(b) > millisecondsOf(a) ? b : a

/** A pod that has been in trouble for too long. */
export interface Due {
  member: Member
  trouble: Trouble
  /** The number of previous unsuccessful recoveries. */
  tries: number
}

/** The pods that are due, and the time until the next is. */
export interface DuePods {
  due: readonly Due[]
  /** Pods that would be due without previous recoveries, and the time until which they wait. */
  heldBack: readonly (Due & { untilMs: number })[]
  nextMs: number | undefined
  /** The number of unsuccessful recoveries of the set's pods. */
  tries: number
}

/** The longest wait comes first, so that a pod that fails repeatedly does not block others. */
export function duePods({ set, members, tries, nowMs }: Observed, afterMs: number): DuePods {
  const due: Due[] = []
  const heldBack: (Due & { untilMs: number })[] = []
  let nextMs: number | undefined
  let sum = 0
  for (const member of members) {
    if (!isWanted(set, member.ordinal)) continue
    const trouble = troubleOf(member.pod)
    const sinceMs = trouble ? millisecondsOf(trouble.since) : nowMs
    const count = countOf(tries, member.pod.metadata.name ?? '', sinceMs, afterMs)
    sum += count
    if (!trouble) continue
    const one = { member, trouble, tries: count }
    const untilMs = sinceMs + waitMs(afterMs, count)
    if (untilMs <= nowMs) due.push(one)
    else nextMs = soonest(nextMs, (sinceMs + afterMs > nowMs ? sinceMs + afterMs : untilMs) - nowMs)
    if (untilMs > nowMs && sinceMs + afterMs <= nowMs) heldBack.push({ ...one, untilMs })
  }
  return {
    due: due.sort((a, b) => millisecondsOf(a.trouble.since) - millisecondsOf(b.trouble.since)),
    heldBack,
    nextMs,
    tries: sum,
  }
}
