import type { StatefulSet, StatefulSetStatus } from '../../api/generated/types.ts'
import type { ApplyContext, Outcome } from '../kit/index.ts'
import { type Saying, findCondition, removeCondition, setTimedCondition, timestamp } from '../kit/workload/index.ts'
import { ordinalOf } from '../statefulset/identity.ts'
import { type Action, type Choice, type Outlook, outlookOf, stageOf } from './plan.ts'
import { type Observed, isWanted } from './observe.ts'
import {
  type Recovery,
  type Terms,
  type Tries,
  hasClaims,
  hasUnreadableRecovery,
  stateAnnotation,
  stateText,
  triesAnnotation,
} from './settings.ts'

/**
 * The condition of a set: True during a recovery. It names the pod, its claims, and the reason, or why there is no
 * recovery.
 */
const conditionType = 'ClaimRecovery'

/** The decision about one claim of a finished pod. */
export interface Decision {
  claim: string
  /** Undefined if the claim was deleted. */
  whyKept: string | undefined
}

/** The recovery after a reconcile, and the condition. */
interface Next {
  recovery: Recovery | undefined
  /** Undefined if they are unchanged. */
  tries?: Tries
  /** Undefined if nothing changes. */
  says?: Saying | 'nothing'
}

const saying = (status: 'True' | 'False', reason: string, message: string): Saying => ({
  type: conditionType,
  status,
  reason,
  message,
})
const current = (set: Observed['set']) => findCondition(set.status?.conditions, conditionType)

/** Reports whether the condition says that the annotations are invalid. */
export const isCalledInvalid = (set: Observed['set']): boolean => current(set)?.reason === 'InvalidAnnotation'

function next(seen: Observed, outcome: Outcome<Action>): Next {
  const { settings, recovery } = seen
  if (settings.kind === 'invalid') {
    return { recovery: undefined, says: saying('False', 'InvalidAnnotation', settings.problem) }
  }
  const corrected: Pick<Next, 'says'> = isCalledInvalid(seen.set) ? { says: 'nothing' } : {}
  if (settings.kind !== 'on' && recovery) {
    return {
      recovery: undefined,
      tries: {},
      says: saying('False', 'NotAskedFor', 'The set does not ask for it any more.'),
    }
  }
  if (settings.kind === 'off') return { recovery: undefined, tries: {}, ...corrected }
  if (recovery) return onTheWay(seen, recovery, settings.afterMs, outcome)
  const outlook = outlookOf(seen, settings)
  if (outlook?.kind === 'recreate') {
    return settings.kind === 'on' ? begin(seen, outlook, settings) : { recovery: undefined, says: conditional(outlook) }
  }
  const isOver = passing.has(current(seen.set)?.reason ?? '')
  if (!outlook) {
    return {
      recovery: undefined,
      ...(isOver ? { says: saying('False', 'NotNeeded', 'No pod of the set is in its way any more.') } : corrected),
    }
  }
  return { recovery: undefined, ...waiting(seen, outlook) }
}

/** Temporary reasons. Once they no longer apply, the condition is cleared. */
const passing = new Set(['BackingOff', 'ClaimKept', 'LimitReached', 'WouldRecreateClaim', 'WouldRecreatePod'])

function begin(seen: Observed, choice: Extract<Choice, { kind: 'recreate' }>, { limit }: Terms): Next {
  const { recovery, tries } = choice
  const at = timestamp(seen.nowMs)
  const others = Object.entries(seen.tries).filter(([pod]) => isWanted(seen.set, ordinalOf(seen.set, pod) ?? -1))
  const again = tries > 0 ? `This is attempt ${tries + 1} for this pod; the limit of the set is ${limit}.` : ''
  return {
    recovery,
    tries: { ...Object.fromEntries(others), [recovery.pod]: { count: tries + 1, at } },
    says: beginning(choice, again),
  }
}

/** Reports the recovery that observe mode does not execute. */
function conditional({ recovery, why }: Extract<Choice, { kind: 'recreate' }>): Saying {
  const what = `Pod ${recovery.pod} would be made anew`
  return hasClaims(recovery)
    ? saying('False', 'WouldRecreateClaim', `${what} with ${listOf(recovery)}: ${why}`)
    : saying('False', 'WouldRecreatePod', `${what}, its claims would be kept: ${why}`)
}

function waiting(seen: Observed, outlook: Exclude<Outlook, { kind: 'recreate' }>): Pick<Next, 'says'> {
  switch (outlook.kind) {
    case 'keep':
      return keeping(seen, outlook)
    case 'exhausted':
      return exhausted(seen, outlook)
    case 'held back': {
      const { pod, tries, untilMs } = outlook
      const often = tries === 1 ? 'once' : `${tries} times`
      const message = `Pod ${pod} was made anew ${often} and is in trouble again. It is left alone until ${timestamp(untilMs)}.`
      return { says: saying('False', 'BackingOff', message) }
    }
  }
}

function onTheWay(seen: Observed, recovery: Recovery, afterMs: number, outcome: Outcome<Action>): Next {
  const stage = stageOf(seen, recovery, afterMs)
  if (stage.kind === 'recovered') {
    return { recovery: undefined, says: saying('False', 'NotNeeded', `Pod ${recovery.pod} has come up by itself.`) }
  }
  if (stage.kind === 'over') return { recovery: undefined, says: ending(seen, recovery) }
  const kept = decisions(outcome)?.find(({ whyKept }) => whyKept !== undefined)
  if (kept)
    return {
      recovery,
      says: saying(
        'True',
        'ClaimKept',
        `Pod ${recovery.pod} is made anew. Claim ${kept.claim} is kept: ${kept.whyKept}.`,
      ),
    }
  return { recovery }
}

