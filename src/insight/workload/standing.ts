import type { Cause } from '../../api/explain/index.ts'
import { countOf, isOrAre, shareOf } from '../../api/printing/plural.ts'
import { millisecondsOf } from '../../api/object.ts'
import { cronJobSaid, jobSaid } from './finite-standing.ts'
import { type WorkloadKind, isObserved } from './kinds.ts'
import { type Numbers, type Workload, conditionOf, isConditionTrue } from './object.ts'
import type { Said, Standing, State } from './said.ts'
import { deadlineOf, hasDeadline } from '../../api/kinds/workloads/rollout-clock.ts'

/** Reasons of Progressing after which the rollout is over. Later changes of pods are no rollout. */
const completeReasons: readonly (string | undefined)[] = [
  'NewReplicaSetAvailable',
  'NewRevisionAvailable',
  'PartitionReached',
]

/** Determines the state of a workload. Kinds and clusters without conditions are judged by their numbers. */
export function standingOf(kind: WorkloadKind, object: Workload, nowMs: number): Standing {
  const numbers = kind.numbersOf(object)
  return { deadlineAtMs: undefined, ...saidOf(kind, object, numbers, nowMs), numbers }
}

function saidOf(kind: WorkloadKind, object: Workload, numbers: Numbers, nowMs: number): Said {
  const { deletionTimestamp, generation = 0 } = object.metadata
  if (deletionTimestamp)
    return { state: 'Terminating', reason: 'Deleted', message: 'it is being deleted', since: deletionTimestamp }
  if (kind.kind === 'CronJob') return cronJobSaid(object, numbers, nowMs)
  if (kind.kind === 'Job') return jobSaid(object, numbers)
  if (!isObserved(kind, object)) {
    const message = `its controller has not observed generation ${generation} yet`
    return { state: 'Progressing', reason: 'NotObserved', message, since: undefined }
  }
  return rolloutSaid(object, numbers, kind.kind === 'DaemonSet' ? 'pod' : 'replica')
}

function rolloutSaid(object: Workload, numbers: Numbers, noun: string): Said {
  const { spec = {} } = object
  const progressing = conditionOf(object, 'Progressing')
  const deadline = deadlineOf(object)
  const failure = isConditionTrue(object, 'ReplicaFailure') ? conditionOf(object, 'ReplicaFailure') : undefined
  const text = numbersText(numbers, noun)
  const said = (state: State, reason: string, message: string, since: string | null | undefined): Said => ({
    state,
    reason,
    message,
    since: since ?? undefined,
  })
  if (progressing?.status === 'False') {
    const isLate = progressing.reason === 'ProgressDeadlineExceeded'
    const within = hasDeadline(deadline) ? `${deadline} seconds` : 'its deadline'
    const message = isLate ? `no progress within ${within}; ${text}` : text
    return said('Stuck', progressing.reason ?? '', message, progressing.lastTransitionTime)
  }
  if (spec.paused || spec.updateStrategy?.paused) {
    return said(
      'Paused',
      progressing?.reason ?? 'Paused',
      `its rollout is paused; ${text}`,
      progressing?.lastTransitionTime,
    )
  }
  if (failure) return said('Stuck', failure.reason ?? '', text, failure.lastTransitionTime)
  const available = conditionOf(object, 'Available')
  if (isComplete(numbers)) {
    const message = `${availableText(numbers, noun)}${elsewhereText(numbers)}`
    return said('Available', available?.reason ?? '', message, available?.lastTransitionTime)
  }
  if (isAsFarAsItMay(object, numbers)) return heldSaid(object, numbers)
  if (completeReasons.includes(progressing?.reason) || (!progressing && wasAvailable(object)))
    return said('Degraded', available?.reason ?? '', availableText(numbers, noun), available?.lastTransitionTime)
  return {
    ...said(
      'Progressing',
      progressing?.reason ?? available?.reason ?? '',
      text,
      progressing?.lastUpdateTime ?? available?.lastTransitionTime,
    ),
    deadlineAtMs: deadlineAtMs(progressing?.lastUpdateTime, deadline),
  }
}

/**
 * True if a workload without Progressing, such as a ReplicaSet that nobody owns, was available before: its condition
 * Available has turned False long after it was made.
 */
