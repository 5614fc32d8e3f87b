import { ApiError, badRequest, internalError } from '../../../api/errors.ts'
import type { AdmissionReview } from '../../../api/generated/types.ts'
import { type Steps, endlessTurn, inTurns } from '../../../base/turns.ts'
import type { Registered } from '../../registry/registry.ts'
import { decodeAnswer } from '../../webhooks/answers.ts'
import { WebhookCallError } from '../../webhooks/client.ts'
import type { AdmissionRequest, PluginServer } from '../admission.ts'
import {
  type ConditionsResult,
  type ExpressionInput,
  type VersionedRequest,
  decided,
  namespaceOf,
  whenDecided,
} from '../dynamic/index.ts'
import { refusal } from '../refusal.ts'
import { type Verdict, denial, reviewOf, reviewVersion, verdictOf } from './admission-review.ts'
import type { WebhookHook } from './webhook-hooks.ts'
import type { WebhookMetrics } from './webhook-metrics.ts'

const defaultTimeoutSeconds = 10
const sideEffectsOnDryRun = ['None', 'NoneOnDryRun']

/** The call failed or its response was invalid: the failure policy decides. */
class CallingError extends Error {
  readonly code: number

  constructor(webhook: string, reason: string, code = 0) {
    super(`failed calling webhook ${JSON.stringify(webhook)}: ${reason}`)
    this.code = code
  }
}

/** The parts of a server that webhook calls need. */
export type Caller = Pick<PluginServer, 'webhooks' | 'random' | 'clock' | 'logger'> & {
  metrics: WebhookMetrics
  isMutating: boolean
}

/** True if a request meets a webhook's match conditions. Throws if evaluation fails and the failure policy is Fail. */
export function meetsConditions(
  { conditions }: WebhookHook,
  input: ExpressionInput,
  as: Registered,
): boolean | Promise<boolean> {
  const compiled = conditions()
  if (compiled.isEmpty) return true
  const { request } = input.versioned
  const judge = ({ matches, error }: ConditionsResult): boolean => {
    if (error !== undefined) throw refusal(request, error)
    return matches
  }
  function* evaluate(): Steps<ConditionsResult> {
    const variables = yield* decided(() => ({
      ...input.of(as, undefined, namespaceOf(request)),
      ...input.authorizer(),
    }))
    return yield* compiled.evaluate(variables)
  }
  const result = inTurns(request.turns ?? endlessTurn, evaluate())
  return result instanceof Promise ? result.then(judge) : judge(result)
}

async function ask(
  { webhook }: WebhookHook,
  versioned: VersionedRequest,
  as: Registered,
  caller: Caller,
): Promise<Verdict> {
  const { name, clientConfig, admissionReviewVersions, timeoutSeconds = defaultTimeoutSeconds } = webhook
  const version = reviewVersion(admissionReviewVersions)
  if (!version)
    throw new CallingError(
      name,
      'could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)',
    )
  const uid = caller.random.uuid()
  const [object, old] = await whenDecided(() => [versioned.reviewed(as), versioned.reviewedOld(as)] as const)
  const review = reviewOf(version, uid, versioned.attributes(as), object, old)
  let answer: AdmissionReview
  try {
    const options = { timeoutMs: timeoutSeconds * 1000, tellsTimeout: true, signal: versioned.request.signal?.() }
    answer = decodeAnswer('AdmissionReview', await caller.webhooks.call(clientConfig, review, options))
  } catch (e) {
    if (!(e instanceof WebhookCallError)) throw e
    throw new CallingError(name, `failed to call webhook: ${e.message}`, e.code || 503)
  }
  try {
    return verdictOf(answer, version, uid, caller.isMutating)
  } catch (e) {
    throw new CallingError(name, `received invalid webhook response: ${(e as Error).message}`, 503)
  }
}

/** Adds the warnings and audit annotations of a verdict. Throws if it denies the request. */
function heed({ webhook }: WebhookHook, { warnings, note }: AdmissionRequest, verdict: Verdict): Verdict {
  for (const [key, value] of Object.entries(verdict.auditAnnotations)) note?.(`${webhook.name}/${key}`, value)
  warnings.push(...verdict.warnings)
  if (!verdict.isAllowed) throw denial(webhook.name, verdict.result)
  return verdict
}

/**
 * Calls a webhook and passes its verdict to `use`. Resolves with undefined if the call failed and the failure policy is
 * Ignore. Rejects with an ApiError if the request is denied.
 */
export async function callWebhook<T>(
  hook: WebhookHook,
  versioned: VersionedRequest,
  as: Registered,
  caller: Caller,
  use: (verdict: Verdict, fail: (reason: string) => Error) => T,
): Promise<T | undefined> {
  const { webhook } = hook
  const { request } = versioned
  const { name, failurePolicy = 'Fail' } = webhook
  if (request.dryRun && !sideEffectsOnDryRun.includes(webhook.sideEffects)) {
    throw badRequest(`admission webhook ${JSON.stringify(name)} does not support dry run`)
  }
  const type = caller.isMutating ? 'admit' : 'validating'
  const startedMs = caller.clock.now()
  const count = (
    isRejected: boolean,
    code: number,
    errorType?: 'calling_webhook_error' | 'apiserver_internal_error' | 'no_error',
  ) => {
    const seconds = (caller.clock.now() - startedMs) / 1000
    caller.metrics.count({
      name,
      type,
      operation: request.operation,
      seconds,
      isRejected,
      code,
      ...(errorType ? { errorType } : {}),
    })
  }
  try {
    const verdict = heed(hook, request, await ask(hook, versioned, as, caller))
    const used = use(verdict, (reason) => new CallingError(name, reason, 503))
    count(false, 200)
    return used
  } catch (e) {
    if (!(e instanceof CallingError)) {
      const isInternal = !(e instanceof ApiError) || e.code === 500
      count(true, e instanceof ApiError ? e.code : 0, isInternal ? 'apiserver_internal_error' : 'no_error')
      throw e
    }
    // A client that has left cannot make a webhook fail open.
    if (failurePolicy !== 'Ignore' || request.signal?.().aborted) {
      count(true, e.code, 'calling_webhook_error')
      caller.logger.warn('failed calling webhook, failing closed', { webhook: name, error: e.message })
      throw internalError(e.message)
    }
    count(false, e.code)
    caller.metrics.failedOpen(name, type)
    caller.logger.warn('failed calling webhook, failing open', { webhook: name, error: e.message })
    return undefined
  }
}
