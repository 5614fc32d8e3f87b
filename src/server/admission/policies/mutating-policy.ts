import {
  AdmissionEvaluation,
  type AdmissionExpression,
  type AdmissionVariable,
  OutOfBudget,
  type Value,
  admissionEnvironment,
  applyConfigurationType,
  compileAdmission,
  compileVariables,
  jsonPatchListType,
  mutationEnvironment,
  patchOperations,
  policyBudget,
  toJson,
  typeMismatch,
} from '../../../api/cel/index.ts'
import { type ApiError, internalError } from '../../../api/errors.ts'
import type { MutatingAdmissionPolicy, Namespace } from '../../../api/generated/types.ts'
import { atomicsIn, merge, problemsOf, problemsText } from '../../../api/managed-fields/index.ts'
import type { ObjectType } from '../../../api/object-type.ts'
import type { Json, KubeObject } from '../../../api/object.ts'
import { JsonPatchError, applyJsonPatch } from '../../../api/patches/json-patch.ts'
import { DecodeError } from '../../../api/schema/index.ts'
import { type Steps, endlessTurn } from '../../../base/turns.ts'
import type { Registered } from '../../registry/registry.ts'
import {
  type ExpressionInput,
  MatchConditions,
  type VersionedRequest,
  decided,
  pauseBetween,
} from '../dynamic/index.ts'

/** A mutation failed; the failure policy decides. */
export class MutationError extends Error {}

interface Mutation {
  type: string
  expression: AdmissionExpression
}

/** The compiled expressions of a MutatingAdmissionPolicy. */
export class MutatingPolicy {
  readonly #hasParams: boolean
  readonly #conditions: MatchConditions
  readonly #variables: readonly AdmissionVariable[]
  readonly mutations: readonly Mutation[]

  constructor({ spec }: MutatingAdmissionPolicy) {
    const hasParams = spec.paramKind !== undefined
    this.#hasParams = hasParams
    this.#conditions = new MatchConditions(spec.matchConditions, spec.failurePolicy, hasParams)
    const base = admissionEnvironment({ hasParams, hasAuthorizer: true }, mutationEnvironment)
    const { variables, environment } = compileVariables(spec.variables ?? [], base)
    this.#variables = variables
    this.mutations = (spec.mutations ?? []).map(({ patchType, applyConfiguration, jsonPatch }) => {
      const isPatch = patchType === 'JSONPatch'
      const text = (isPatch ? jsonPatch?.expression : applyConfiguration?.expression) ?? ''
      return {
        type: patchType,
        expression: compileAdmission(text, environment, [isPatch ? jsonPatchListType : applyConfigurationType]),
      }
    })
  }

  /** True if the match conditions hold. Throws a MutationError if evaluation fails. */
  *matches(
    input: ExpressionInput,
    as: Registered,
    params: KubeObject | null,
    namespace: Namespace | undefined,
  ): Steps<boolean> {
    if (this.#conditions.isEmpty) return true
    const variables = yield* this.#variablesOf(input, as, params, namespace)
    const { matches, error } = yield* this.#conditions.evaluate(variables)
    if (error !== undefined) throw new MutationError(error)
    return matches
  }

  /** Applies one mutation, which replaces the object of the input. */
  *mutate(
    { type, expression }: Mutation,
    input: ExpressionInput,
    as: Registered,
    params: KubeObject | null,
    namespace: Namespace | undefined,
  ): Steps<void> {
    const { versioned } = input
    const object = yield* decided(() => versioned.object(as))
    const objectType = versioned.isOwnKind ? as.type : versioned.request.origin!.type
    if (!object || !objectType) return
    if (expression.error !== undefined) throw new MutationError(expression.error)
    const variables = yield* this.#variablesOf(input, as, params, namespace)
    const pause = pauseBetween(versioned.request.turns ?? endlessTurn)
    const evaluation = new AdmissionEvaluation(variables, this.#variables, policyBudget, pause)
    const made = yield* this.#evaluate(expression, evaluation)
    const next = type === 'JSONPatch' ? patched(object, made, objectType) : applied(object, made, objectType)
    if (!next) return
    const whole = withDefaults(next, versioned, as)
    yield* decided(() => versioned.replace(whole, as))
  }

  #variablesOf(
    input: ExpressionInput,
    as: Registered,
    params: KubeObject | null,
    namespace: Namespace | undefined,
  ): Steps<Record<string, Value | undefined>> {
    const given = this.#hasParams ? params : undefined
    return decided(() => ({ ...input.of(as, given, namespace), ...input.authorizer() }))
  }

  *#evaluate(expression: AdmissionExpression, evaluation: AdmissionEvaluation): Steps<Value> {
    try {
      const { value, error } = yield* decided(() => evaluation.evaluate(expression))
      if (error !== undefined) throw new MutationError(error)
      return value
    } catch (e) {
      throw e instanceof OutOfBudget ? new MutationError(e.message) : e
    }
  }
}

/** Merges an apply configuration into an object as server-side apply does, without field ownership. */
function applied(object: KubeObject, made: Value, type: ObjectType): KubeObject {
  const mismatch = typeMismatch(made)
  if (mismatch) throw new MutationError(`type mismatch: ${mismatch}`)
  const configuration = { ...(toJson(made) as object), apiVersion: object.apiVersion, kind: object.kind }
  const failed = (why: string) => new MutationError(`error applying patch: ${why}`)
  const { mergeType } = type
  if (!mergeType) throw failed('type converter must not be nil')
  const problems = problemsOf(mergeType, configuration)
  if (problems.length) throw failed(`failed to convert patch object to typed object: ${problemsText(problems)}`)
  const atomics = atomicsIn(mergeType, configuration)
  if (atomics.length)
    throw failed(`invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}`)
  return decoded(merge(mergeType, object, configuration) as Json, object, type)
}

/** Applies a JSON patch; undefined if a `test` operation failed, which leaves the object unchanged. */
function patched(object: KubeObject, made: Value, type: ObjectType): KubeObject | undefined {
  const { operations, error } = patchOperations(made)
  if (error !== undefined) throw new MutationError(error)
  try {
    return decoded(applyJsonPatch(object as unknown as Json, operations as Json), object, type)
  } catch (e) {
    if (!(e instanceof JsonPatchError)) throw e
    if (e.isTest) return undefined
    throw new MutationError(`JSON Patch: ${e.detail}`)
  }
}

/** Decodes the result by its type. As in Kubernetes, unknown fields are an error regardless of the failure policy. */
function decoded(value: Json, { apiVersion, kind }: KubeObject, type: ObjectType): KubeObject {
  const refused = (why: string): ApiError => internalError(why)
  try {
    const { object, problems } = type.decode(value)
    if (problems.length) throw refused(`strict decoding error: ${problems.join(', ')}`)
    return { ...(object as unknown as KubeObject), apiVersion, kind }
  } catch (e) {
    throw e instanceof DecodeError ? refused(e.message) : e
  }
}

function withDefaults(object: KubeObject, versioned: VersionedRequest, as: Registered): KubeObject {
  if (versioned.isOwnKind) as.resource.defaults?.(object, versioned.request.origin!.rules)
  return object
}
