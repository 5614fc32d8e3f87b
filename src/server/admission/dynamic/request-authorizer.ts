import type { AuthorizationAnswer, AuthorizationQuestion } from '../../../api/cel/index.ts'
import type { Attempt, Decision } from '../../auth/authorize.ts'
import { fieldRequirements, labelRequirements } from '../../auth/authorization/selectors.ts'
import type { UserInfo } from '../../objects/objects.ts'
import type { AdmissionRequest } from '../admission.ts'
import { PendingAnswer } from './pending.ts'

function attemptOf({
  verb,
  path,
  group = '',
  resource = '',
  subresource = '',
  namespace = '',
  name = '',
  ...selectors
}: AuthorizationQuestion): Attempt {
  if (path !== undefined) return { verb, url: path }
  const { fieldSelector, labelSelector } = selectors
  const said = {
    ...(fieldSelector ? { fields: fieldRequirements(fieldSelector) } : {}),
    ...(labelSelector ? { labels: labelRequirements(labelSelector) } : {}),
  }
  return { verb, path: { group, version: '*', namespace, plural: resource, subresource, name }, selectors: said }
}

const accountUser = ({ namespace, name }: { namespace: string; name: string }): UserInfo => ({
  name: `system:serviceaccount:${namespace}:${name}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
})

const answerOf = ({ allowed, reason, error }: Decision): AuthorizationAnswer => ({
  isAllowed: allowed,
  ...(reason ? { reason } : {}),
  ...(error ? { error } : {}),
})

/** The CEL authorizer of one request. Each check is made once, however many expressions use it. */
export class RequestAuthorizer {
  readonly #request: AdmissionRequest
  readonly #answers = new Map<string, AuthorizationAnswer>()

  constructor(request: AdmissionRequest) {
    this.#request = request
  }

  readonly authorize = (question: AuthorizationQuestion): AuthorizationAnswer => {
    const key = JSON.stringify(question)
    const known = this.#answers.get(key)
    if (known) return known
    const { user, origin } = this.#request
    const who = question.serviceAccount ? accountUser(question.serviceAccount) : user
    const keep = (answer: AuthorizationAnswer) => {
      this.#answers.set(key, answer)
      return answer
    }
    const asked = origin!.authorizer.authorize(who, attemptOf(question))
    if (!(asked instanceof Promise)) return keep(answerOf(asked))
    const failed = (e: unknown) => keep({ isAllowed: false, error: e instanceof Error ? e.message : String(e) })
    throw new PendingAnswer(asked.then((decision) => keep(answerOf(decision)), failed))
  }
}
