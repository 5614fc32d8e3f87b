import { ApiError, invalidObject } from '../../api/errors.ts'
import { type FieldError, withMostErrors } from '../../api/validation/field-error.ts'
import { validateObjectMeta, validateObjectMetaUpdate } from '../../api/validation/object-meta.ts'
import { Path } from '../../api/validation/path.ts'
import type { Registered } from '../registry/registry.ts'
import { groupKind } from './names.ts'
import type { Write } from './write.ts'

export function throwIfInvalid(target: Registered, name: string, errors: readonly FieldError[]): void {
  if (errors.length) throw invalidObject(groupKind(target), name, errors)
}

/** Validation stops at this number of errors. The response lists a tenth of them. */
const mostErrors = 10_000

/** Validates the object and collects warnings. */
export function validate(write: Write): void {
  const { request, object } = write
  if (write.operation === 'DELETE' || !object || write.change.rules.isServersOwn) return
  throwIfInvalid(
    request.target,
    object.metadata.name ?? '',
    judged(() =>
      withMostErrors(mostErrors, () => (write.operation === 'CREATE' ? creationErrors(write) : updateErrors(write))),
    ),
  )
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
    ...validateObjectMeta(object!.metadata, resource.namespaced, resource.nameRule, Path.of('metadata')),
    ...resource.validate(object!, request.rules),
  ]
}

function updateErrors({ request, change, object, old }: Write): FieldError[] {
  const metaErrors = validateObjectMetaUpdate(object!.metadata, old!.metadata, Path.of('metadata'))
  // Kubernetes validates the metadata twice on update, so clients see each of these causes twice.
  return [...metaErrors, ...metaErrors, ...change.rules.validate(object!, old!, request.rules)]
}

function warningsOf({ request, change, operation, object, old }: Write): readonly string[] {
  if (operation === 'CREATE') return request.target.resource.warnings?.(object!, undefined, request.rules) ?? []
  return change.rules.warnings?.(object!, old!, request.rules) ?? []
}
