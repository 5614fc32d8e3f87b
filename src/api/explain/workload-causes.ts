import type { Pod, PodDisruptionBudget } from '../generated/types.ts'
import type { Int64 } from '../numbers/int64.ts'
import type { KubeObject } from '../object.ts'
import type { WorkloadCondition } from '../kinds/workloads/rollout-clock.ts'
import { isPodActive } from '../kinds/pods/pod-availability.ts'
import {
  type Cause,
  type CauseKind,
  type ObjectName,
  type Weight,
  byName,
  byWeight,
  finalizersText,
  foreignFinalizers,
  isWorthNaming,
} from './cause.ts'
import { pauseInConditions, pauseOf, pauseText, podsThatMatter, wantedActive } from './job-causes.ts'
import { type Refusal, refusalWords } from './refusal.ts'
import { type Surroundings, causeOfPod } from './pod-cause.ts'

/** The fields of a workload that explain what it waits for. Each kind has some of them. */
export interface WorkloadObject extends KubeObject {
  spec?: {
    replicas?: number
    paused?: boolean
    suspend?: boolean
    podManagementPolicy?: string
    updateStrategy?: { type?: string; paused?: boolean }
    /** Fields of Jobs. */
    parallelism?: number
    completions?: number
    backoffLimitPerIndex?: number
  }
  status?: {
    observedGeneration?: Int64
    updateRevision?: string
    active?: unknown
    succeeded?: number
    conditions?: readonly WorkloadCondition[] | null
  }
}

/** A workload with the objects that explain it. Missing ones explain nothing. */
export interface Workload {
  kind: string
  object: WorkloadObject
  /** All its pods of every revision, including terminating ones. */
  pods: Iterable<Pod>
  /** Terminating pods that do not delay new ones. They are named only if no pod of `pods` is. */
  going?: Iterable<Pod> | undefined
  around: Surroundings
  refusal?: Refusal | undefined
  /** True for a pod of the revision that is rolled out. */
  isUpdated?(pod: Pod): boolean
  /** The reason why the controller's plan does not continue, in its own words. */
  wait?: string | undefined
  /** Budgets that select the pods. */
  budgets?: readonly PodDisruptionBudget[]
}

/** The annotation of a StatefulSet that has broken pods of an old revision replaced at once. */
export const recoveryAnnotation = 'coxswain.dev/recover-broken-rollout'

/**
 * The cause that conditions name, from the worst causes of the pods that stay and of the terminating pods. A refusal
 * comes first: nothing else can happen until it ends.
 */
export function firstOf(
  about: Pick<Workload, 'kind' | 'object' | 'refusal' | 'wait'>,
  worst: Cause | undefined,
  going: Cause | undefined,
): Cause | undefined {
  return refusalCause(about as Workload) ?? eitherOf(worst, going) ?? waitCause(about as Workload)
}

/**
 * Terminating pods are named if no other pod is worth naming; within their grace period, only if there is no other
 * cause.
 */
const eitherOf = (first: Cause | undefined, going: Cause | undefined): Cause | undefined =>
  going && (!first || going.weight !== 'starting') && !isWorthNaming(first) ? going : first

/** All causes of a workload, sorted by weight. */
export function explain(workload: Workload): Cause[] {
  const pause = jobPause(workload)
  const every = [...workload.pods, ...(workload.going ?? [])]
  const all = workload.kind === 'Job' ? podsThatMatter(every, pause !== undefined) : every
  const pods = all.flatMap((pod) => causeIn(workload, pod) ?? []).sort(byWeight)
  const own = [...holdCauses(workload), ...(pause ? [pause] : []), ...budgetCauses(workload)]
  const hasTrouble = pods.some(({ weight }) => weight !== 'starting')
  const wait = hasTrouble ? undefined : waitCause(workload)
  const nameless = (cause: Cause): Cause => ({ ...cause, object: noName })
  const rest = [...pods, ...own, ...(wait && own.length === 0 ? [wait] : [])].sort((a, b) =>
    byWeight(nameless(a), nameless(b)),
  )
  const refusal = refusalCause(workload)
  return refusal ? [refusal, ...rest] : rest
}

const noName: ObjectName = { kind: '', name: '' }

/** The workload as the object of a cause. */
const objectOf = ({
  kind,
  object: {
    metadata: { namespace, name = '' },
  },
}: Workload): ObjectName => ({ kind, ...(namespace ? { namespace } : {}), name })

/** The reason why a pod of a workload is not available. */
export function causeIn(
  workload: Pick<Workload, 'kind' | 'object' | 'around' | 'isUpdated'>,
  pod: Pod,
): Cause | undefined {
  const cause = causeOfPod(pod, workload.around)
  return cause && blocksItsOwnUpdate(workload, pod, cause) ? brokenOldPod(workload, cause) : cause
}

/** With OrderedReady, a broken pod of an old revision keeps the StatefulSet from replacing it. */
function blocksItsOwnUpdate(
  { kind, object, isUpdated }: Pick<Workload, 'kind' | 'object' | 'isUpdated'>,
  pod: Pod,
  { weight }: Cause,
): boolean {
  if (kind !== 'StatefulSet' || weight !== 'trouble' || !isUpdated || pod.metadata.deletionTimestamp) return false
  if (object.spec?.podManagementPolicy === 'Parallel' || object.spec?.updateStrategy?.type === 'OnDelete') return false
  return object.metadata.annotations?.[recoveryAnnotation] !== 'true' && !isUpdated(pod)
}

