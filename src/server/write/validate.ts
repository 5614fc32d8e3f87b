import { ApiError, invalidObject } from '../../api/errors.ts'
import { ErrorLimit, type FieldError } from '../../api/validation/field-error.ts'
import { validateObjectMeta, validateObjectMetaUpdate } from '../../api/validation/object-meta.ts'
import { Path } from '../../api/validation/path.ts'
import { type Steps, inTurns } from '../../base/turns.ts'
import type { Registered } from '../registry/registry.ts'
import { groupKind } from './names.ts'
import type { Write } from './write.ts'

export function throwIfInvalid(target: Registered, name: string, errors: readonly FieldError[]): void {
  if (errors.length) throw invalidObject(groupKind(target), name, errors)
}

/** Validation stops at this number of errors. The response lists a tenth of them. */
const mostErrors = 10_000

/** Validates the object and collects warnings. Asynchronous only if the rules of a user take long. */
export function validate(write: Write): Promise<void> | void {
  const { change, operation, object, old } = write
  if (operation === 'DELETE' || !object || change.rules.isServersOwn) return undefined
  const limit = new ErrorLimit(mostErrors)
  const errors = judged(() => limit.run(() => (operation === 'CREATE' ? creationErrors(write) : updateErrors(write))))
  if (!errors) return finish(write, limit.found)
  const { validateInSteps } = operation === 'CREATE' ? write.request.target.resource : change.rules
  const steps = validateInSteps?.(object, old, errors)
  if (!steps) return finish(write, errors)
  const all = inTurns(write.request.turns, limited(limit, errors, steps))
  return all instanceof Promise ? all.then((found) => finish(write, found)) : finish(write, all)
}

/** Validates in steps, after a validation that has found `errors`. */
function* limited(
  limit: ErrorLimit,
  errors: readonly FieldError[],
  steps: Generator<void, FieldError[]>,
): Steps<readonly FieldError[]> {
  for (;;) {
    const step = judged(() => limit.run(() => steps.next()))
    if (!step) return limit.found
    if (step.done) return [...errors, ...step.value]
    yield
  }
}

function finish(write: Write, errors: readonly FieldError[]): void {
  const { request, object } = write
  throwIfInvalid(request.target, object!.metadata.name ?? '', errors)
  for (const warning of judged(() => warningsOf(write))) request.warnings.push(warning)
}

/**
 * More than about a hundred thousand errors exceed the argument limit of a call. The request is rejected without
 * details.
 */
function judged<T>(judge: () => T): T {
  try {
    return judge()
  } catch (e) {
    if (!(e instanceof RangeError)) throw e
    throw new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {})
  }
}

function creationErrors({ request, object }: Write): FieldError[] {
  const { resource } = request.target
  return [
    ...validateObjectMeta(object!.metadata, resource.namespaced, resource.nameRule, Path.of('metadata'), resource),
    ...resource.validate(object!, request.rules),
  ]
}

function updateErrors({ request, change, object, old }: Write): FieldError[] {
  const { resource } = request.target
  const metaErrors = validateObjectMetaUpdate(object!.metadata, old!.metadata, Path.of('metadata'), resource)
  // Kubernetes validates the metadata twice on update, so clients see each of these causes twice.
  return [...metaErrors, ...metaErrors, ...change.rules.validate(object!, old!, request.rules)]
}

function warningsOf({ request, change, operation, object, old }: Write): readonly string[] {
  if (operation === 'CREATE') return request.target.resource.warnings?.(object!, undefined, request.rules) ?? []
  return change.rules.warnings?.(object!, old!, request.rules) ?? []
}
