import type { PolicyRule } from '../../../api/generated/types.ts'
import type { Series } from '../../../base/metrics.ts'
import type { UserInfo } from '../../objects/objects.ts'
import { type Attempt, type Authorizer, type Decision, type KnownRules, privilegedGroup } from '../authorize.ts'

/** Allows members of system:masters everything; runs before all other authorizers. */
export const privilegedAuthorizer: Authorizer = {
  authorize: ({ groups }) => (groups.includes(privilegedGroup) ? privileged : noOpinion),
  rulesFor: () => ({ rules: [] }),
}

const privileged: Decision = { allowed: true }
const noOpinion: Decision = { allowed: false }

/** Calls authorizers in order until one allows or denies. */
export class UnionAuthorizer implements Authorizer {
  readonly #authorizers: readonly Authorizer[]

  constructor(authorizers: readonly Authorizer[]) {
    this.#authorizers = authorizers
  }

  authorize(user: UserInfo, attempt: Attempt): Decision | Promise<Decision> {
    return this.#from(0, [], user, attempt)
  }

  #from(first: number, refusals: Decision[], user: UserInfo, attempt: Attempt): Decision | Promise<Decision> {
    for (let i = first; i < this.#authorizers.length; i++) {
      const asked = this.#authorizers[i]!.authorize(user, attempt)
      if (asked instanceof Promise)
        return asked.then((decision) =>
          isFinal(decision) ? decision : this.#from(i + 1, added(refusals, decision), user, attempt),
        )
      if (isFinal(asked)) return asked
      added(refusals, asked)
    }
    return refusals.length === 0 ? noOpinion : inOne(refusals)
  }

  rulesFor(user: UserInfo, namespace: string): KnownRules {
    const rules: PolicyRule[] = []
    const errors: string[] = []
    let incomplete = false
    for (const authorizer of this.#authorizers) {
      const known = authorizer.rulesFor?.(user, namespace) ?? {
        rules: [],
        incomplete: true,
        errors: ['webhook authorizer does not support user rule resolution'],
      }
      rules.push(...known.rules)
      errors.push(...(known.errors ?? []))
      incomplete ||= known.incomplete ?? false
    }
    return { rules, incomplete, errors }
  }
}

const isFinal = ({ allowed, denied }: Decision): boolean => allowed || denied === true

function added(refusals: Decision[], decision: Decision): Decision[] {
  if (decision.reason || decision.error) refusals.push(decision)
  return refusals
}

function inOne(refusals: readonly Decision[]): Decision {
  const reasons = refusals.flatMap(({ reason }) => (reason ? [reason] : []))
  const errors = refusals.flatMap(({ error }) => (error ? [error] : []))
  return {
    allowed: false,
    ...(reasons.length ? { reason: reasons.join('\n') } : {}),
    ...(errors.length ? { error: errors.join('\n') } : {}),
  }
}

/** Counters of decisions by result. */
interface DecisionCounts {
  allowed: Pick<Series, 'inc'>
  denied: Pick<Series, 'inc'>
  'no-opinion': Pick<Series, 'inc'>
}

/** Wraps an authorizer to count its decisions. */
export function counted(inner: Authorizer, counts: DecisionCounts): Authorizer {
  const count = (decision: Decision): Decision => {
    counts[decision.allowed ? 'allowed' : decision.denied ? 'denied' : 'no-opinion'].inc()
    return decision
  }
  return {
    authorize(user, attempt) {
      const asked = inner.authorize(user, attempt)
      return asked instanceof Promise ? asked.then(count) : count(asked)
    },
    ...(inner.rulesFor ? { rulesFor: (user: UserInfo, namespace: string) => inner.rulesFor!(user, namespace) } : {}),
  }
}
