import { rolloutState } from '../../api/kinds/workloads/rollout-clock.ts'
import { type WorkloadKind, isObserved } from '../../insight/workload/kinds.ts'
import { type Numbers, type Workload, conditionOf, isConditionTrue } from '../../insight/workload/object.ts'

/** The state of a rollout: in progress, complete, paused at a partition, or failed. */
export interface Verdict {
  kind: 'waiting' | 'done' | 'held' | 'failed'
  /** Uses kubectl's words where they exist. */
  text: string
}

const quoted = (object: Workload): string => JSON.stringify(object.metadata.name)

/**
 * Evaluates a rollout as `kubectl rollout status` does, for every kind. Without conditions the numbers decide; an
 * exceeded deadline takes precedence over them.
 */
export function verdictOf(kind: WorkloadKind, object: Workload): Verdict {
  if (kind.kind === 'Job') return jobVerdict(object, kind.numbersOf(object))
  if (!isObserved(kind, object))
    return { kind: 'waiting', text: `Waiting for ${kind.title} spec update to be observed...` }
  const progressing = conditionOf(object, 'Progressing')
  if (progressing?.status === 'False' && progressing.reason === 'ProgressDeadlineExceeded') {
    return { kind: 'failed', text: `${kind.title} ${quoted(object)} exceeded its progress deadline` }
  }
  const numbers = kind.numbersOf(object)
  // A complete rollout stays complete when pods are lost later; the condition Available reports that.
  const waiting =
    rolloutState(object.status?.conditions) === 'complete' ? undefined : waitingText(kind, object, numbers)
  if (waiting) return { kind: 'waiting', text: waiting }
  const { expectedUpdated = numbers.desired, updated = 0 } = numbers
  if (expectedUpdated < numbers.desired)
    return { kind: 'held', text: `partitioned roll out complete: ${updated} new pods have been updated...` }
  if (kind.kind === 'StatefulSet') {
    return {
      kind: 'done',
      text: `statefulset rolling update complete ${updated} pods at revision ${object.status?.updateRevision}...`,
    }
  }
  return { kind: 'done', text: `${kind.title} ${quoted(object)} successfully rolled out` }
}

/** Returns what the rollout waits for; undefined if nothing. */
function waitingText(kind: WorkloadKind, object: Workload, numbers: Numbers): string | undefined {
  const { desired, current, updated, expectedUpdated = desired, ready, available } = numbers
  const lead = `Waiting for ${kind.title} ${quoted(object)} rollout to finish: `
  const pods = kind.kind === 'DaemonSet' || kind.kind === 'StatefulSet' ? 'pods' : 'replicas'
  if (updated !== undefined && updated < expectedUpdated) {
    const { type } = object.spec?.updateStrategy ?? {}
    if (type === 'OnDelete') return `${lead}${desired - updated} outdated pods have to be deleted by hand (OnDelete)...`
    const isPartitioned = expectedUpdated < desired
    const start = isPartitioned ? 'Waiting for partitioned roll out to finish: ' : lead
    return `${start}${updated} out of ${expectedUpdated} new ${isPartitioned ? 'pods' : pods} have been updated...`
  }
  if (kind.kind === 'StatefulSet' && ready < desired) return `Waiting for ${desired - ready} pods to be ready...`
  const old = current - (updated ?? desired) - (desired - expectedUpdated)
  if (old > 0) return `${lead}${old} old replicas are pending termination...`
  if (available < desired)
    return `${lead}${available} of ${desired} ${updated === undefined ? '' : 'updated '}${pods} are available...`
  return undefined
}

function jobVerdict(object: Workload, { succeeded = 0, completions = 1 }: Numbers): Verdict {
  const name = `job ${quoted(object)}`
  if (isConditionTrue(object, 'Complete')) return { kind: 'done', text: `${name} is complete` }
  const failed = conditionOf(object, 'Failed')
  if (failed?.status === 'True')
    return { kind: 'failed', text: `${name} has failed: ${[failed.reason, failed.message].filter(Boolean).join(': ')}` }
  if (object.spec?.suspend) return { kind: 'waiting', text: `Waiting for ${name} to be resumed: it is suspended...` }
  return { kind: 'waiting', text: `Waiting for ${name} to finish: ${succeeded} out of ${completions} completions...` }
}
