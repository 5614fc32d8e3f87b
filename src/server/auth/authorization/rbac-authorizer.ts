import type { UserInfo } from '../../objects/objects.ts'
import { type Attempt, type Authorizer, type Decision, type KnownRules, isPathAttempt, namespaceOf } from '../authorize.ts'
import type { BoundBy, RbacIndex } from './rbac-index.ts'
import { lookupOf } from './rule-table.ts'

/** `RBAC`: allows what the roles allow that are bound to the user or to one of the user's groups. It never denies. */
export class RbacAuthorizer implements Authorizer {
  readonly #index: RbacIndex

  constructor(index: RbacIndex) {
    this.#index = index
  }

  authorize(user: UserInfo, attempt: Attempt): Decision {
    const namespace = isPathAttempt(attempt) ? '' : namespaceOf(attempt)
    const grant = this.#index.find(user, namespace, lookupOf(attempt))
    if (grant) return new Allowed(grant.by)
    const errors = this.#index.errorsOf(user, namespace)
    return errors.length === 0 ? noOpinion : { allowed: false, reason: `RBAC: ${joined(errors)}` }
  }

  rulesFor(user: UserInfo, namespace: string): KnownRules {
    return { rules: this.#index.rulesOf(user, namespace), errors: this.#index.errorsOf(user, namespace) }
  }
}

const noOpinion: Decision = { allowed: false }

/** A list of errors as Go's aggregate prints it. */
const joined = (errors: readonly string[]): string => (errors.length === 1 ? errors[0]! : `[${errors.join(', ')}]`)

/** A decision whose reason is put into words only for whoever asks for it. */
class Allowed implements Decision {
  readonly allowed = true
  readonly #by: BoundBy

  constructor(by: BoundBy) {
    this.#by = by
  }

  get reason(): string {
    const { kind, namespace, name, roleKind, roleName, subject } = this.#by
    const binding = JSON.stringify(namespace ? `${name}/${namespace}` : name)
    return `RBAC: allowed by ${kind} ${binding} of ${roleKind} ${JSON.stringify(roleName)} to ${subject}`
  }
}
