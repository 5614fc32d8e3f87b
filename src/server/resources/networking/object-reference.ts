import { type FieldError, invalid, required } from '../../../api/validation/field-error.ts'
import { isDns1123Subdomain, isPathSegment } from '../../../api/validation/names.ts'
import type { Path } from '../../../api/validation/path.ts'

/** A reference to an object of any kind by group, kind and name. */
export function validateTypedReference(ref: { apiGroup?: string | null; kind?: string; name?: string }, path: Path): FieldError[] {
  const errors: FieldError[] = []
  const { apiGroup } = ref
  if (apiGroup !== undefined && apiGroup !== null) errors.push(...isDns1123Subdomain(apiGroup).map((p) => invalid(path.child('apiGroup'), apiGroup, p)))
  for (const field of ['kind', 'name'] as const) {
    const value = ref[field]
    if (!value) errors.push(required(path.child(field)))
    else errors.push(...isPathSegment(value, false).map((p) => invalid(path.child(field), value, p)))
  }
  return errors
}
