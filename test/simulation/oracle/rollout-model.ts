import type { Verdict } from '../invariant.ts'
import { type Certainty, type Condition, type Span, msOf, secondOf } from './reading.ts'
import type { Facts, Headway, Terms } from './workload-kind.ts'

export type Phase = 'moving' | 'complete' | 'held' | 'waiting' | 'paused' | 'exceeded' | 'refused' | 'silent'

const phases: Readonly<Record<string, Phase>> = {
  'True NewRevisionCreated': 'moving',
  'True NewReplicaSetCreated': 'moving',
  'True FoundNewReplicaSet': 'moving',
  'True ReplicasUpdated': 'moving',
  'True ReplicaSetUpdated': 'moving',
  'Unknown RolloutResumed': 'moving',
  'Unknown DeploymentResumed': 'moving',
  'True NewRevisionAvailable': 'complete',
  'True NewReplicaSetAvailable': 'complete',
  'True PartitionReached': 'held',
  'True WaitingForPodDeletion': 'waiting',
  'Unknown RolloutPaused': 'paused',
  'Unknown DeploymentPaused': 'paused',
  'False ProgressDeadlineExceeded': 'exceeded',
  'False FailedCreate': 'refused',
  'False ReplicaSetCreateError': 'refused',
}

export const phaseOf = (said: Condition | undefined): Phase | undefined => (said ? phases[`${said.status} ${said.reason}`] : 'silent')

/** The known state of a rollout after a status was written. */
export interface Rollout {
  terms: Terms
  phase: Phase
  /** As it was stored. */
  said: Condition | undefined
  /** From when on the deadline counts. */
  startMs: number
  /** True if there may have been pods of other revisions. */
  hasOld: boolean
  /** Uids of nodes that were seen since: one that was lost and is back is not new. */
  known: ReadonlySet<string>
  /** The most (of old pods: the fewest) that there were since the rollout began. */
  best: Record<keyof Headway, Span>
}

/** A status that somebody writes, and what follows from what it knew. */
export interface Report {
  terms: Terms
  facts: Facts
  said: Condition | undefined
  atMs: number
  deadlineSeconds: number | undefined
  /** True if something could not be made or deleted in this look. */
  hasFailed: boolean
}

/** Times are whole seconds, rounded down. */
const slackMs = 1000

const isOver = (phase: Phase): boolean => phase === 'complete' || phase === 'held'

/** True if another rollout has begun since. */
function hasBegun(before: Rollout | undefined, next: Terms): Certainty {
  if (!before || before.phase === 'silent') return 'yes'
  const { terms, known, startMs } = before
  const isScaled = terms.replicas !== next.replicas
  const isRevised = next.revision !== '' && terms.revision !== '' && terms.revision !== next.revision
  if (isRevised) return 'yes'
  // As in Kubernetes, a Deployment that was out of time before it was paused says so until it moves again.
  if (terms.isPaused && !next.isPaused) return before.phase === 'exceeded' ? 'perhaps' : 'yes'
  const staysOver = next.staysComplete && isOver(before.phase)
  if (isScaled && !staysOver) return 'yes'
  if (isScaled || next.revision === '' || terms.revision === '') return 'perhaps'
  // A partition that has nothing to keep back may change without a word.
  if (next.goals.every((goal, i) => goal !== terms.goals[i])) return before.hasOld ? 'yes' : 'perhaps'
  const isAdded = [...next.nodes].some(([uid, madeMs]) => !known.has(uid) && madeMs > startMs + slackMs)
  if (isAdded && next.nodes.size > terms.nodes.size) return 'yes'
  const mayBeAdded = [...next.nodes].some(([uid, madeMs]) => !known.has(uid) || madeMs >= startMs - slackMs)
  return mayBeAdded || next.mayHaveBegun || terms.details !== next.details || next.goals[0] !== terms.goals[0] || before.phase === 'waiting' ? 'perhaps' : 'no'
}

