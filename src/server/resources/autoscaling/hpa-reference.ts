import type { V2CrossVersionObjectReference } from '../../../api/generated/types.ts'
import { type FieldError, invalid, required } from '../../../api/validation/field-error.ts'
import { isPathSegment } from '../../../api/validation/names.ts'
import type { Path } from '../../../api/validation/path.ts'

/** Judges the kind and the name of an object that is referred to. */
export function validateReference(target: V2CrossVersionObjectReference | undefined, path: Path): FieldError[] {
  return (['kind', 'name'] as const).flatMap((field) => {
    const value = target?.[field] ?? ''
    if (value === '') return [required(path.child(field))]
    return isPathSegment(value, false).map((problem) => invalid(path.child(field), value, problem))
  })
}

/** What is wrong with `group/version`. */
export function apiVersionProblem(apiVersion: string, needsGroup: boolean): string | undefined {
  const parts = apiVersion.split('/')
  if (parts.length > 2) return `unexpected GroupVersion string: ${apiVersion}`
  const group = parts.length === 2 ? parts[0] : ''
  return needsGroup && group === '' ? 'apiVersion must specify API group' : undefined
}
