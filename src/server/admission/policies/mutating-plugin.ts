import { deepEqual } from '../../../api/deep-equal.ts'
import { ApiError } from '../../../api/errors.ts'
import type { MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding } from '../../../api/generated/types.ts'
import { cloneObject } from '../../../api/json/index.ts'
import type { KubeObject } from '../../../api/object.ts'
import { type Steps, endlessTurn, inTurns } from '../../../base/turns.ts'
import type { Registered } from '../../registry/registry.ts'
import { type AdmissionPlugin, type AdmissionRequest, type PluginServer, Reinvocation } from '../admission.ts'
import { ExpressionInput, type Found, VersionedRequest, decided, namespaceOf } from '../dynamic/index.ts'
import { refusal } from '../refusal.ts'
import { MutatingPolicy, MutationError } from './mutating-policy.ts'
import { ConfigurationError, collectParams, isConfigured, paramTarget } from './params.ts'
import { type PolicyBinding, type PolicyHook, isReview, livePolicies } from './policy-hooks.ts'
import { PolicyMetrics } from './policy-metrics.ts'

type Binding = PolicyBinding<MutatingAdmissionPolicyBinding>
type Policy = PolicyHook<MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, MutatingPolicy>

const pluginName = 'MutatingAdmissionPolicy'

/** One evaluation of a policy: for a binding and one parameter object. */
interface Invocation {
  policy: Policy
  binding: Binding
  as: Registered
  params: KubeObject | null
}

interface Failure {
  message: string
  reason?: 'Invalid'
}

/** State of the first round that the second round needs. */
interface Round {
  /** Invocations with `reinvocationPolicy: IfNeeded` since the object was last changed. */
  reinvocable: Set<string>
  /** Reinvocable invocations after which the object was changed. */
  due: Set<string>
  /** The object at the end of the first round. */
  left: KubeObject | undefined
}

const keyOf = ({ policy, binding, params }: Invocation): string =>
  JSON.stringify([policy.name, binding.name, params?.metadata.namespace, params?.metadata.name])

/** One pass over all policies on a draft. The request is changed only at the end. */
class Pass {
  readonly failures: Failure[] = []
  readonly counted: [Invocation, string][] = []
  readonly #input: ExpressionInput
  readonly #isSecond: boolean
  readonly round: Round
  hasChanged = false

  constructor(input: ExpressionInput, before: Round | undefined, isSecond: boolean) {
    this.#input = input
    this.#isSecond = isSecond
    this.round = { reinvocable: new Set(before?.reinvocable), due: new Set(before?.due), left: before?.left }
    // Other plugins changed the object after the first round.
    if (isSecond && !deepEqual(before?.left, input.versioned.request.object)) this.#changed()
  }