/** True if there is more of what is wanted, or less of what is not, than ever since the rollout began. */
function hasMoved(best: Rollout['best'], { headway }: Facts): Certainty {
  const judge = (key: keyof Headway): Certainty => {
    const [was, is] = key === 'old' ? [headway.old, best.old] : [best[key], headway[key]]
    return is.low > was.high ? 'yes' : is.high > was.low ? 'perhaps' : 'no'
  }
  const verdicts = (Object.keys(best) as (keyof Headway)[]).map(judge)
  return verdicts.includes('yes') ? 'yes' : verdicts.includes('perhaps') ? 'perhaps' : 'no'
}

/** The best of a rollout with what there is now. `mayBeNew`: perhaps it counts from here on. */
function extended(best: Rollout['best'], { headway }: Facts, mayBeNew: boolean): Rollout['best'] {
  const most = (was: Span, is: Span): Span => ({ low: mayBeNew ? is.low : Math.max(was.low, is.low), high: Math.max(was.high, is.high) })
  const { old } = headway
  return {
    updated: most(best.updated, headway.updated),
    ready: most(best.ready, headway.ready),
    available: most(best.available, headway.available),
    old: { low: Math.min(best.old.low, old.low), high: mayBeNew ? old.high : Math.min(best.old.high, old.high) },
  }
}

/** The known state of a rollout after a status is stored. */
export function nextRollout(before: Rollout | undefined, { terms, facts, said, atMs }: Report): Rollout {
  const begun = hasBegun(before, terms)
  const phase = phaseOf(said) ?? 'moving'
  const toldMs = msOf(said?.lastUpdateTime)
  const isNew = !before || begun === 'yes'
  const startMs = Number.isNaN(toldMs) ? secondOf(atMs) : toldMs
  const mayBeNew = begun === 'perhaps' && toldMs === secondOf(atMs)
  const known = new Set([...(before?.known ?? []), ...terms.nodes.keys()])
  // While there is no ReplicaSet of a new template, the rollout is still that of the old one, unless it says that another has begun.
  const { revision, template } = terms.revision || !before || (begun !== 'no' && toldMs === secondOf(atMs)) ? terms : before.terms
  return { terms: { ...terms, revision, template }, phase, said, startMs, hasOld: facts.headway.old.high > 0, known, best: isNew ? facts.headway : extended(before.best, facts, mayBeNew) }
}

/** Evaluates the progress in a status. */
export function judgeProgress(before: Rollout | undefined, report: Report): Verdict {
  const { terms, facts, said } = report
  const phase = phaseOf(said)
  if (!phase) return `says ${said!.status}/${said!.reason}, which nobody knows`
  // A Deployment has nothing to say before it has a ReplicaSet.
  if (phase === 'silent') return terms.revision === '' && (before?.phase ?? 'silent') === 'silent' ? undefined : 'says nothing'
  const begun = hasBegun(before, terms)
  const wasExceeded = before?.phase === 'exceeded'
  if (terms.isPaused) return phase === 'paused' || (wasExceeded && phase === 'exceeded') ? undefined : `says ${said!.reason}, and is paused`
  if (phase === 'paused') return `says ${said!.reason}, and is not paused`
  if (before && isOver(before.phase) && begun === 'no') return judgeFinished(before, phase, report)
  if (phase === 'refused' && !report.hasFailed) return `says ${said!.reason}, and nothing has failed`
  if (phase === 'refused') return undefined
  const isStill = before?.phase === phase && begun !== 'yes'
  if (phase === 'complete' && facts.isComplete === 'no' && !isStill) return `says ${said!.reason}, and is not complete: ${headwayText(facts)}`
  if (phase === 'held' && facts.isHeld === 'no' && !isStill) return `says ${said!.reason}, and has not come that far: ${headwayText(facts)}`
  if (phase === 'waiting' && facts.isWaiting === 'no' && (!isStill || !terms.details.includes('OnDelete'))) return `says ${said!.reason}, and nobody has to delete anything (${terms.details}): ${headwayText(facts)}`
  if (phase === 'complete' || phase === 'held' || phase === 'waiting') return undefined
  if (facts.isComplete === 'yes') return `says ${said!.reason}, and is complete: ${headwayText(facts)}`
  if (facts.isHeld === 'yes') return `says ${said!.reason}, and has come as far as its partition lets it: ${headwayText(facts)}`
  if (facts.isWaiting === 'yes') return `says ${said!.reason}, and waits for somebody to delete old pods: ${headwayText(facts)}`
  return phase === 'exceeded' ? judgeExceeded(before, begun, report) : judgeMoving(before, begun, report)
}

