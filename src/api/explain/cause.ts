/** The causes that keep a workload from its goal, by name. docs/conditions.md lists them with their messages. */
export type CauseKind =
  // Refused by the API server.
  | 'CreateRefused' | 'DeleteRefused' | 'UpdateRefused'
  // A pod that has no node, or whose node is the problem.
  | 'Unschedulable' | 'SchedulingGated' | 'NotScheduledYet' | 'NodeGone' | 'NodeLost' | 'NodeNotReady' | 'Evicted'
  // Storage and sandbox.
  | 'ClaimMissing' | 'ClaimPending' | 'ClaimLost' | 'ConfigMapMissing' | 'SecretMissing' | 'VolumeFailed' | 'NetworkFailed'
  | 'SandboxFailed' | 'SandboxStarting'
  // Containers.
  | 'ImagePull' | 'ContainerConfig' | 'ContainerCreate' | 'CrashLoop' | 'ContainerFailed' | 'OutOfMemory' | 'Starting'
  | 'StartupProbe' | 'ReadinessProbe' | 'NotReady'
  // A pod that runs, has ended or is going.
  | 'ReadinessGate' | 'MinReadySeconds' | 'PodFailed' | 'PodEnded' | 'Terminating' | 'TerminationHangs' | 'Finalizer'
  // CloneSets.
  | 'PreDeleteHook' | 'InPlaceUpdateHook' | 'PreNormalHook' | 'InPlaceUpdate'
  // The workload itself.
  | 'BrokenOldPod' | 'Misplaced' | 'Paused' | 'Suspended' | 'PartitionReached' | 'OnDelete' | 'DisruptionBudget' | 'NotObserved'
  | 'BackOff' | 'Waiting'

/**
 * How much a cause matters. `trouble` does not end by itself. `held` waits for a person or another program. `timed`
 * ends by itself at a known time. `starting` is what every healthy pod goes through.
 */
export type Weight = 'trouble' | 'held' | 'timed' | 'starting'

export interface ObjectName {
  kind: string
  namespace?: string
  name: string
}

/** One cause: what it is, which object it is about, since when, and what would help. */
export interface Cause {
  what: CauseKind
  weight: Weight
  object: ObjectName
  /** The predicate of a sentence whose subject is the object: `cannot be scheduled: 0/3 nodes are available`. */
  text: string
  /** As the API wrote it. */
  since?: string
  /** The advice to a person, as a sentence. */
  help: string
  /** When it ends, or becomes another cause, without any event. */
  changesAtMs?: number
}

const weights: readonly Weight[] = ['trouble', 'held', 'timed', 'starting']

/** Compares names as people count: web-2 comes before web-10. */
export const byName: (a: string, b: string) => number = new Intl.Collator('en', { numeric: true }).compare

/** Orders causes: what does not end by itself first, then by the name of the object. */
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

/** The sentence with a blank before it, to follow another one; '' where there is no cause. */
export const afterward = (cause: Cause | undefined): string => (cause ? ` ${sentenceOf(cause)}` : '')

/**
 * Whether conditions name a cause as soon as it is known. What every pod goes through is named only when the deadline
 * has passed.
 */
export const isWorthNaming = (cause: Cause | undefined): cause is Cause => cause !== undefined && cause.weight !== 'starting'

/** A reason, a message or both, to stand behind a statement. Messages end with a full stop or not. */
export function detail(reason: string | undefined, message: string | undefined): string {
  const said = message === undefined ? '' : withoutEcho(message)
  if (said) return `: ${said}`
  return reason ? `: ${reason}` : ''
}

/**
 * A message without its full stop, and without a part that merely repeats the one before it: `Failed to create pod
 * sandbox: failed to create pod sandbox: no addresses left`. Every layer that hands an error on may put its words
 * before it.
 */
export function withoutEcho(message: string): string {
  const parts = message.trim().replace(/[.:\s]+$/, '').split(': ')
  const isEcho = (part: string, i: number) => i > 0 && part.trim().toLowerCase() === parts[i - 1]!.trim().toLowerCase()
  return parts.filter((part, i) => !isEcho(part, i)).join(': ')
}

/** `finalizer "a/b"`, `finalizers "a/b", "c/d"` */
export function finalizersText(names: readonly string[]): string {
  return `${names.length === 1 ? 'finalizer' : 'finalizers'} ${names.map((name) => JSON.stringify(name)).join(', ')}`
}

/**
 * Finalizers of controllers of the control plane, which remove them by themselves. Those of the garbage collector stay
 * for as long as something else holds what is to go first.
 */
const ownFinalizers: ReadonlySet<string> = new Set([
  'foregroundDeletion', 'orphan', 'batch.kubernetes.io/job-tracking', 'coxswain.dev/claim-recovery',
])

/** The finalizers that another program is to remove. */
export const foreignFinalizers = (names: readonly string[] | null | undefined): string[] =>
  (names ?? []).filter((name) => !ownFinalizers.has(name))