  #changed(): void {
    for (const key of this.round.reinvocable) this.round.due.add(key)
    this.round.reinvocable.clear()
  }

  /** Runs all policies. Each expression is a step. */
  *run(found: readonly Found<Policy>[]): Steps<void> {
    const invocations: Invocation[] = []
    for (const { hook: policy, match } of found) {
      if (match.error) this.#misconfigured(policy, match.error.message)
      else invocations.push(...(yield* this.#invocations(policy, match.as)))
    }
    for (const invocation of invocations) yield* this.#invoke(invocation)
    // As in Kubernetes, the last policy that changed the object is invoked again too.
    if (this.hasChanged) this.#changed()
  }

  #misconfigured(policy: Policy, why: string, binding?: Binding): void {
    this.#fail(policy, binding, `failed to configure ${binding ? 'binding' : 'policy'}: ${why}`)
  }

  #fail({ name, object }: Policy, binding: Binding | undefined, why: string, reason?: 'Invalid'): void {
    if (object.spec.failurePolicy === 'Ignore') return
    const who = binding ? `policy '${name}' with binding '${binding.name}'` : `policy ${JSON.stringify(name)}`
    this.failures.push({ message: `${who} denied request: ${why}`, ...(reason ? { reason } : {}) })
  }

  *#invocations(policy: Policy, as: Registered): Steps<Invocation[]> {
    const { request } = this.#input.versioned
    const { paramKind } = policy.object.spec
    const misconfigured = (why: string, binding?: Binding) => this.#misconfigured(policy, why, binding)
    const { registry } = request.origin!
    if (paramKind && !(yield* isConfigured(() => decided(() => paramTarget(paramKind, registry)), misconfigured)))
      return []
    const invocations: Invocation[] = []
    for (const binding of policy.bindings) {
      const match = binding.matcher.match(request)
      if (!match) continue
      function* collect(): Steps<void> {
        if (match!.error) throw new ConfigurationError(match!.error.message)
        const found = yield* decided(() => collectParams(paramKind, binding.object.spec.paramRef, request))
        for (const params of found) invocations.push({ policy, binding, as, params })
      }
      yield* isConfigured(collect, (why) => misconfigured(why, binding))
    }
    return invocations
  }

  *#invoke(invocation: Invocation): Steps<void> {
    const { policy, as, params } = invocation
    const input = this.#input
    const namespace = namespaceOf(input.versioned.request)
    const evaluator = policy.evaluator()
    const isMatch = yield* this.#tried(invocation, evaluator.matches(input, as, params, namespace))
    if (!isMatch?.result) return
    const key = keyOf(invocation)
    if (this.#isSecond && !this.round.due.has(key)) return
    const before = yield* decided(() => input.versioned.object(as))
    for (const mutation of evaluator.mutations) {
      const made = yield* this.#tried(invocation, evaluator.mutate(mutation, input, as, params, namespace))
      this.counted.push([invocation, made ? 'no_error' : 'invalid_error'])
    }
    if (before && !deepEqual(before, yield* decided(() => input.versioned.object(as)))) {
      this.hasChanged = true
      this.#changed()
    }
    if (policy.object.spec.reinvocationPolicy === 'IfNeeded') this.round.reinvocable.add(key)
  }

  /** Runs a part of an invocation; undefined if it failed. */
  *#tried<T>({ policy, binding }: Invocation, part: Steps<T>): Steps<{ result: T } | undefined> {
    try {
      return { result: yield* part }
    } catch (e) {
      if (!(e instanceof MutationError)) throw e
      this.#fail(policy, binding, e.message, 'Invalid')
      return undefined
    }
  }
}

/** Applies the result of a pass to the request, or rejects the request. */
function settle(
  request: AdmissionRequest,
  pass: Pass,
  draft: ExpressionInput,
  reinvocation: Reinvocation,
  metrics: PolicyMetrics,
): void {
  for (const [{ policy, binding }, errorType] of pass.counted) metrics.count(policy.name, binding.name, errorType)
  if (pass.failures.length) throw denial(request, pass.failures)
  if (pass.hasChanged) {
    request.object = draft.versioned.request.object
    reinvocation.isWanted = true
  }
  pass.round.left = request.object && cloneObject(request.object)
  reinvocation.state.set(pluginName, pass.round)
}

function denial(request: AdmissionRequest, failures: readonly Failure[]): ApiError {
  const [{ message, reason = 'Forbidden' }] = failures as [Failure]
  const { code, details } = refusal(request, message)
  return new ApiError(code, reason, message, {
    ...details,
    causes: failures.map((failure) => ({ message: failure.message })),
  })
}

/** Applies MutatingAdmissionPolicies that have a binding. */
export const mutatingAdmissionPolicy: AdmissionPlugin = {
  name: pluginName,
  forServer({ objects, metrics }: PluginServer): AdmissionPlugin {
    const plurals = { policies: 'mutatingadmissionpolicies', bindings: 'mutatingadmissionpolicybindings' }
    const live = livePolicies<MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, MutatingPolicy>(
      objects,
      plurals,
      (policy) => new MutatingPolicy(policy),
    )
    const counted = new PolicyMetrics(metrics, 'mutating')
    return {
      name: pluginName,
      admit(request) {
        const found = live.current.find(request)
        if (found.length === 0 || isReview(request)) return undefined
        const reinvocation = (request.reinvocation ??= new Reinvocation())
        const input = new ExpressionInput(new VersionedRequest(request))
        const draft = input.draft()
        const pass = new Pass(draft, reinvocation.state.get(pluginName) as Round | undefined, reinvocation.isUnderWay)
        const running = inTurns(request.turns ?? endlessTurn, pass.run(found))
        if (running) return running.then(() => settle(request, pass, draft, reinvocation, counted))
        return settle(request, pass, draft, reinvocation, counted)
      },
    }
  },
}
