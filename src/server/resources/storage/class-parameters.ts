import { type FieldError, invalid, required, tooLong } from '../../../api/validation/field-error.ts'
import { byteLength, isQualifiedName } from '../../../api/validation/names.ts'
import type { Path } from '../../../api/validation/path.ts'

const maxParameters = 512
const maxParametersSize = 256 * 1024

/** Validates the name of a provisioner or driver, ignoring case. */
export function validateProvisioner(provisioner: string | undefined, path: Path): FieldError[] {
  if (!provisioner) return [required(path)]
  const name = provisioner.toLowerCase()
  return isQualifiedName(name).map((problem) => invalid(path, name, problem))
}

/** Validates the parameters of a class: number, total size, and non-empty keys. */
export function validateParameters(
  parameters: Record<string, string> | undefined,
  path: Path,
  allowEmpty: boolean,
): FieldError[] {
  const entries = Object.entries(parameters ?? {})
  const errors: FieldError[] = []
  if (!allowEmpty && entries.length === 0) errors.push(required(path, 'must contain at least one key/value pair'))
  if (entries.length > maxParameters) return [...errors, tooLong(path, maxParameters)]
  let size = 0
  for (const [key, value] of entries) {
    if (key === '') errors.push(invalid(path, key, 'field can not be empty.'))
    size += byteLength(key) + byteLength(value)
  }
  if (size > maxParametersSize) errors.push(tooLong(path, maxParametersSize))
  return errors
}
