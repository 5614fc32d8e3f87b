import type { CloneSetLifecycle, Node, PersistentVolumeClaim, Pod, PodCondition } from '../generated/types.ts'
import { availableAtMs, isPodFinished, isPodReady } from '../kinds/pods/pod-availability.ts'
import { secondsInMs } from '../numbers/int64.ts'
import { claimNamesOf } from '../kinds/volumes/volume-references.ts'
import {
  type LifecycleState,
  hookWait,
  lifecycleStateOf,
  lifecycleTimeAnnotation,
} from '../kinds/containers/lifecycle-hooks.ts'
import { inPlaceUpdateReady } from '../kinds/pods/in-place-update.ts'
import { type SandboxReason, sandboxConditionOf } from '../kinds/pods/sandbox-condition.ts'
import { earliest, millisecondsOf, timestamp } from '../object.ts'
import { type Cause, type CauseKind, type Weight, detail, finalizersText, foreignFinalizers } from './cause.ts'
import { containerDelay, containerTrouble, crashedBefore } from './container-cause.ts'

/** The objects related to a pod, as far as the caller can read them. A missing lookup explains nothing. */
export interface Surroundings {
  nowMs: number
  minReadySeconds?: number
  /** Looks up a claim in the pod's namespace. */
  claimOf?: ((name: string) => PersistentVolumeClaim | undefined) | undefined
  /** Looks up a node. Null: it does not exist. Undefined: unknown, since a cache may not have it yet. */
  nodeOf?: ((name: string) => Node | null | undefined) | undefined
  /** The hooks of a CloneSet. */
  lifecycle?: CloneSetLifecycle | undefined
  /** Pods of a Job run to completion: one that has succeeded is not a problem. */
  runsToCompletion?: boolean
}

/** The time after which a terminating pod counts as stuck. Its deletionTimestamp is the end of its grace period. */
export const terminationLateAtMs = ({ metadata }: Pod): number => millisecondsOf(metadata.deletionTimestamp) + 10_000

/** Builds the cause of one pod. */
type Say = (
  what: CauseKind,
  weight: Weight,
  text: string,
  since: string | null | undefined,
  help: string,
  changesAtMs?: number,
) => Cause

/**
 * The reason why a pod is not available; undefined if it is. Pure: the same pod and related objects have the same
 * cause.
 */
export function causeOfPod(pod: Pod, around: Surroundings): Cause | undefined {
  const { metadata } = pod
  const isReady = isPodReady(pod)
  // Fast path: nearly all pods of a large workload are available.
  if (isReady && !metadata.deletionTimestamp && !around.minReadySeconds && pod.status?.phase === 'Running') {
    return hookCause(pod, around, sayOf)
  }
  const say = sayOf(pod)
  if (metadata.deletionTimestamp) return goingCause(pod, around, say)
  const ended = endedCause(pod, around, say)
  if (ended !== undefined) return ended ?? undefined
  if (isReady) return hookCause(pod, around, sayOf) ?? youngCause(pod, around, say)
  return placeCause(pod, around, say) ?? startCause(pod, around, say)
}

function sayOf({ metadata: { namespace, name = '' } }: Pod): Say {
  const object = { kind: 'Pod', ...(namespace ? { namespace } : {}), name }
  return (what, weight, text, since, help, changesAtMs) => ({
    what,
    weight,
    object,
    text,
    ...(since ? { since } : {}),
    help,
    ...(changesAtMs === undefined ? {} : { changesAtMs }),
  })
}

const conditionOf = ({ status }: Pod, type: string): PodCondition | undefined =>
  status?.conditions?.find((c) => c.type === type)

/** The time of the last change of readiness; the creation time for a pod that was never ready. */
const unreadySince = (pod: Pod): string | undefined =>
  conditionOf(pod, 'Ready')?.lastTransitionTime ?? pod.metadata.creationTimestamp ?? undefined