const decisions = ({ answers }: Outcome<Action>): Decision[] | undefined =>
  answers ? ([...answers].find(([action]) => action.kind === 'Decide')?.[1] as Decision[] | undefined) : undefined

const listOf = ({ claims }: Recovery): string => Object.keys(claims).join(' and ')

const beginning = ({ recovery, why }: Extract<Choice, { kind: 'recreate' }>, again: string): Saying =>
  hasClaims(recovery)
    ? saying(
        'True',
        'RecreatingClaim',
        sentences(`Pod ${recovery.pod} is made anew with ${listOf(recovery)}: ${why}`, again),
      )
    : saying('True', 'RecreatingPod', sentences(`Pod ${recovery.pod} is made anew, its claims are kept: ${why}`, again))

/** A message of a node may end with a full stop. */
const sentences = (first: string, second: string): string => (second ? `${first.replace(/\.$/, '')}. ${second}` : first)

/** Reported once, because the node's message about the same trouble may change. */
function keeping(seen: Observed, { pod, claim, why, cause }: Extract<Choice, { kind: 'keep' }>): Pick<Next, 'says'> {
  const words = `Claim ${claim} of pod ${pod} is kept: ${why}. `
  const said = current(seen.set)
  return said?.reason === 'ClaimKept' && said.message?.startsWith(words)
    ? {}
    : { says: saying('False', 'ClaimKept', `${words}It is why the pod does not start: ${cause}`) }
}

function exhausted(
  seen: Observed,
  { pod, why, tries, limit }: Extract<Outlook, { kind: 'exhausted' }>,
): Pick<Next, 'says'> {
  const words = `Pods of the set were made anew ${tries} times without success; the limit is ${limit}. Pod ${pod} is left as it is`
  const said = current(seen.set)
  return said?.reason === 'LimitReached' && said.message?.startsWith(words)
    ? {}
    : { says: saying('False', 'LimitReached', `${words}: ${why}`) }
}

/** The end of a recovery that is no longer waited for. */
function ending(seen: Observed, recovery: Recovery): Saying {
  const { pod } = recovery
  const said = current(seen.set)
  const kept = said?.reason === 'ClaimKept' ? (said.message ?? '').replace(`Pod ${pod} is made anew. `, '') : undefined
  if (!seen.members.some((member) => member.pod.metadata.name === pod)) {
    const isMissed = isWanted(seen.set, ordinalOf(seen.set, pod) ?? -1)
    // This reason is permanent: it must still be true when the pod is back.
    const done = isMissed
      ? 'was deleted, to be made anew after the pods before it.'
      : 'was deleted and not made anew: the set did not want it any more.'
    return saying('False', 'PodDeleted', [`Pod ${pod} ${done}`, ...(kept ? [kept] : [])].join(' '))
  }
  if (kept !== undefined) return saying('False', 'ClaimKept', `Pod ${pod} was made anew. ${kept}`)
  const isThere = seen.members.some(({ claims }) =>
    claims.some(({ claim: { metadata } }) => recovery.claims[metadata.name!] === metadata.uid),
  )
  // The pod may have been deleted by a user, and the trouble may be over.
  return hasClaims(recovery) && !isThere
    ? saying('False', 'ClaimRecreated', `Pod ${pod} was made anew with ${listOf(recovery)}.`)
    : saying('False', 'PodRecreated', `Pod ${pod} was made anew, its claims were kept.`)
}

/** The set's status, with our condition. */
export function status(seen: Observed, outcome: Outcome<Action>): StatefulSetStatus {
  const { status: before } = seen.set
  const { says } = next(seen, outcome)
  if (says === undefined) return before
  const conditions =
    says === 'nothing'
      ? removeCondition(before.conditions, conditionType)
      : setTimedCondition(before.conditions, says, seen.nowMs)
  return { ...before, conditions }
}

/** The current recovery, written together with the status before any action. */
export function annotations(seen: Observed, outcome: Outcome<Action>): Record<string, string> {
  const { recovery, tries } = next(seen, outcome)
  const { [stateAnnotation]: state, [triesAnnotation]: counted } = seen.set.metadata.annotations ?? {}
  const text = stateText(recovery)
  const hasUnreadableState = seen.settings.kind !== 'off' && hasUnreadableRecovery(seen.set)
  const count = tries && (Object.keys(tries).length > 0 ? JSON.stringify(tries) : '')
  return {
    // A record that cannot be parsed is left for users to inspect.
    ...(text || (state && !hasUnreadableState) ? { [stateAnnotation]: text } : {}),
    ...(count || (count === '' && counted) ? { [triesAnnotation]: count } : {}),
  }
}

const warnings = new Set(['ClaimKept', 'InvalidAnnotation', 'LimitReached'])

/** Emits an event when the condition changes. */
export function announce(
  { event }: ApplyContext<StatefulSet>,
  before: StatefulSetStatus | undefined,
  after: StatefulSetStatus,
): void {
  const [old, now] = [before, after].map((of) => findCondition(of?.conditions, conditionType))
  if (!now?.reason || (old?.reason === now.reason && old.message === now.message)) return
  event(warnings.has(now.reason) ? 'Warning' : 'Normal', now.reason, now.message ?? '')
}