/** Nothing but another rollout takes away that one is finished. */
function judgeFinished(before: Rollout, phase: Phase, { said, facts }: Report): Verdict {
  if (before.phase === 'held' && phase === 'complete' && facts.isComplete !== 'no') return undefined
  if (phase !== before.phase) return `says ${said!.status}/${said!.reason} after ${before.said!.reason}, and nothing new has begun`
  const isSame = said!.lastUpdateTime === before.said!.lastUpdateTime
  return isSame ? undefined : `sets its clock from ${before.said!.lastUpdateTime} to ${said!.lastUpdateTime} after ${said!.reason}, and nothing new has begun`
}

function judgeExceeded(before: Rollout | undefined, begun: Certainty, { terms, said, facts, atMs, deadlineSeconds }: Report): Verdict {
  if (deadlineSeconds === undefined) return 'says that its deadline is exceeded, and has none'
  if (!before || begun === 'yes') return `says that its deadline is exceeded, and a rollout has just begun (${beginningText(before, terms)})`
  const isAnother = terms.revision === '' && terms.template !== before.terms.template
  if (isAnother && before.phase !== 'exceeded') return `says that its deadline is exceeded, and that of ${terms.template} has not begun`
  if (hasMoved(before.best, facts) === 'yes') return `says that its deadline is exceeded, and has just made progress: ${progressText(before, facts)}`
  if (msOf(said!.lastUpdateTime) !== before.startMs) return `sets its clock from ${timeText(before.startMs)} to ${said!.lastUpdateTime} as its deadline is exceeded`
  const earlyMs = before.startMs + deadlineSeconds * 1000 - atMs
  return earlyMs > slackMs ? `says that its deadline of ${deadlineSeconds} s is exceeded ${seconds(earlyMs)} before it is` : undefined
}

function judgeMoving(before: Rollout | undefined, begun: Certainty, { terms, said, facts, atMs, deadlineSeconds }: Report): Verdict {
  const toldMs = msOf(said!.lastUpdateTime)
  const nowMs = secondOf(atMs)
  if (!before || begun === 'yes') return toldMs === nowMs ? undefined : `has begun anew at ${timeText(nowMs)} (${beginningText(before, terms)}), and its clock says ${said!.lastUpdateTime}`
  const moved = hasMoved(before.best, facts)
  const isMoved = toldMs === nowMs
  if (moved === 'yes' && !isMoved) return `has made progress, and its clock still says ${said!.lastUpdateTime}: ${progressText(before, facts)}`
  const isAllowed = toldMs === before.startMs || (isMoved && (moved !== 'no' || begun !== 'no'))
  if (!isAllowed) return `sets its clock from ${timeText(before.startMs)} to ${said!.lastUpdateTime} without progress: ${progressText(before, facts)}`
  if (deadlineSeconds === undefined) return undefined
  if (terms.revision === '' && terms.template !== before.terms.template) return undefined
  const lateMs = atMs - toldMs - deadlineSeconds * 1000
  return lateMs > slackMs ? `says ${said!.reason} ${seconds(lateMs)} after its deadline of ${deadlineSeconds} s` : undefined
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`
const timeText = (ms: number): string => new Date(ms).toISOString().replace('.000', '')
const spanText = ({ low, high }: Span): string => (low === high ? `${low}` : `${low}-${high}`)

function beginningText(before: Rollout | undefined, next: Terms): string {
  if (!before) return 'for the first time'
  const { nodes, ...was } = before.terms
  const changed = Object.entries(was).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(next[key as keyof Terms]))
  return [before.phase, ...changed.map(([key, value]) => `${key} ${JSON.stringify(value)} → ${JSON.stringify(next[key as keyof Terms])}`), `${nodes.size} → ${next.nodes.size} nodes`].join(', ')
}

const headwayText = ({ headway: { updated, ready, available, old } }: Facts): string =>
  `${spanText(updated)} updated, ${spanText(ready)} of them ready, ${spanText(available)} available, ${spanText(old)} old`

const progressText = ({ best }: Rollout, facts: Facts): string => `${headwayText(facts)}; best was ${headwayText({ ...facts, headway: best })}`
