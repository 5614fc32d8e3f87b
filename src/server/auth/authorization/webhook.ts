import type { SubjectAccessReview } from '../../../api/generated/types.ts'
import { isFields } from '../../../api/object.ts'
import type { Clock } from '../../../base/clock.ts'
import type { UserInfo } from '../../objects/objects.ts'
import { decodeAnswer } from '../../webhooks/answers.ts'
import { type Attempt, type Authorizer, type Decision, isPathAttempt, nameOf, namespaceOf } from '../authorize.ts'
import { type AttemptSelectors, selectorsOf } from './selectors.ts'

export interface WebhookSettings {
  /** The name in errors and metrics. */
  name: string
  authorizedTtlMs: number
  unauthorizedTtlMs: number
  timeoutMs: number
  /** The decision if the webhook is unreachable or its response is invalid. */
  onFailure: 'NoOpinion' | 'Deny'
  /** Posts a SubjectAccessReview and resolves with the returned one. */
  post(review: object, signal: AbortSignal): Promise<unknown>
  /** True if the webhook is called for a review. Default: every review. */
  matches?: ((review: { spec: object }) => boolean) | undefined
}

/** The cache size of Kubernetes. */
const mostKnown = 8192
/** Requests with a longer key are not cached. */
const longestKey = 10_000

/** The `Webhook` authorizer: sends SubjectAccessReviews and caches the responses. */
export class WebhookAuthorizer implements Authorizer {
  readonly #settings: WebhookSettings
  readonly #clock: Clock
  readonly #known = new Map<string, { until: number; decision: Decision }>()

  constructor(settings: WebhookSettings, clock: Clock) {
    this.#settings = settings
    this.#clock = clock
  }

  authorize(user: UserInfo, attempt: Attempt): Decision | Promise<Decision> {
    const review = reviewOf(user, attempt)
    const { matches } = this.#settings
    try {
      if (matches && !matches(review)) return { allowed: false }
    } catch (e) {
      return this.#failed(e)
    }
    const key = JSON.stringify(review.spec)
    const known = this.#known.get(key)
    if (known && known.until > this.#clock.now()) return known.decision
    return this.#ask(review, key)
  }

  async #ask(review: object, key: string): Promise<Decision> {
    const { post, timeoutMs, authorizedTtlMs, unauthorizedTtlMs } = this.#settings
    const abort = new AbortController()
    const cancel = this.#clock.after(timeoutMs, () => abort.abort(new Error(`no answer within ${timeoutMs / 1000} s`)))
    try {
      const decision = decisionOf(await post(review, abort.signal))
      this.#remember(key, decision, decision.allowed ? authorizedTtlMs : unauthorizedTtlMs)
      return decision
    } catch (e) {
      return this.#failed(e)
    } finally {
      cancel()
    }
  }

  #failed(e: unknown): Decision {
    const error = `webhook ${JSON.stringify(this.#settings.name)}: ${e instanceof Error ? e.message : String(e)}`
    return { allowed: false, error, ...(this.#settings.onFailure === 'Deny' ? { denied: true } : {}) }
  }

  #remember(key: string, decision: Decision, ttlMs: number): void {
    if (ttlMs <= 0 || key.length > longestKey) return
    this.#known.delete(key)
    if (this.#known.size >= mostKnown) this.#known.delete(this.#known.keys().next().value!)
    this.#known.set(key, { until: this.#clock.now() + ttlMs, decision })
  }
}

/** The SubjectAccessReview of an attempt, for webhooks and match conditions. */
export function reviewOf({ name, uid, groups, extra }: UserInfo, attempt: Attempt) {
  const who = { user: name, groups: [...groups], ...(uid ? { uid } : {}), ...(extra ? { extra } : {}) }
  const what = isPathAttempt(attempt)
    ? { nonResourceAttributes: { path: attempt.url, verb: attempt.verb } }
    : { resourceAttributes: resourceAttributes(attempt) }
  return { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', metadata: {}, spec: { ...what, ...who } }
}

function resourceAttributes(attempt: Exclude<Attempt, { url: string }>) {
  const { group, version, plural, subresource } = attempt.path
  const said = {
    namespace: namespaceOf(attempt),
    verb: attempt.verb,
    group,
    version,
    resource: plural,
    subresource,
    name: nameOf(attempt),
  }
  return {
    ...Object.fromEntries(Object.entries(said).filter(([, text]) => text !== '')),
    ...selectorFields(selectorsOf(attempt)),
  }
}

const selectorFields = ({ fields, labels }: AttemptSelectors) => ({
  ...(fields?.length ? { fieldSelector: { requirements: fields } } : {}),
  ...(labels?.length ? { labelSelector: { requirements: labels } } : {}),
})

function decisionOf(answer: unknown): Decision {
  if (!isFields(answer) || !isFields(answer.status)) throw new Error('the answer has no status')
  const { status } = decodeAnswer<SubjectAccessReview>('SubjectAccessReview', answer)
  const { allowed, denied, reason, evaluationError: error } = status
  if (allowed && denied) throw new Error('webhook subject access review returned both allow and deny response')
  return {
    allowed: allowed === true,
    ...(denied ? { denied: true } : {}),
    ...(reason ? { reason } : {}),
    ...(error ? { error } : {}),
  }
}
