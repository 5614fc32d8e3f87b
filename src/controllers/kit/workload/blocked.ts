import type { ContainerStatus, PersistentVolumeClaim, Pod, PodCondition } from '../../../api/generated/types.ts'
import { claimNamesOf } from '../../../api/kinds/pod-claims.ts'
import { isPodReady, isPodTerminating } from '../../../api/kinds/pod-availability.ts'

/** What keeps a pod from being available. */
export interface Blocker {
  pod: string
  /** `is unschedulable: 0/3 nodes are available: …`: a sentence without its subject and its full stop. */
  why: string
  /** As the API wrote it. */
  since: string | undefined
  /** Whether it looks like trouble, and not like a pod that is merely on its way. */
  isTrouble: boolean
}

/** Finds a claim of the pods' namespace. Who hands it in has claims named that pods wait for. */
export type ClaimOf = (name: string) => PersistentVolumeClaim | undefined

/** States of a container that every pod goes through. */
const isOnItsWay = (reason: string | undefined): boolean => reason === undefined || reason === 'ContainerCreating' || reason === 'PodInitializing'

/** The first of these pods that is not ready and why; trouble comes before what merely takes its time. */
export function blockerOf(pods: Iterable<Pod>, claimOf?: ClaimOf): Blocker | undefined {
  let first: Blocker | undefined
  for (const pod of pods) {
    const blocker = judgePod(pod, claimOf)
    if (!blocker) continue
    const isBetter = !first || (blocker.isTrouble && !first.isTrouble) || (blocker.isTrouble === first.isTrouble && blocker.pod < first.pod)
    if (isBetter) first = blocker
  }
  return first
}

/** `pod web-1: container "nginx" cannot pull its image (ErrImagePull), since 2026-01-01T00:00:00Z`. */
export const blockerText = ({ pod, why, since }: Blocker): string => `pod ${pod} ${why}${since ? `, since ${since}` : ''}`

/** The sentence about the first pod in trouble, with a blank before it, to follow another one; '' if there is none. */
export function troubleText(pods: Iterable<Pod>, claimOf?: ClaimOf): string {
  const blocker = blockerOf(pods, claimOf)
  return blocker?.isTrouble ? ` ${sentence(blocker)}` : ''
}

/** The same, and where there is no trouble, about the first pod that is not ready. */
export function blockedText(pods: Iterable<Pod>, claimOf?: ClaimOf): string {
  const blocker = blockerOf(pods, claimOf)
  return blocker ? ` ${sentence(blocker)}` : ''
}

function sentence(blocker: Blocker): string {
  const text = blockerText(blocker)
  return `${text[0]!.toUpperCase()}${text.slice(1)}.`
}

function judgePod(pod: Pod, claimOf: ClaimOf | undefined): Blocker | undefined {
  if (isPodReady(pod) && !isPodTerminating(pod)) return undefined
  const { name = '', deletionTimestamp, creationTimestamp } = pod.metadata
  const blocker = (why: string, since: string | null | undefined, isTrouble: boolean): Blocker => ({ pod: name, why, since: since ?? undefined, isTrouble })
  if (deletionTimestamp) return blocker('is being deleted', deletionTimestamp, false)
  const { phase, reason, message, conditions = [] } = pod.status ?? {}
  const condition = (type: string): PodCondition | undefined => conditions.find((c) => c.type === type)
  if (phase === 'Failed') return blocker(`has failed${detail(reason, message)}`, condition('Ready')?.lastTransitionTime, true)
  if (phase === 'Succeeded') return blocker('has ended', condition('Ready')?.lastTransitionTime, true)
  const scheduled = condition('PodScheduled')
  const claim = claimOf && phase !== 'Running' ? claimTrouble(pod, claimOf) : undefined
  if (claim) {
    const isUnscheduled = scheduled?.status === 'False'
    return blocker(`waits for ${claim}${isUnscheduled ? detail(undefined, scheduled.message) : ''}`, (isUnscheduled && scheduled.lastTransitionTime) || creationTimestamp, true)
  }
  if (scheduled?.status === 'False') {
    const why = scheduled.reason === 'SchedulingGated' ? 'is held back by its scheduling gates' : `cannot be scheduled${detail(scheduled.reason, scheduled.message)}`
    return blocker(why, scheduled.lastTransitionTime, true)
  }
  if (!pod.spec?.nodeName) return blocker('waits for a node', creationTimestamp, false)
  return judgeContainers(pod, blocker, condition)
}

/** The first claim of a pod that it cannot have yet. */
function claimTrouble(pod: Pod, claimOf: ClaimOf): string | undefined {
  for (const name of claimNamesOf(pod)) {
    const claim = claimOf(name)
    if (!claim) return `claim ${name}, which does not exist`
    if (claim.status?.phase !== 'Bound') return `claim ${name}, which is ${claim.status?.phase === 'Lost' ? 'lost' : 'not bound'}`
  }
  return undefined
}

type MakeBlocker = (why: string, since: string | null | undefined, isTrouble: boolean) => Blocker

function judgeContainers(pod: Pod, blocker: MakeBlocker, condition: (type: string) => PodCondition | undefined): Blocker {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {}
  const sandbox = condition('PodReadyToStartContainers')
  const since = condition('Ready')?.lastTransitionTime ?? pod.metadata.creationTimestamp
  for (const status of [...initContainerStatuses, ...containerStatuses]) {
    const why = troubleOf(status)
    if (why) return blocker(`waits for container ${JSON.stringify(status.name)}: ${why}`, since, true)
  }
  if (sandbox?.status === 'False') return blocker(`waits for its sandbox${detail(sandbox.reason, sandbox.message)}`, sandbox.lastTransitionTime, Boolean(sandbox.message))
  const starting = containerStatuses.find((status) => !status.state?.running)
  if (starting || containerStatuses.length === 0) return blocker('waits for its containers to start', since, false)
  const unready = containerStatuses.filter((status) => !status.ready).map((status) => JSON.stringify(status.name))
  if (unready.length > 0) return blocker(`waits for the readiness of container ${unready.join(', ')}`, since, true)
  const gate = pod.spec?.readinessGates?.find(({ conditionType }) => condition(conditionType)?.status !== 'True')
  if (gate) return blocker(`waits for its readiness gate ${gate.conditionType}`, since, true)
  return blocker('is not ready', since, false)
}

/** What is wrong with a container; undefined if it runs, has ended well, or is only starting. */
function troubleOf({ state, lastState, restartCount }: ContainerStatus): string | undefined {
  const { waiting, terminated } = state ?? {}
  if (waiting && !isOnItsWay(waiting.reason)) {
    const exit = lastState?.terminated?.exitCode
    const after = exit === undefined ? '' : `; it ended with ${exit}${restartCount ? ` and was restarted ${restartCount} times` : ''}`
    return `${waiting.reason}${waiting.message ? ` (${waiting.message})` : ''}${after}`
  }
  if (terminated && terminated.exitCode !== 0) return `it ended with ${terminated.exitCode}${detail(terminated.reason, terminated.message)}`
  return undefined
}

function detail(reason: string | undefined, message: string | undefined): string {
  if (message) return `: ${message.replace(/\.$/, '')}`
  return reason ? `: ${reason}` : ''
}