function goingCause(pod: Pod, around: Surroundings, say: Say): Cause {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers = [] } = pod.metadata
  const lateAtMs = terminationLateAtMs(pod)
  // A node deletes a pod that it has stopped with a grace period of 0.
  const hasEnded = isPodFinished(pod) || !pod.spec?.nodeName || deletionGracePeriodSeconds === 0
  const foreign = foreignFinalizers(finalizers)
  const isHeld = hasEnded && foreign.length > 0
  const node = nodeCause(pod, around, say)
  // No node agent stops the pod if its node does not report, so there is no grace period to wait for.
  const isLost = node?.what === 'NodeLost' && !hasEnded
  if (around.nowMs < lateAtMs && !isHeld && !isLost) {
    const help = 'Wait: it has its grace period to end.'
    return say('Terminating', 'starting', 'is being deleted', deletionAskedAt(pod), help, lateAtMs)
  }
  if (node) return { ...node, text: `cannot be deleted: it ${node.text}` }
  if (finalizers.length > 0 && hasEnded) {
    // Finalizers of our own controllers are named only if they are late and nothing else holds the pod.
    const names = finalizersText(isHeld ? foreign : finalizers)
    const help = `Find the controller that must remove ${names}.`
    return say('Finalizer', 'trouble', `is to be deleted and is held by ${names}`, deletionAskedAt(pod), help)
  }
  const help = 'See the logs of its node. If the node is permanently gone: kubectl delete pod --force.'
  return say('TerminationHangs', 'trouble', 'has not ended though its grace period is over', deletionTimestamp, help)
}

/** The time of the delete request: `deletionTimestamp` is the end of the grace period. */
function deletionAskedAt({ metadata: { deletionTimestamp, deletionGracePeriodSeconds = 0 } }: Pod): string | undefined {
  const ms = millisecondsOf(deletionTimestamp) - secondsInMs(deletionGracePeriodSeconds)
  return Number.isNaN(ms) ? undefined : timestamp(ms)
}

/** Advice for pods that a node has stopped, by its reason. */
const evictionHelp: Readonly<Record<string, string>> = {
  Evicted: 'Free what the node lacks, or ask for less.',
  Preempting: 'A more important pod has taken its place: add nodes, or raise the priority of the pod.',
  NodeShutdown: 'Wait for the node to come back, or for the pod to be re-created on another node.',
  Terminated: 'Wait for the node to come back, or for the pod to be re-created on another node.',
}

/** Undefined for a pod that has not ended; null for one that ended as expected. */
function endedCause(pod: Pod, { runsToCompletion }: Surroundings, say: Say): Cause | null | undefined {
  const { phase, reason, message } = pod.status ?? {}
  const since = conditionOf(pod, 'Ready')?.lastTransitionTime
  if (phase === 'Succeeded') {
    const help = 'Its containers must keep running: check their commands.'
    return runsToCompletion ? null : say('PodEnded', 'trouble', 'has ended', since, help)
  }
  if (phase !== 'Failed') return undefined
  const help = evictionHelp[reason ?? '']
  if (help) {
    const from = pod.spec?.nodeName ? ` from node ${pod.spec.nodeName}` : ''
    return say('Evicted', 'trouble', `was evicted${from}${detail(reason, message)}`, since, help)
  }
  const container = containerTrouble(pod)
  const text = message || !container ? `has failed${detail(reason, message)}` : container.text
  return say(container?.what ?? 'PodFailed', 'trouble', text, since, container?.help ?? 'See kubectl describe pod.')
}

/** The hook that holds a pod of a CloneSet in a state of its life cycle. Pods of other kinds have none. */
function hookCause(pod: Pod, { lifecycle }: Surroundings, sayFor: (pod: Pod) => Say): Cause | undefined {
  const state = lifecycleStateOf(pod)
  if (state === '' || state === 'Normal') return undefined
  const say = sayFor(pod)
  const since = pod.metadata.annotations?.[lifecycleTimeAnnotation]
  const text = lifecycle && hookWait(lifecycle, pod)
  const otherwise = hooklessWords[state] ?? unknownState(state)
  if (!text) return say(...otherwise, since, 'Wait: its controller continues without intervention.')
  const what =
    state === 'PreparingDelete' ? 'PreDeleteHook' : state === 'PreparingNormal' ? 'PreNormalHook' : 'InPlaceUpdateHook'
  return say(what, 'held', text, since, 'The program that serves the hook is to remove, or to set, what is named.')
}

type Words = [what: CauseKind, weight: Weight, text: string]

/** The message for a pod in a state of its life cycle that no hook holds. The controller's next step ends the state. */
const hooklessWords: Partial<Record<LifecycleState, Words>> = {
  PreparingNormal: ['Starting', 'starting', 'is about to be put into service'],
  PreparingUpdate: ['InPlaceUpdate', 'starting', 'is about to be updated in place'],
  Updating: ['InPlaceUpdate', 'starting', 'is being updated in place'],
  Updated: ['InPlaceUpdate', 'starting', 'has been updated in place and is about to be put into service'],
  PreparingDelete: ['Terminating', 'starting', 'is about to be deleted'],
}

/** The state is a label, so any client may set it. */
const unknownState = (state: string): Words => [
  'Waiting',
  'starting',
  `has the unknown life cycle state ${JSON.stringify(state)}`,
]

