import type { ContainerStatus, Pod } from '../../generated/types.ts'
import { ageOf } from '../../printing/duration.ts'
import { isPodFinished } from './pod-availability.ts'
import { isRestartableInitContainer } from './pod-level-resources.ts'

/** The columns of a pod in `kubectl get pods`. */
interface PodSummary {
  ready: number
  containers: number
  /** `Running`, `CrashLoopBackOff`, `Init:0/2`, `Terminating`… */
  status: string
  restarts: number
  /** The time of the last restart of a container, if there was any. */
  lastRestart: string | undefined
}

/** Counts restarts and keeps the latest restart time. */
class Restarts {
  count = 0
  last: string | undefined

  add(status: ContainerStatus): void {
    this.count += status.restartCount ?? 0
    const ended = status.lastState?.terminated?.finishedAt
    if (ended && (!this.last || Date.parse(ended) > Date.parse(this.last))) this.last = ended
  }
}

const hasCondition = (pod: Pod, type: string): boolean =>
  pod.status?.conditions?.some((c) => c.type === type && c.status === 'True') ?? false

/** The `reason` of a terminated container, otherwise its signal or exit code. */
function endedReason(status: ContainerStatus): string {
  const { reason, signal, exitCode } = status.state!.terminated!
  return reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode}`)
}

interface InitSummary {
  /** The status of a pod whose init containers run; undefined after they have completed. */
  waitingFor: string | undefined
  ready: number
  all: Restarts
  sidecars: Restarts
}

function summarizeInit(pod: Pod): InitSummary {
  const specs = pod.spec?.initContainers ?? []
  const summary: InitSummary = { waitingFor: undefined, ready: 0, all: new Restarts(), sidecars: new Restarts() }
  for (const [i, status] of (pod.status?.initContainerStatuses ?? []).entries()) {
    const isSidecar = specs.some((container) => container.name === status.name && isRestartableInitContainer(container))
    summary.all.add(status)
    if (isSidecar) summary.sidecars.add(status)
    const { terminated, waiting } = status.state ?? {}
    if (terminated?.exitCode === 0) continue
    if (isSidecar && status.started) {
      if (status.ready) summary.ready++
      continue
    }
    if (terminated) summary.waitingFor = `Init:${endedReason(status)}`
    else if (waiting?.reason && waiting.reason !== 'PodInitializing') summary.waitingFor = `Init:${waiting.reason}`
    else summary.waitingFor = `Init:${i}/${specs.length}`
    break
  }
  return summary
}

function phaseReason(pod: Pod): string {
  const isGated = pod.status?.conditions?.some((c) => c.type === 'PodScheduled' && c.reason === 'SchedulingGated')
  return isGated ? 'SchedulingGated' : pod.status?.reason || pod.status?.phase || ''
}

/**
 * The status from all containers: the first container's reason wins, but a completed container does not hide a failed
 * one.
 */
function containersReason(pod: Pod, statuses: readonly ContainerStatus[], before: string): string {
  let reason = before
  let failure: string | undefined
  for (const status of [...statuses].reverse()) {
    const { waiting, terminated } = status.state ?? {}
    if (waiting?.reason) reason = waiting.reason
    else if (terminated) reason = endedReason(status)
    if (terminated && terminated.exitCode !== 0) failure = endedReason(status)
  }
  if (reason !== 'Completed') return reason
  const isSomeRunning = statuses.some((status) => status.ready && status.state?.running)
  if (isSomeRunning) return hasCondition(pod, 'Ready') ? 'Running' : 'NotReady'
  return failure ?? reason
}

/** Computes the columns of a pod. */
export function summarizePod(pod: Pod): PodSummary {
  const specs = pod.spec?.initContainers ?? []
  const statuses = pod.status?.containerStatuses ?? []
  const init = summarizeInit(pod)
  let status = init.waitingFor ?? phaseReason(pod)
  let restarts = init.all
  let ready = init.ready
  if (init.waitingFor === undefined || hasCondition(pod, 'Initialized')) {
    restarts = init.sidecars
    for (const container of statuses) restarts.add(container)
    status = containersReason(pod, statuses, status)
    ready += statuses.filter(
      (s) => s.ready && s.state?.running && !s.state.waiting?.reason && !s.state.terminated,
    ).length
  }
  if (pod.metadata.deletionTimestamp) {
    if (pod.status?.reason === 'NodeLost') status = 'Unknown'
    else if (!isPodFinished(pod)) status = 'Terminating'
  }
  return {
    ready,
    containers: (pod.spec?.containers?.length ?? 0) + specs.filter(isRestartableInitContainer).length,
    status,
    restarts: restarts.count,
    lastRestart: restarts.last,
  }
}

/** Formats restarts: `3 (5m ago)`, or `3` if the time is unknown. */
export const restartsText = ({ restarts, lastRestart }: PodSummary, now: number): string =>
  restarts > 0 && lastRestart ? `${restarts} (${ageOf(lastRestart, now)} ago)` : String(restarts)

/** The number of readiness gates that are true: `1/2`. */
export function readinessGatesText(pod: Pod): string {
  const gates = pod.spec?.readinessGates ?? []
  if (gates.length === 0) return '<none>'
  return `${gates.filter((gate) => hasCondition(pod, gate.conditionType)).length}/${gates.length}`
}
