import { ApiError } from '../../../api/errors.ts'
import type { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '../../../api/generated/types.ts'
import { goJson } from '../../../api/json/index.ts'
import { type Steps, endlessTurn, inTurns } from '../../../base/turns.ts'
import type { Registered } from '../../registry/registry.ts'
import type { AdmissionPlugin, AdmissionRequest, PluginServer } from '../admission.ts'
import { ExpressionInput, type Found, VersionedRequest, decided, namespaceOf } from '../dynamic/index.ts'
import { refusal } from '../refusal.ts'
import { ConfigurationError, collectParams, isConfigured, paramTarget } from './params.ts'
import { type PolicyBinding, type PolicyHook, isReview, livePolicies } from './policy-hooks.ts'
import { PolicyMetrics } from './policy-metrics.ts'
import { type Decision, ValidatingPolicy, type Verdict } from './validating-policy.ts'

type Binding = PolicyBinding<ValidatingAdmissionPolicyBinding>
type Policy = PolicyHook<ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, ValidatingPolicy>

/** A decision with its policy and binding. A policy that cannot be evaluated at all has no binding. */
interface Made {
  policy: Policy
  binding?: Binding
  decision: Decision
  /** The index of the validation. An error without one is enforced regardless of the binding's actions. */
  index?: number
}

/** The results of all policies for one request, reported after the last evaluation. */
interface Judgement {
  made: Made[]
  /** Keyed by policy and key: the distinct values of all bindings. */
  annotations: Map<string, string[]>
}

const maxAnnotationLength = 10 * 1024
const codes = new Map([
  ['Forbidden', 403],
  ['Unauthorized', 401],
  ['RequestEntityTooLarge', 413],
])

function* judge(found: readonly Found<Policy>[], input: ExpressionInput): Steps<Judgement> {
  const judgement: Judgement = { made: [], annotations: new Map() }
  for (const { hook: policy, match } of found) {
    const misconfigured = (why: string, binding?: Binding) => {
      if (policy.object.spec.failurePolicy === 'Ignore') return
      const message = `failed to configure ${binding ? 'binding' : 'policy'}: ${why}`
      judgement.made.push({
        policy,
        ...(binding ? { binding } : {}),
        decision: { action: 'deny', message, errorType: 'invalid_error' },
      })
    }
    if (match.error) {
      misconfigured(match.error.message)
      continue
    }
    const { paramKind } = policy.object.spec
    const { registry } = input.versioned.request.origin!
    if (paramKind && !(yield* isConfigured(() => decided(() => paramTarget(paramKind, registry)), misconfigured)))
      continue
    for (const binding of policy.bindings) {
      yield* isConfigured(
        () => verdicts(policy, binding, match.as, input, (verdict) => add(judgement, policy, binding, verdict)),
        (why) => misconfigured(why, binding),
      )
    }
  }
  return judgement
}

/** Evaluates a policy for each parameter object of a binding. */
function* verdicts(
  policy: Policy,
  binding: Binding,
  as: Registered,
  input: ExpressionInput,
  take: (verdict: Verdict) => void,
): Steps<void> {
  const { request } = input.versioned
  const match = binding.matcher.match(request)
  if (!match) return
  if (match.error) throw new ConfigurationError(match.error.message)
  const { paramKind } = policy.object.spec
  const params = yield* decided(() => collectParams(paramKind, binding.object.spec.paramRef, request))
  const namespace = namespaceOf(request)
  const evaluator = policy.evaluator()
  for (const param of params) take(yield* evaluator.evaluate(input, as, param, namespace))
}

function add({ made, annotations }: Judgement, policy: Policy, binding: Binding, verdict: Verdict): void {
  for (const [index, decision] of verdict.decisions.entries()) made.push({ policy, binding, decision, index })
  for (const annotation of verdict.annotations) {
    if (annotation.error !== undefined) {
      // With the failure policy Fail, the request is rejected regardless of the binding's actions.
      made.push({
        policy,
        binding,
        decision: { action: 'deny', message: annotation.error, errorType: 'invalid_error' },
      })
      continue
    }
    const key = `${policy.name}/${annotation.key}`
    const value = annotation.value.slice(0, maxAnnotationLength)
    const values = annotations.get(key) ?? []
    if (!values.includes(value)) annotations.set(key, [...values, value])
  }
}

/** Warns, annotates and counts as the bindings specify, and rejects the request for the first enforced decision. */
function enforce(request: AdmissionRequest, { made, annotations }: Judgement, metrics: PolicyMetrics): void {
  for (const [key, values] of annotations) request.note?.(key, values.join(', '))
  const denied = made.filter((one) => isEnforced(request, one, metrics))
  if (denied.length) throw denial(request, denied[0]!)
}

/** Runs the actions of a binding; true if they include Deny. */
function isEnforced(
  request: AdmissionRequest,
  { policy, binding, decision, index }: Made,
  metrics: PolicyMetrics,
): boolean {
  const count = (action: string) => metrics.count(policy.name, binding?.name ?? '', decision.errorType, action)
  if (decision.action === 'admit') {
    if (decision.errorType !== 'no_error') count('allow')
    return false
  }
  if (!binding || index === undefined) return true
  const { validationActions: actions = [] } = binding.object.spec
  for (const action of actions) {
    count(action.toLowerCase())
    if (action === 'Warn')
      warn(
        request,
        `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${decision.message}`,
      )
    if (action === 'Audit') {
      const failure = {
        message: decision.message,
        policy: policy.name,
        binding: binding.name,
        expressionIndex: index,
        validationActions: actions,
      }
      request.note?.('validation.policy.admission.k8s.io/validation_failure', goJson([failure]))
    }
  }
  return actions.includes('Deny')
}

function warn({ warnings }: AdmissionRequest, text: string): void {
  if (!warnings.includes(text)) warnings.push(text)
}

function denial(request: AdmissionRequest, { policy, binding, decision }: Made): ApiError {
  const bound = binding ? ` with binding '${binding.name}'` : ''
  const why = `ValidatingAdmissionPolicy '${policy.name}'${bound} denied request: ${decision.message}`
  const { message, details } = refusal(request, why)
  const reason = decision.reason ?? 'Invalid'
  return new ApiError(codes.get(reason) ?? 422, reason as ApiError['reason'], message, {
    ...details,
    causes: [{ message: why }],
  })
}

/** Enforces ValidatingAdmissionPolicies that have a binding. */
export const validatingAdmissionPolicy: AdmissionPlugin = {
  name: 'ValidatingAdmissionPolicy',
  forServer({ objects, metrics }: PluginServer): AdmissionPlugin {
    const plurals = { policies: 'validatingadmissionpolicies', bindings: 'validatingadmissionpolicybindings' }
    const live = livePolicies<ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, ValidatingPolicy>(
      objects,
      plurals,
      (policy) => new ValidatingPolicy(policy),
    )
    const counted = new PolicyMetrics(metrics, 'validating')
    return {
      name: 'ValidatingAdmissionPolicy',
      handlesConnect: true,
      judgesOnce: true,
      validate(request) {
        const found = live.current.find(request)
        if (found.length === 0 || isReview(request)) return undefined
        const input = new ExpressionInput(new VersionedRequest(request))
        const judgement = inTurns(request.turns ?? endlessTurn, judge(found, input))
        if (judgement instanceof Promise) return judgement.then((judged) => enforce(request, judged, counted))
        return enforce(request, judgement, counted)
      },
    }
  },
}
