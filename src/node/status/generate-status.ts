import type { ContainerStatus, PodCondition, PodStatus } from '../../api/generated/types.ts'
import type { Int64 } from '../../api/numbers/int64.ts'
import { inPlaceUpdateReady, mayServeAgain } from '../../api/kinds/pods/in-place-update.ts'
import { timestamp } from '../../api/object.ts'
import { type SandboxFailure, sandboxConditionOf, sandboxReasons } from '../../api/kinds/pods/sandbox-condition.ts'
import { ephemeralContainersOf, initContainersOf, regularContainersOf } from '../pods/containers.ts'
import { readySandbox } from '../runtime/pod-view.ts'
import {
  type Saying,
  containersReady,
  initialized,
  podReady,
  readyToStartContainers,
  resizePending,
} from './conditions.ts'
import {
  type ContainersSeen,
  containerStatuses,
  endedStatuses,
  tellsOfRun,
  waitForResize,
} from './container-statuses.ts'
import { type Phase, phaseOf } from './phase.ts'
import { isFinalPhase } from '../../api/kinds/pods/pod-availability.ts'

/**
 * A phase that overrides the states of the containers, for example after the pod's deadline or when the node shuts
 * down.
 */
export interface Verdict {
  phase: Phase
  reason: string
  message: string
  /** The DisruptionTarget condition, if the pod was disrupted. */
  disruption?: { reason: string; message: string }
}

export interface Seen extends ContainersSeen {
  /** The status that was generated last; after a restart of the agent, that of the API. */
  old: PodStatus
  verdict: Verdict | undefined
  hostIps: readonly string[]
  nowMs: number
  /** True if the condition PodReadyToStartContainers is written (its feature gate). */
  tellsSandbox: boolean
  /** Why the last attempt to mount volumes or to create a sandbox failed; undefined after a success. */
  failure: SandboxFailure | undefined
  /** True once nothing of the pod runs and nothing will. */
  hasEnded: boolean
  /** True if the pod's volumes are mounted. */
  hasVolumes: boolean
  /** True if the runtime remembers everything since the pod was started, or this agent started it. */
  isVouchedFor: boolean
  /** True for the first status since the agent started. Timestamps are then those of the runtime, if it knows them. */
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
  message: 'The node has lost its record of the pod, and does not know whether it had a sandbox before.',
}
/** The start time and the first condition use one timestamp: two clock readings could differ by a second. */
const sameTimeMs = 1000

