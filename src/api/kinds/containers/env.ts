import type {
  ConfigMapKeySelector,
  EnvFromSource,
  EnvVar,
  EnvVarSource,
  FileKeySelector,
  SecretKeySelector,
} from '../../generated/types.ts'
import { type FieldError, invalid, required } from '../../validation/field-error.ts'
import { isConfigMapKey, isDns1123Label, isDns1123Subdomain } from '../../validation/names.ts'
import type { Path } from '../../validation/path.ts'
import { envFields, validateFieldRef, validateResourceFieldRef } from './downward-api.ts'
import { validateUserFilePath } from './file-paths.ts'

const printableButEquals = /^[ -<>-~]+$/
const relaxedNameMessage =
  "a valid environment variable name must consist only of printable ASCII characters other than '='"

function validateVariableName(name: string, path: () => Path, errors: FieldError[]): void {
  if (!printableButEquals.test(name)) errors.push(invalid(path(), name, relaxedNameMessage))
}

function validateKeySelector(
  selector: ConfigMapKeySelector | SecretKeySelector,
  path: Path,
  errors: FieldError[],
): void {
  for (const problem of isDns1123Subdomain(selector.name ?? '')) {
    errors.push(invalid(path.child('name'), selector.name ?? '', problem))
  }
  if (!selector.key) errors.push(required(path.child('key')))
  else
    for (const problem of isConfigMapKey(selector.key)) errors.push(invalid(path.child('key'), selector.key, problem))
}

function validateFileKey(selector: FileKeySelector, path: Path, errors: FieldError[]): void {
  if (!selector.volumeName) errors.push(required(path.child('volumeName')))
  else {
    for (const problem of isDns1123Label(selector.volumeName)) {
      errors.push(invalid(path.child('volumeName'), selector.volumeName, problem))
    }
  }
  if (!selector.path) errors.push(required(path.child('path')))
  else validateUserFilePath(selector.path, path.child('path'), errors)
  if (!selector.key) errors.push(required(path.child('key')))
  else validateVariableName(selector.key, () => path.child('key'), errors)
}

function validateValueFrom(source: EnvVarSource, value: string | undefined, path: Path, errors: FieldError[]): void {
  let sources = 0
  if (source.fieldRef) {
    sources++
    validateFieldRef(source.fieldRef, envFields, path.child('fieldRef'), errors)
  }
  if (source.resourceFieldRef) {
    sources++
    validateResourceFieldRef(source.resourceFieldRef, false, path.child('resourceFieldRef'), errors)
  }
  if (source.configMapKeyRef) {
    sources++
    validateKeySelector(source.configMapKeyRef, path.child('configMapKeyRef'), errors)
  }
  if (source.secretKeyRef) {
    sources++
    validateKeySelector(source.secretKeyRef, path.child('secretKeyRef'), errors)
  }
  if (source.fileKeyRef) {
    sources++
    validateFileKey(source.fileKeyRef, path.child('fileKeyRef'), errors)
  }
  if (sources === 0) {
    errors.push(
      invalid(
        path,
        '',
        'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
      ),
    )
  } else if (value) {
    errors.push(invalid(path, '', 'may not be specified when `value` is not empty'))
  } else if (sources > 1) {
    errors.push(invalid(path, '', 'may not have more than one field specified at a time'))
  }
}

/** Validates a container's environment variables. */
export function validateEnv(vars: readonly EnvVar[], path: Path, errors: FieldError[]): void {
  for (let i = 0; i < vars.length; i++) {
    const variable = vars[i]!
    if (!variable.name) errors.push(required(path.index(i).child('name')))
    else validateVariableName(variable.name, () => path.index(i).child('name'), errors)
    if (variable.valueFrom)
      validateValueFrom(variable.valueFrom, variable.value, path.index(i).child('valueFrom'), errors)
  }
}

/** Validates the `envFrom` sources of a container. */
export function validateEnvFrom(sources: readonly EnvFromSource[], path: Path, errors: FieldError[]): void {
  for (const [i, source] of sources.entries()) {
    const at = path.index(i)
    if (source.prefix) validateVariableName(source.prefix, () => at.child('prefix'), errors)
    for (const kind of ['configMapRef', 'secretRef'] as const) {
      const ref = source[kind]
      if (!ref) continue
      if (!ref.name) errors.push(required(at.child(kind, 'name')))
      else
        for (const problem of isDns1123Subdomain(ref.name))
          errors.push(invalid(at.child(kind, 'name'), ref.name, problem))
    }
    if (!source.configMapRef && !source.secretRef) {
      errors.push(invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`'))
    } else if (source.configMapRef && source.secretRef) {
      errors.push(invalid(path, '', 'may not have more than one field specified at a time'))
    }
  }
}