function youngCause(pod: Pod, { minReadySeconds = 0, nowMs }: Surroundings, say: Say): Cause | undefined {
  const atMs = availableAtMs(pod, minReadySeconds)
  if (atMs === undefined) {
    const never = 'is ready without a transition time, so it never counts as available'
    const help = 'The writer of condition Ready of the pod must set its lastTransitionTime.'
    return say('MinReadySeconds', 'trouble', `${never} (minReadySeconds: ${minReadySeconds})`, undefined, help)
  }
  if (atMs <= nowMs) return undefined
  const crashes = crashedBefore(pod)
  if (crashes) return say(crashes.what, crashes.weight, crashes.text, crashes.since, crashes.help, atMs)
  const text = `is ready and counts as available from ${timestamp(atMs)} on (minReadySeconds: ${minReadySeconds})`
  return say('MinReadySeconds', 'timed', text, undefined, 'Wait: nothing is wrong.', atMs)
}

const quoted = (names: readonly string[]): string => names.map((name) => JSON.stringify(name)).join(', ')

/** The cause between a pod and its node: scheduling, claims, or the node itself. */
function placeCause(pod: Pod, around: Surroundings, say: Say): Cause | undefined {
  const node = nodeCause(pod, around, say)
  if (node) return node
  const scheduled = conditionOf(pod, 'PodScheduled')
  const isUnscheduled = scheduled?.status === 'False'
  const claim =
    pod.status?.phase === 'Running' ? undefined : claimCause(pod, around, say, isUnscheduled ? scheduled : undefined)
  if (claim) return claim
  if (isUnscheduled && scheduled.reason === 'SchedulingGated') {
    const gates = (pod.spec?.schedulingGates ?? []).map(({ name }) => name)
    const which =
      gates.length === 0 ? 'a scheduling gate' : `scheduling ${gates.length === 1 ? 'gate' : 'gates'} ${quoted(gates)}`
    const help = 'The owner of the gate must remove it.'
    return say('SchedulingGated', 'held', `is held back by ${which}`, scheduled.lastTransitionTime, help)
  }
  if (isUnscheduled) {
    const help = "Add nodes, free resources, or relax the pod's requests, selectors, affinity or tolerations."
    const text = `cannot be scheduled${detail(scheduled.reason, scheduled.message)}`
    return say('Unschedulable', 'trouble', text, scheduled.lastTransitionTime, help)
  }
  // A pod with container statuses is running somewhere, even if it names no node.
  if (pod.spec?.nodeName || pod.status?.containerStatuses?.length) return undefined
  return say(
    'NotScheduledYet',
    'starting',
    'has no node yet',
    pod.metadata.creationTimestamp,
    'Wait for the scheduler; see that it runs.',
  )
}

function nodeCause({ spec }: Pod, { nodeOf }: Surroundings, say: Say): Cause | undefined {
  const name = spec?.nodeName
  if (!name || !nodeOf) return undefined
  const node = nodeOf(name)
  if (node === undefined) return undefined
  if (node === null)
    return say(
      'NodeGone',
      'trouble',
      `was on node ${name}, which is gone`,
      undefined,
      'Wait for the pod to be replaced.',
    )
  const ready = node.status?.conditions?.find((c) => c.type === 'Ready')
  if (!ready || ready.status === 'True') return undefined
  if (ready.status === 'Unknown') {
    const help = `See why node ${name} does not report: is it up, is its agent running, can it reach the API server?`
    return say('NodeLost', 'trouble', `is on node ${name}, which has stopped reporting`, ready.lastTransitionTime, help)
  }
  const text = `is on node ${name}, which is not ready${detail(ready.reason, ready.message)}`
  return say('NodeNotReady', 'trouble', text, ready.lastTransitionTime, `See kubectl describe node ${name}.`)
}

/** The first claim of a pod that is missing or unbound. */
function claimCause(
  pod: Pod,
  { claimOf }: Surroundings,
  say: Say,
  unscheduled: PodCondition | undefined,
): Cause | undefined {
  if (!claimOf) return undefined
  const since = unscheduled?.lastTransitionTime ?? pod.metadata.creationTimestamp
  const why = unscheduled ? detail(undefined, unscheduled.message) : ''
  for (const name of claimNamesOf(pod)) {
    const claim = claimOf(name)
    if (!claim)
      return say(
        'ClaimMissing',
        'trouble',
        `waits for claim ${name}, which does not exist${why}`,
        since,
        `Create claim ${name}.`,
      )
    const { phase } = claim.status ?? {}
    if (phase === 'Lost') {
      const help = 'Restore the volume, or delete the claim if its data may go.'
      return say('ClaimLost', 'trouble', `waits for claim ${name}, which has lost its volume${why}`, since, help)
    }
    // With WaitForFirstConsumer, a claim is bound after its pod is scheduled. Then the scheduler's reason is the cause.
    if (phase !== 'Bound' && (!unscheduled?.message || /claim|volume/i.test(unscheduled.message))) {
      const help = `See kubectl describe pvc ${name}: is there a volume or a provisioner for its storage class?`
      return say('ClaimPending', 'trouble', `waits for claim ${name}, which is not bound${why}`, since, help)
    }
  }
  return undefined
}