/** Generates the status of a pod. Unchanged parts keep the timestamps of `old`; changed parts get `nowMs`. */
export function generateStatus(seen: Seen): PodStatus {
  const { pod, old, verdict } = seen
  const init = containerStatuses(seen, initContainersOf(pod), old.initContainerStatuses) ?? []
  const regular = containerStatuses(seen, regularContainersOf(pod), old.containerStatuses) ?? []
  const ephemeral = containerStatuses(seen, ephemeralContainersOf(pod), old.ephemeralContainerStatuses)
  const statuses = seen.hasEnded ? endedStatuses({ init, regular }) : { init, regular }
  const presentPhase = finalPhase(old.phase, phaseOf(pod, statuses, seen.isEnding), seen.hasEnded)
  const phase = verdict ? finalPhase(old.phase, verdict.phase, seen.hasEnded) : presentPhase
  // The phase is not final while a container runs. The conditions already show the outcome.
  const isHeldBack = verdict !== undefined && seen.state.containers.some((c) => c.state === 'running')
  const toldPhase = isHeldBack ? presentPhase : phase
  const sandbox = readySandbox(seen.state, pod.spec.hostNetwork === true)
  const containers = containersReady(pod, statuses, phase)
  const opened = phase === 'Running' && !seen.isEnding ? openedGates(seen, [...statuses.regular]) : []
  const isReadyToStart = sandbox !== undefined && seen.hasVolumes
  const isAwaited = !seen.isEnding && (phase === 'Pending' || phase === 'Running')
  // Also for a pod that is being ended: controllers decide by its last status.
  const isUnknown = !isReadyToStart && !seen.isVouchedFor && !isHistoryKnown(seen)
  const known = isAwaited ? (seen.failure ?? lostSandbox(seen)) : undefined
  const failure = isUnknown ? (known ?? historyUnknown) : known
  const readiness = isReadyToStart ? 'True' : isUnknown ? 'Unknown' : 'False'
  const resizing = waitForResize(seen, [...initContainersOf(pod), ...regularContainersOf(pod)])
  const sayings: Saying[] = [
    ...(seen.tellsSandbox ? [readyToStartContainers(readiness, failure)] : []),
    initialized(pod, statuses, phase),
    podReady(pod, containers, [...opened, ...(pod.status?.conditions ?? [])]),
    containers,
    { type: 'PodScheduled', status: 'True' },
    ...opened,
    ...(resizing.length > 0 ? [resizePending(resizing)] : []),
    ...(verdict?.disruption ? [{ type: 'DisruptionTarget', status: 'True', ...verdict.disruption } as const] : []),
  ]
  const generation = pod.metadata.generation
  const knownTimes = seen.isFirst ? timesFromRuntime(seen, statuses.regular.length) : {}
  const conditions = sayings.map((saying) =>
    condition(saying, old.conditions, knownTimes[saying.type] ?? seen.nowMs, generation),
  )
  const kept = isHeldBack ? old : (verdict ?? (phase === 'Failed' && old.phase === 'Failed' ? old : undefined))
  const podIps = pod.spec.hostNetwork ? seen.hostIps : (sandbox?.ips ?? [])
  // An ended pod keeps its last addresses unless newer ones are known.
  const ips =
    podIps.length > 0
      ? podIps
      : phase === 'Pending' || phase === 'Running'
        ? []
        : (old.podIPs ?? []).map(({ ip }) => ip)
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

/** True if the last status shows that the pod had a sandbox, even if the runtime has forgotten it. */
function isHistoryKnown({ state, old }: Seen): boolean {
  if (state.sandboxes.length > 0 || hasRunContainers(old)) return true
  const { status, lastTransitionTime } = sandboxConditionOf({ status: old }) ?? {}
  // A node first writes False. A False with a later transition time follows a True.
  return (
    status === 'True' ||
    (status === 'False' && Date.parse(lastTransitionTime ?? '') > Date.parse(old.startTime ?? '') + sameTimeMs)
  )
}

function hasRunContainers({ initContainerStatuses = [], containerStatuses = [] }: PodStatus): boolean {
  return [...initContainerStatuses, ...containerStatuses].some(tellsOfRun)
}

/** The failure to report after an earlier sandbox was lost; undefined for a pod's first sandbox. */
function lostSandbox({ state, old }: Seen): SandboxFailure | undefined {
  if (state.sandboxes.length > 0) return sandboxChanged
  const before = sandboxConditionOf({ status: old })
  return hasRunContainers(old) || before?.status === 'True' || before?.reason === sandboxLost.reason
    ? sandboxLost
    : undefined
}

/** Sets the readiness gate of an in-place update that these statuses complete. The node is the first to know. */
function openedGates({ pod }: Seen, containerStatuses: ContainerStatus[]): Saying[] {
  const { generation: observedGeneration } = pod.metadata
  const isThrough = mayServeAgain({
    ...pod,
    status: { ...pod.status, containerStatuses, ...(observedGeneration === undefined ? {} : { observedGeneration }) },
  })
  return isThrough ? [{ type: inPlaceUpdateReady, status: 'True' }] : []
}

/** A final phase never changes. A pod that ends before its containers have run is Failed. */
const finalPhase = (old: string | undefined, next: Phase, hasEnded: boolean): Phase =>
  isFinalPhase(old) ? old : hasEnded && !isFinalPhase(next) ? 'Failed' : next

function condition(
  saying: Saying,
  old: readonly PodCondition[] | undefined,
  atMs: number,
  generation: Int64 | undefined,
): PodCondition {
  const before = old?.find((c) => c.type === saying.type)
  const lastTransitionTime = (before?.status === saying.status && before.lastTransitionTime) || timestamp(atMs)
  return { ...saying, lastTransitionTime, ...(generation === undefined ? {} : { observedGeneration: generation }) }
}

/** The transition times of conditions that became True while the agent or the API was down. */
function timesFromRuntime(seen: Seen, containers: number): Partial<Record<string, number>> {
  const sandbox = readySandbox(seen.state, seen.pod.spec.hostNetwork === true)
  if (!sandbox) return {}
  const running = seen.state.containers.filter((c) => c.sandboxId === sandbox.id && c.state === 'running')
  const hasProbes = seen.pod.spec.containers.some((c) => c.readinessProbe || c.startupProbe)
  const startedMs = Math.max(...running.map((c) => c.startedAtMs))
  const isAllUp = running.length >= containers && !hasProbes
  return {
    PodReadyToStartContainers: sandbox.createdAtMs,
    ...(isAllUp ? { Ready: startedMs, ContainersReady: startedMs, Initialized: startedMs } : {}),
  }
}
