import type { KubeObject } from '../../../src/api/object.ts'
import type { Verdict } from '../invariant.ts'
import type { Knowledge } from './knowledge.ts'
import { blockersIn, judgeNames } from './names.ts'
import { type Condition, conditionOf, describeSpan, isHeldByHook, isReadyFor, isTerminating, msOf, secondOf } from './reading.ts'
import { type Report, type Rollout, judgeProgress, phaseOf } from './rollout-model.ts'
import { type Facts, type Look, type Status, type WorkloadKind, factsOf, numberIn } from './workload-kind.ts'

/** A status, by whom it concerns and what its writer knew. */
export interface Statement {
  kind: WorkloadKind
  knowledge: Knowledge
  status: Status
  /** The previously stored object, as its writer observed it. */
  previous: KubeObject
  before: Rollout | undefined
  /** True if the writer speaks of progress and availability at all. */
  hasConditions: boolean
}

const lookOf = ({ knowledge: { owner, atMs, views }, status }: Statement): Look => ({ owner, status, atMs, around: views.at(-1)! })

/** The progress in a status, and the writer's knowledge about it. */
export function reportOf(statement: Statement, facts: Facts): Report | undefined {
  const { kind, knowledge, status } = statement
  if (!kind.terms) return undefined
  return {
    terms: kind.terms(lookOf(statement)),
    facts,
    said: sayingOf(status, 'Progressing'),
    atMs: knowledge.atMs,
    deadlineSeconds: kind.deadlineSeconds(knowledge.owner),
    hasFailed: knowledge.hasFailed,
  }
}

export const factsOfStatement = ({ kind, knowledge, status }: Statement): Facts => factsOf(kind, knowledge, status)

const sayingOf = (status: Status, type: string): Condition | undefined => conditionOf({ metadata: {}, status } as KubeObject, type)

/** Evaluates a status. */
export function judgeStatus(statement: Statement, facts: Facts, report: Report | undefined): Verdict {
  const { hasConditions } = statement
  const counts = judgeCounts(statement, facts)
  if (counts) return counts
  if (!hasConditions) return judgeSilence(statement)
  return judgeAvailable(statement) ?? judgeRollout(statement, report) ?? judgeTimes(statement) ?? judgeMessages(statement, report)
}

function judgeCounts({ status }: Statement, { counts }: Facts): Verdict {
  for (const [field, span] of counts) {
    const told = numberIn(status, field)
    if (told < span.low || told > span.high) return `says that ${field} is ${told}, and saw ${describeSpan(span)}`
  }
  return undefined
}

/** With a disabled gate a status has no stale conditions. */
function judgeSilence({ status }: Statement): Verdict {
  const told = ['Progressing', 'Available'].find((type) => sayingOf(status, type))
  return told && `says ${told}, which is switched off`
}

function judgeAvailable(statement: Statement): Verdict {
  const { kind, status } = statement
  const { available, least } = kind.service(lookOf(statement))
  const said = sayingOf(status, 'Available')
  const isEnough = available >= least
  const due = isEnough ? 'True/MinimumReplicasAvailable' : 'False/MinimumReplicasUnavailable'
  if (`${said?.status}/${said?.reason}` !== due) return `says Available ${said?.status}/${said?.reason} with ${available} available, and ${least} have to be`
  const progressing = sayingOf(status, 'Progressing')
  const isNew = phaseOf(progressing) === 'complete' && progressing!.reason !== conditionOf(statement.previous, 'Progressing')?.reason
  return isNew && !isEnough ? `says ${progressing!.reason} and ${said!.reason} at once` : undefined
}

function judgeRollout({ kind, before }: Statement, report: Report | undefined): Verdict {
  if (!report) return undefined
  const isSilent = kind.needsDeadline && report.deadlineSeconds === undefined
  if (isSilent) return report.said ? 'speaks of progress, and has no deadline' : undefined
  return judgeProgress(before, report)
}

/** A condition turned when its status did. */
function judgeTimes({ status, previous, knowledge: { atMs } }: Statement): Verdict {
  for (const type of ['Progressing', 'Available']) {
    const [was, is] = [conditionOf(previous, type), sayingOf(status, type)]
    if (!is) continue
    const turnedMs = msOf(is.lastTransitionTime)
    const dueMs = was?.status === is.status ? msOf(was.lastTransitionTime) : secondOf(atMs)
    if (turnedMs !== dueMs) return `says that ${type} turned ${is.status} at ${is.lastTransitionTime}, and it was at ${new Date(dueMs).toISOString()}`
  }
  return undefined
}

/** Messages name what is there; of pods, such as keep something from going on. */
function judgeMessages({ status, previous, knowledge }: Statement, report: Report | undefined): Verdict {
  for (const said of (status.conditions ?? []) as Condition[]) {
    const isOld = said.message === conditionOf(previous, said.type)?.message
    // A failure to create pods keeps its message; a finished or paused rollout keeps the message of that time.
    const isOver = ['complete', 'held', 'waiting'].includes(phaseOf(said) ?? '') || report?.terms.isPaused
    const isKept = isOld && (said.type === 'ReplicaFailure' || said.type.startsWith('Failed') || (said.type === 'Progressing' && isOver))
    const verdict = isKept ? undefined : (judgeNames(said.message, knowledge.views) ?? judgeBlocker(said, knowledge))
    if (verdict) return `${verdict}, in ${said.type}: ${said.message}`
  }
  return undefined
}

/** A pod that is said to be in the way is not available, or is one to go. */
function judgeBlocker(said: Condition, { owner, atMs, views }: Knowledge): Verdict {
  if (said.status === 'True' && said.type === 'Available') return undefined
  const { minReadySeconds = 0 } = (owner as { spec?: { minReadySeconds?: number } }).spec ?? {}
  const isFine = (found: string) =>
    views.every(({ pods }) => {
      const pod = pods.find(({ metadata }) => metadata.name === found)
      return pod !== undefined && !isTerminating(pod) && !isHeldByHook(pod) && isReadyFor(pod, minReadySeconds, atMs) && pod.status?.phase === 'Running'
    })
  const isMisplaced = / is on node /.test(said.message ?? '')
  const fine = isMisplaced ? undefined : blockersIn(said.message).find(isFine)
  return fine && `has pod ${fine} in the way, which is available`
}