/** The causes by the reason of a sandbox condition. An unknown reason counts as a failure of the sandbox itself. */
const sandboxCauses: Readonly<Record<SandboxReason, [what: CauseKind, help: string]>> = {
  ConfigMapNotFound: ['ConfigMapMissing', 'Create the ConfigMap: the pod then starts by itself.'],
  ConfigMapKeyNotFound: ['ConfigMapMissing', 'Add the key to the ConfigMap: the pod then starts by itself.'],
  SecretNotFound: ['SecretMissing', 'Create the Secret: the pod then starts by itself.'],
  SecretKeyNotFound: ['SecretMissing', 'Add the key to the Secret: the pod then starts by itself.'],
  ClaimNotFound: ['ClaimMissing', 'Create the claim: the pod then starts by itself.'],
  ClaimNotBound: ['ClaimPending', 'See kubectl describe pvc: is there a volume or a provisioner for it?'],
  VolumeMountFailed: ['VolumeFailed', 'See the storage driver of the volume, and the events of the pod.'],
  NetworkNotReady: ['NetworkFailed', 'See the network plug-in of the node.'],
  SandboxCreateFailed: ['SandboxFailed', 'See the container runtime of the node, and the events of the pod.'],
  SandboxChanged: [
    'SandboxFailed',
    'Wait: the node creates another sandbox. Check its container runtime if this repeats.',
  ],
  SandboxLost: [
    'SandboxFailed',
    'Wait: the node creates another sandbox. Check its container runtime if this repeats.',
  ],
  SandboxHistoryUnknown: ['SandboxStarting', 'Wait: the node has lost its record of the pod, and creates a sandbox.'],
}

/** The reason why a pod on a healthy node is not ready. */
function startCause(pod: Pod, around: Surroundings, say: Say): Cause {
  const container = containerTrouble(pod)
  if (container) {
    const since = earliest([container.since, unreadySince(pod)])
    return say(container.what, container.weight, container.text, since, container.help)
  }
  const sandbox = sandboxConditionOf(pod)
  if (sandbox?.status === 'False' || sandbox?.status === 'Unknown') return sandboxCause(sandbox, say)
  const delay = containerDelay(pod)
  if (delay) return say(delay.what, delay.weight, delay.text, unreadySince(pod), delay.help)
  return (
    gateCause(pod, around, say) ??
    say('NotReady', 'starting', 'is not ready', unreadySince(pod), 'See kubectl describe pod.')
  )
}

function sandboxCause({ reason, message, lastTransitionTime }: PodCondition, say: Say): Cause {
  const known = sandboxCauses[reason as SandboxReason] as [CauseKind, string] | undefined
  if (!known && !message) {
    const wait = 'Wait: its node prepares volumes and network.'
    return say('SandboxStarting', 'starting', 'waits for its sandbox', lastTransitionTime, wait)
  }
  const [what, help] = known ?? sandboxCauses.SandboxCreateFailed
  return say(what, 'trouble', `cannot get its sandbox${detail(reason, message)}`, lastTransitionTime, help)
}

function gateCause(pod: Pod, around: Surroundings, say: Say): Cause | undefined {
  const gate = pod.spec?.readinessGates?.find(({ conditionType }) => conditionOf(pod, conditionType)?.status !== 'True')
  if (!gate) return undefined
  const condition = conditionOf(pod, gate.conditionType)
  const hook = hookCause(pod, around, sayOf)
  if (hook) return hook
  const since = condition?.lastTransitionTime ?? unreadySince(pod)
  if (gate.conditionType === inPlaceUpdateReady) {
    const text = condition?.message?.match(/^the pod (is being updated in place to revision \S+)$/)?.[1]
    const help = 'Wait: its containers are being restarted.'
    return say('InPlaceUpdate', 'starting', text ?? 'is being updated in place', since, help)
  }
  const text = `waits for its readiness gate ${gate.conditionType}${detail(condition?.reason, condition?.message)}`
  return say(
    'ReadinessGate',
    'held',
    text,
    since,
    `The controller of condition ${gate.conditionType} must set it to True.`,
  )
}
