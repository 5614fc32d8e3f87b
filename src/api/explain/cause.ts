/** Names of the causes that keep a workload from its goal. docs/conditions.md lists them with their messages. */
export type CauseKind =
  // Requests that the API server rejected.
  | 'CreateRefused'
  | 'DeleteRefused'
  | 'UpdateRefused'
  // Pods without a node, and pods whose node has a problem.
  | 'Unschedulable'
  | 'SchedulingGated'
  | 'NotScheduledYet'
  | 'NodeGone'
  | 'NodeLost'
  | 'NodeNotReady'
  | 'Evicted'
  // Storage and sandbox.
  | 'ClaimMissing'
  | 'ClaimPending'
  | 'ClaimLost'
  | 'ConfigMapMissing'
  | 'SecretMissing'
  | 'VolumeFailed'
  | 'NetworkFailed'
  | 'SandboxFailed'
  | 'SandboxStarting'
  // Containers.
  | 'ImagePull'
  | 'ContainerConfig'
  | 'ContainerCreate'
  | 'CrashLoop'
  | 'ContainerFailed'
  | 'OutOfMemory'
  | 'Starting'
  | 'StartupProbe'
  | 'ReadinessProbe'
  | 'NotReady'
  // Pods that are running, finished or terminating.
  | 'ReadinessGate'
  | 'MinReadySeconds'
  | 'PodFailed'
  | 'PodEnded'
  | 'Terminating'
  | 'TerminationHangs'
  | 'Finalizer'
  // CloneSets.
  | 'PreDeleteHook'
  | 'InPlaceUpdateHook'
  | 'PreNormalHook'
  | 'InPlaceUpdate'
  // The workload itself.
  | 'BrokenOldPod'
  | 'Misplaced'
  | 'Paused'
  | 'Suspended'
  | 'PartitionReached'
  | 'OnDelete'
  | 'DisruptionBudget'
  | 'NotObserved'
  | 'BackOff'
  | 'Waiting'

/**
 * The weight of a cause. `trouble` does not end by itself. `held` waits for a person or another program. `timed` ends
 * by itself at a known time. `starting` is a normal phase of every healthy pod.
 */
export type Weight = 'trouble' | 'held' | 'timed' | 'starting'

export interface ObjectName {
  kind: string
  namespace?: string
  name: string
}

/** One cause: what it is, the object it is about, when it began, and what would help. */
export interface Cause {
  what: CauseKind
  weight: Weight
  object: ObjectName
  /** The predicate of a sentence whose subject is the object: `cannot be scheduled: 0/3 nodes are available`. */
  text: string
  /** The time as the API wrote it. */
  since?: string
  /** Advice to a person, as a sentence. */
  help: string
  /** The time at which it ends or becomes another cause without any event. */
  changesAtMs?: number
}

const weights: readonly Weight[] = ['trouble', 'held', 'timed', 'starting']

/** Compares names in natural order: web-2 comes before web-10. */
export const byName: (a: string, b: string) => number = new Intl.Collator('en', { numeric: true }).compare

/** Sorts causes: those that do not end by themselves first, then by the name of the object. */
export const byWeight = (a: Cause, b: Cause): number =>
  weights.indexOf(a.weight) - weights.indexOf(b.weight) || byName(a.object.name, b.object.name)

/** The first of these in the order of `byWeight`. */
export function worstOf(causes: Iterable<Cause | undefined>): Cause | undefined {
  let worst: Cause | undefined
  for (const cause of causes) if (cause && (!worst || byWeight(cause, worst) < 0)) worst = cause
  return worst
}

/** `Pod web-1 cannot be scheduled: 0/3 nodes are available, since 2026-01-01T00:00:00Z.` */
export function sentenceOf({ object, text, since }: Cause): string {
  return `${object.kind} ${object.name} ${text}${since ? `, since ${since}` : ''}.`
}

/** The sentence with a leading space, to follow another one; '' without a cause. */
export const afterward = (cause: Cause | undefined): string => (cause ? ` ${sentenceOf(cause)}` : '')

/**
 * True if conditions name a cause as soon as it is known. Causes that every pod goes through are named only after the
 * deadline.
 */
export const isWorthNaming = (cause: Cause | undefined): cause is Cause =>
  cause !== undefined && cause.weight !== 'starting'

/** Formats a reason, a message or both, to follow a statement. The message may end with a full stop. */
export function detail(reason: string | undefined, message: string | undefined): string {
  const said = message === undefined ? '' : withoutEcho(message)
  if (said) return `: ${said}`
  return reason ? `: ${reason}` : ''
}

/**
 * Removes the full stop of a message, and a part that repeats the part before it: `Failed to create pod sandbox: failed
 * to create pod sandbox: no addresses left`. Each layer that passes an error on may prepend its own words.
 */
export function withoutEcho(message: string): string {
  const parts = message
    .trim()
    .replace(/[.:\s]+$/, '')
    .split(': ')
  const isEcho = (part: string, i: number) => i > 0 && part.trim().toLowerCase() === parts[i - 1]!.trim().toLowerCase()
  return parts.filter((part, i) => !isEcho(part, i)).join(': ')
}

/** `finalizer "a/b"`, `finalizers "a/b", "c/d"` */
export function finalizersText(names: readonly string[]): string {
  return `${names.length === 1 ? 'finalizer' : 'finalizers'} ${names.map((name) => JSON.stringify(name)).join(', ')}`
}

/**
 * Finalizers that controllers of the control plane remove by themselves. The garbage collector's finalizers stay while
 * dependents block the deletion.
 */
const ownFinalizers: ReadonlySet<string> = new Set([
  'foregroundDeletion',
  'orphan',
  'batch.kubernetes.io/job-tracking',
  'coxswain.dev/claim-recovery',
])

/** Finalizers that another program must remove. */
export const foreignFinalizers = (names: readonly string[] | null | undefined): string[] =>
  (names ?? []).filter((name) => !ownFinalizers.has(name))
