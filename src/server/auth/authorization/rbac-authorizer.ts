import type { UserInfo } from '../../objects/objects.ts'
import {
  type Attempt,
  type Authorizer,
  type Decision,
  type KnownRules,
  isPathAttempt,
  namespaceOf,
} from '../authorize.ts'
import type { BoundBy, RbacIndex } from './rbac-index.ts'
import { lookupOf } from './rule-table.ts'

/** The `RBAC` authorizer: allows what is granted by roles bound to the user or to its groups. It never denies. */
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

/** Formats errors as Go's aggregate error does. */
const joined = (errors: readonly string[]): string => (errors.length === 1 ? errors[0]! : `[${errors.join(', ')}]`)

/** An allowing decision that formats its reason only when it is read. */
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