function wasAvailable({ metadata, status }: Workload): boolean {
  const available = status?.conditions?.find(({ type }) => type === 'Available')
  if (available?.status !== 'False') return false
  return millisecondsOf(available.lastTransitionTime) > millisecondsOf(metadata.creationTimestamp) + firstStatusMs
}

/** The time after which a controller must have written the first status. */
const firstStatusMs = 5000

function elsewhereText({ elsewhere = 0 }: Numbers): string {
  if (elsewhere === 0) return ''
  return `, ${countOf(elsewhere, 'more is on a node that is', 'more are on nodes that are')} not to run one`
}

/**
 * The state, taking causes into account. As in Kubernetes, a lost node does not count among the eligible nodes of a
 * DaemonSet, but its pod is lost.
 */
export function standingWith<S extends Standing>(standing: S, causes: readonly Cause[]): S {
  const {
    state,
    numbers: { elsewhere = 0 },
  } = standing
  const trouble = causes.find(({ weight, object }) => weight === 'trouble' && object.kind === 'Pod')
  if (state !== 'Available' || elsewhere === 0 || !trouble) return standing
  return { ...standing, state: 'Degraded', reason: trouble.what, since: trouble.since ?? standing.since }
}

/** Reports whether all replicas are updated and available, and no other pod is left. */
const isComplete = ({ desired, current, updated = current, available }: Numbers): boolean =>
  updated >= desired && available >= desired && current <= desired

/**
 * Reports whether nothing more happens by itself: all replicas are available, and a partition or OnDelete keeps the old
 * ones.
 */
function isAsFarAsItMay(
  { spec }: Workload,
  { desired, current, updated = 0, expectedUpdated = desired, available }: Numbers,
): boolean {
  if (available < desired || current > desired) return false
  return spec?.updateStrategy?.type === 'OnDelete' || (expectedUpdated < desired && updated >= expectedUpdated)
}

function heldSaid(object: Workload, { desired, updated = 0 }: Numbers): Said {
  const progressing = conditionOf(object, 'Progressing')
  const since = progressing?.lastTransitionTime ?? undefined
  const old = desired - updated
  if (object.spec?.updateStrategy?.type === 'OnDelete') {
    return {
      state: 'Held',
      reason: 'OnDelete',
      message: `${countOf(old, 'outdated pod waits', 'outdated pods wait')} to be deleted by hand`,
      since,
    }
  }
  return {
    state: 'Held',
    reason: 'PartitionReached',
    message: `${shareOf(updated, desired, 'replica')} updated, its partition keeps ${old}`,
    since,
  }
}

/** The time at which a deadline passes. Undefined without a deadline or clock. */
function deadlineAtMs(clock: string | null | undefined, deadline: number | undefined): number | undefined {
  const sinceMs = millisecondsOf(clock)
  return !hasDeadline(deadline) || Number.isNaN(sinceMs) ? undefined : sinceMs + deadline * 1000
}

const availableText = ({ available, desired }: Numbers, noun: string): string =>
  `${shareOf(Math.min(available, desired), desired, noun)} available`

/**
 * A text such as `2 of 3 replicas are updated, 1 of 3 is available`. Kinds without revisions have only the second part.
 */
function numbersText(numbers: Numbers, noun: string): string {
  const { desired, updated, expectedUpdated = desired } = numbers
  if (updated === undefined) return `${availableText(numbers, noun)}${surplusText(numbers)}`
  const done = Math.min(updated, expectedUpdated)
  const available = Math.min(numbers.available, desired)
  const surplus = done === expectedUpdated ? surplusText(numbers) : ''
  const ready = `${available} of ${desired} ${isOrAre(available, desired)} available`
  return `${shareOf(done, expectedUpdated, noun)} updated, ${ready}${surplus}`
}

/** The pods that still exist although all others are as desired. */
function surplusText({ desired, current, updated = current, expectedUpdated = desired }: Numbers): string {
  const old = current - updated - (desired - expectedUpdated)
  if (old > 0) return `, ${countOf(old, 'old one is', 'old ones are')} left`
  return current > desired ? `, ${countOf(current - desired, 'is', 'are')} too many` : ''
}
