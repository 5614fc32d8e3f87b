import type { ContainerStatus, PodCondition, PodStatus } from '../../api/generated/types.ts'
import type { Int64 } from '../../api/int64.ts'
import { inPlaceUpdateReady, mayServeAgain } from '../../api/kinds/in-place-update.ts'
import { timestamp } from '../../api/kinds/pod-prepare.ts'
import { type SandboxFailure, sandboxConditionOf, sandboxReasons } from '../../api/kinds/sandbox-condition.ts'
import { ephemeralContainersOf, initContainersOf, regularContainersOf } from '../pods/containers.ts'
import { readySandbox } from '../runtime/pod-view.ts'
import { type Saying, containersReady, initialized, podReady, readyToStartContainers } from './conditions.ts'
import { type ContainersSeen, containerStatuses, endedStatuses, tellsOfRun } from './container-statuses.ts'
import { type Phase, phaseOf } from './phase.ts'

/** A verdict on the whole pod that its containers' states cannot overturn: its deadline has passed, its node goes down. */
export interface Verdict {
  phase: Phase
  reason: string
  message: string
  /** Why it was disrupted, where it was. */
  disruption?: { reason: string; message: string }
}

export interface Seen extends ContainersSeen {
  /** What was said last; after a restart, what the API has. */
  old: PodStatus
  verdict: Verdict | undefined
  hostIps: readonly string[]
  nowMs: number
  /** Whether volumes, sandbox and network may be told of: the gate of PodReadyToStartContainers. */
  tellsSandbox: boolean
  /** Why the last attempt to mount volumes or to make a sandbox failed; undefined once another has succeeded. */
  failure: SandboxFailure | undefined
  /** True once nothing of the pod runs any more, and nothing will. */
  hasEnded: boolean
  /** Whether the pod's volumes are there. */
  hasVolumes: boolean
  /** True if the runtime remembers all the time since the pod was taken, or this agent took it. */
  isVouchedFor: boolean
  /** Whether nothing has been said about the pod since the agent started: times then come from the runtime, where it knows them. */
  isFirst: boolean
}

const sandboxChanged: SandboxFailure = {
  reason: sandboxReasons.sandboxChanged,
  message: 'Pod sandbox changed, it will be killed and re-created.',
}
const sandboxLost: SandboxFailure = {
  reason: sandboxReasons.sandboxLost,
  message: 'The runtime does not have the pod sandbox any more, it will be re-created.',
}

const historyUnknown: SandboxFailure = {
  reason: sandboxReasons.sandboxHistoryUnknown,
  message: 'The node has lost its memory of the pod, and cannot tell whether it had a sandbox before.',
}
/** Start and first condition are written together: with whole seconds, one may be a second later. */
const sameTimeMs = 1000

/** What is to be said about a pod now. Pure: times come from `old` where nothing has changed, and from `nowMs` where something has. */
export function generateStatus(seen: Seen): PodStatus {
  const { pod, old, verdict } = seen
  const init = containerStatuses(seen, initContainersOf(pod), old.initContainerStatuses) ?? []
  const regular = containerStatuses(seen, regularContainersOf(pod), old.containerStatuses) ?? []
  const ephemeral = containerStatuses(seen, ephemeralContainersOf(pod), old.ephemeralContainerStatuses)
  const statuses = seen.hasEnded ? endedStatuses({ init, regular }) : { init, regular }
  const presentPhase = finalPhase(old.phase, phaseOf(pod, statuses, seen.isEnding), seen.hasEnded)
  const phase = verdict ? finalPhase(old.phase, verdict.phase, seen.hasEnded) : presentPhase
  // As long as something runs, nobody may take the pod for ended; its conditions say already what is to come.
  const isHeldBack = verdict !== undefined && seen.state.containers.some((c) => c.state === 'running')
  const toldPhase = isHeldBack ? presentPhase : phase
  const sandbox = readySandbox(seen.state, pod.spec.hostNetwork === true)
  const containers = containersReady(pod, statuses, phase)
  const opened = phase === 'Running' && !seen.isEnding ? openedGates(seen, [...statuses.regular]) : []
  const isReadyToStart = sandbox !== undefined && seen.hasVolumes
  const isAwaited = !seen.isEnding && (phase === 'Pending' || phase === 'Running')
  // Also of a pod that is being ended: its last word is what others decide by.
  const isUnknown = !isReadyToStart && !seen.isVouchedFor && !isHistoryKnown(seen)
  const known = isAwaited ? (seen.failure ?? lostSandbox(seen)) : undefined
  const failure = isUnknown ? (known ?? historyUnknown) : known
  const readiness = isReadyToStart ? 'True' : isUnknown ? 'Unknown' : 'False'
  const sayings: Saying[] = [
    ...(seen.tellsSandbox ? [readyToStartContainers(readiness, failure)] : []),
    initialized(pod, statuses, phase),
    podReady(pod, containers, [...opened, ...(pod.status?.conditions ?? [])]),
    containers,
    { type: 'PodScheduled', status: 'True' },
    ...opened,
    ...(verdict?.disruption ? [{ type: 'DisruptionTarget', status: 'True', ...verdict.disruption } as const] : []),
  ]
  const generation = pod.metadata.generation
  const knownTimes = seen.isFirst ? timesFromRuntime(seen, statuses.regular.length) : {}
  const conditions = sayings.map((saying) => condition(saying, old.conditions, knownTimes[saying.type] ?? seen.nowMs, generation))
  const kept = isHeldBack ? old : verdict ?? (phase === 'Failed' && old.phase === 'Failed' ? old : undefined)
  const podIps = pod.spec.hostNetwork ? seen.hostIps : (sandbox?.ips ?? [])
  // Where a pod has been reached stays known once it has ended, as long as nothing else is known.
  const ips = podIps.length > 0 ? podIps : phase === 'Pending' || phase === 'Running' ? [] : (old.podIPs ?? []).map(({ ip }) => ip)
  return {
    phase: toldPhase,
    conditions,
    ...(kept?.reason ? { reason: kept.reason } : {}),
    ...(kept?.message ? { message: kept.message } : {}),
    ...(seen.hostIps.length > 0 ? { hostIP: seen.hostIps[0]!, hostIPs: seen.hostIps.map((ip) => ({ ip })) } : {}),
    ...(ips.length > 0 ? { podIP: ips[0]!, podIPs: ips.map((ip) => ({ ip })) } : {}),
    startTime: old.startTime ?? timestamp(seen.nowMs),
    ...(statuses.init.length > 0 ? { initContainerStatuses: [...statuses.init] } : {}),
    ...(statuses.regular.length > 0 ? { containerStatuses: [...statuses.regular] } : {}),
    ...(ephemeral ? { ephemeralContainerStatuses: ephemeral } : {}),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  }
}