function brokenOldPod(
  {
    object: {
      metadata: { name },
    },
  }: Pick<Workload, 'object'>,
  { object, text, since }: Cause,
): Cause {
  const wayOut = `delete it manually, or annotate the set with ${recoveryAnnotation}=true`
  return {
    what: 'BrokenOldPod',
    weight: 'trouble',
    object,
    text: `${text}; it is of an old revision and keeps the new one from being rolled out: ${wayOut}`,
    ...(since ? { since } : {}),
    help: `kubectl delete pod ${object.name}, or kubectl annotate statefulset ${name} ${recoveryAnnotation}=true.`,
  }
}

function refusalCause(workload: Workload): Cause | undefined {
  const { refusal } = workload
  if (!refusal) return undefined
  const { text, help } = refusalWords(refusal)
  return make(workload, refusal.what, 'trouble', text, refusal.since, help)
}

function waitCause(workload: Workload): Cause | undefined {
  const { wait } = workload
  if (wait === undefined) return undefined
  return make(workload, 'Waiting', 'starting', `waits: ${wait}`, undefined, 'Wait: it continues without intervention.')
}

function make(
  workload: Workload,
  what: CauseKind,
  weight: Weight,
  text: string,
  since: string | null | undefined,
  help: string,
): Cause {
  return { what, weight, object: objectOf(workload), text, ...(since ? { since } : {}), help }
}

/** Causes in the workload itself, mostly that it waits for a person. */
function holdCauses(workload: Workload): Cause[] {
  const { object, pods, isUpdated, kind } = workload
  const { spec = {}, status = {}, metadata } = object
  const condition = (type: string) => status.conditions?.find((c) => c.type === type)
  const held = (what: CauseKind, text: string, since: string | null | undefined, help: string) =>
    make(workload, what, 'held', text, since, help)
  const resource = `${kind.toLowerCase()}/${metadata.name}`
  const progressing = condition('Progressing')
  const causes: Cause[] = []
  const { generation = 0 } = metadata
  const { observedGeneration } = status
  if (observedGeneration !== undefined && observedGeneration < generation) {
    const text = `is at generation ${generation}, of which its controller has observed ${observedGeneration}`
    const help = 'Check that its controller runs and that its caches are up to date (/readyz).'
    causes.push(make(workload, 'NotObserved', 'trouble', text, undefined, help))
  }
  const foreign = foreignFinalizers(metadata.finalizers)
  if (metadata.deletionTimestamp && foreign.length > 0) {
    const names = finalizersText(foreign)
    const text = `is being deleted and is held by ${names}`
    causes.push(held('Finalizer', text, metadata.deletionTimestamp, `Find the controller that must remove ${names}.`))
  } else if (metadata.deletionTimestamp && metadata.finalizers?.includes('foregroundDeletion')) {
    const text = 'is deleted after all its dependents (foregroundDeletion)'
    const help = 'Wait, or see what holds the objects that it owns.'
    causes.push(make(workload, 'Terminating', 'starting', text, metadata.deletionTimestamp, help))
  }
  if (spec.paused || spec.updateStrategy?.paused) {
    causes.push(held('Paused', 'is paused', progressing?.lastTransitionTime, `coxswain rollout resume ${resource}.`))
  }
  if (spec.suspend) {
    const help = `kubectl patch ${resource} -p '{"spec":{"suspend":false}}'.`
    causes.push(held('Suspended', 'is suspended', condition('Suspended')?.lastTransitionTime, help))
  }
  if (progressing?.reason === 'PartitionReached') {
    const help = `Lower the partition of ${resource} to continue.`
    // The condition has been True since the rollout began, so its clock says since when the rollout is held.
    causes.push(held('PartitionReached', 'is held by its partition', progressing.lastUpdateTime, help))
  }
  if (spec.updateStrategy?.type === 'OnDelete' && isUpdated) {
    const outdated = [...pods].filter((pod) => !isUpdated(pod) && !pod.metadata.deletionTimestamp)
    if (outdated.length > 0)
      causes.push(
        onDeleteCause(
          workload,
          outdated.map((pod) => pod.metadata.name ?? ''),
        ),
      )
  }
  return causes
}

/**
 * The back-off of a Job that has too few pods: from its conditions if its controller writes them, otherwise from its
 * pods.
 */
function jobPause(workload: Workload): Cause | undefined {
  const {
    kind,
    object,
    pods,
    around: { nowMs },
  } = workload
  if (kind !== 'Job' || object.metadata.deletionTimestamp) return undefined
  const all = [...pods]
  if (all.filter(isPodActive).length >= wantedActive(object)) return undefined
  const pause = pauseInConditions(object, nowMs) ?? pauseOf(object, all, nowMs)
  if (!pause) return undefined
  const help = 'See why its pods fail: kubectl logs, kubectl describe pod.'
  return make(workload, 'BackOff', 'timed', `backs off: ${pauseText(pause)}`, undefined, help)
}

/** OnDelete: the workload waits until its outdated pods are deleted. */
export function onDeleteCause(workload: Pick<Workload, 'kind' | 'object'>, outdated: readonly string[]): Cause {
  const [first] = outdated.toSorted(byName)
  const text = `waits for you to delete ${outdated.length} outdated ${outdated.length === 1 ? 'pod' : 'pods'}, such as ${first} (OnDelete)`
  return make(workload as Workload, 'OnDelete', 'held', text, undefined, `kubectl delete pod ${first}.`)
}

function budgetCauses({ budgets = [] }: Workload): Cause[] {
  return budgets.flatMap(({ metadata: { name = '', namespace }, status }): Cause[] => {
    if (!status || status.disruptionsAllowed > 0) return []
    return [
      {
        what: 'DisruptionBudget',
        weight: 'held',
        object: { kind: 'PodDisruptionBudget', ...(namespace ? { namespace } : {}), name },
        text: `allows no eviction: ${status.currentHealthy} of at least ${status.desiredHealthy} pods are healthy`,
        help: 'Evictions and drains wait until more pods are healthy, or the budget allows more.',
      },
    ]
  })
}