/** True if it is known, without the runtime's memory, that the pod had a sandbox: what was told before says so. */
function isHistoryKnown({ state, old }: Seen): boolean {
  if (state.sandboxes.length > 0 || hasRunContainers(old)) return true
  const { status, lastTransitionTime } = sandboxConditionOf({ status: old }) ?? {}
  // A node says False when it takes a pod. A later False follows a True.
  return status === 'True' || (status === 'False' && Date.parse(lastTransitionTime ?? '') > Date.parse(old.startTime ?? '') + sameTimeMs)
}

function hasRunContainers({ initContainerStatuses = [], containerStatuses = [] }: PodStatus): boolean {
  return [...initContainerStatuses, ...containerStatuses].some(tellsOfRun)
}

/** What became of a sandbox that the pod had before; undefined for its first one. */
function lostSandbox({ state, old }: Seen): SandboxFailure | undefined {
  if (state.sandboxes.length > 0) return sandboxChanged
  const before = sandboxConditionOf({ status: old })
  return hasRunContainers(old) || before?.status === 'True' || before?.reason === sandboxLost.reason ? sandboxLost : undefined
}

/** The gate of an update in place that is through with these statuses: who runs the pod is the first to know. */
function openedGates({ pod }: Seen, containerStatuses: ContainerStatus[]): Saying[] {
  const { generation: observedGeneration } = pod.metadata
  const isThrough = mayServeAgain({ ...pod, status: { ...pod.status, containerStatuses, ...(observedGeneration === undefined ? {} : { observedGeneration }) } })
  return isThrough ? [{ type: inPlaceUpdateReady, status: 'True' }] : []
}

const isFinal = (phase: string | undefined): phase is 'Failed' | 'Succeeded' => phase === 'Failed' || phase === 'Succeeded'

/** A pod that has ended stays ended, whatever becomes of what is left of it. One that ends before it has begun fails. */
const finalPhase = (old: string | undefined, next: Phase, hasEnded: boolean): Phase => (isFinal(old) ? old : hasEnded && !isFinal(next) ? 'Failed' : next)

function condition(saying: Saying, old: readonly PodCondition[] | undefined, atMs: number, generation: Int64 | undefined): PodCondition {
  const before = old?.find((c) => c.type === saying.type)
  const lastTransitionTime = (before?.status === saying.status && before.lastTransitionTime) || timestamp(atMs)
  return { ...saying, lastTransitionTime, ...(generation === undefined ? {} : { observedGeneration: generation }) }
}

/** When conditions must have turned true while nobody was told: the agent or the API was away. */
function timesFromRuntime(seen: Seen, containers: number): Partial<Record<string, number>> {
  const sandbox = readySandbox(seen.state, seen.pod.spec.hostNetwork === true)
  if (!sandbox) return {}
  const running = seen.state.containers.filter((c) => c.sandboxId === sandbox.id && c.state === 'running')
  const hasProbes = seen.pod.spec.containers.some((c) => c.readinessProbe || c.startupProbe)
  const startedMs = Math.max(...running.map((c) => c.startedAtMs))
  const isAllUp = running.length >= containers && !hasProbes
  return { PodReadyToStartContainers: sandbox.createdAtMs, ...(isAllUp ? { Ready: startedMs, ContainersReady: startedMs, Initialized: startedMs } : {}) }
}
