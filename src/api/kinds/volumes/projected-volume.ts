import type { ProjectedVolumeSource, ServiceAccountTokenProjection, VolumeProjection } from '../../generated/types.ts'
import { type FieldError, forbidden, invalid, required } from '../../validation/field-error.ts'
import type { Path } from '../../validation/path.ts'
import { validateDownwardFile } from '../containers/downward-api.ts'
import { validateFileMode, validateKeyPaths, validateUserFilePath } from '../containers/file-paths.ts'

const minTokenSeconds = 600
const maxTokenSeconds = 2 ** 32

function validateToken(token: ServiceAccountTokenProjection, volumePath: Path, path: Path, errors: FieldError[]): void {
  const seconds = token.expirationSeconds ?? 0
  if (seconds < minTokenSeconds) {
    errors.push(invalid(path.child('expirationSeconds'), seconds, 'may not specify a duration less than 10 minutes'))
  }
  if (seconds > maxTokenSeconds) {
    errors.push(
      invalid(path.child('expirationSeconds'), seconds, 'may not specify a duration larger than 2^32 seconds'),
    )
  }
  if (!token.path) errors.push(required(volumePath.child('path')))
  else validateUserFilePath(token.path, volumePath.child('path'), errors)
}

/** Rejects a second file with the same path. `name` is what Kubernetes quotes. */
class FileNames {
  readonly #seen = new Set<string>()

  claim(file: string, name: string, path: Path, errors: FieldError[]): void {
    if (!file) return
    if (this.#seen.has(file)) errors.push(invalid(path, name, 'conflicting duplicate paths'))
    this.#seen.add(file)
  }
}

function validateSource(
  source: VolumeProjection,
  names: FileNames,
  volumePath: Path,
  path: Path,
  errors: FieldError[],
): void {
  let kinds = 0
  for (const kind of ['secret', 'configMap'] as const) {
    const projection = source[kind]
    if (!projection) continue
    kinds++
    const at = path.child(kind)
    if (!projection.name) errors.push(required(at.child('name')))
    validateKeyPaths(projection.items, at.child('items'), errors)
    for (const item of projection.items ?? []) names.claim(item.path, projection.name ?? '', volumePath, errors)
  }
  if (source.downwardAPI) {
    kinds++
    for (const file of source.downwardAPI.items ?? []) {
      validateDownwardFile(file, path.child('downwardAPI'), errors)
      names.claim(file.path, file.path, volumePath, errors)
    }
  }
  if (source.serviceAccountToken) {
    kinds++
    validateToken(source.serviceAccountToken, volumePath, path.child('serviceAccountToken'), errors)
  }
  if (kinds > 1) errors.push(forbidden(path, 'may not specify more than 1 volume type per source'))
}

/** Validates a projected volume. */
export function validateProjectedVolume(volume: ProjectedVolumeSource, path: Path, errors: FieldError[]): void {
  validateFileMode(volume.defaultMode, path.child('defaultMode'), errors)
  const names = new FileNames()
  for (const [i, source] of (volume.sources ?? []).entries()) {
    validateSource(source, names, path, path.child('sources').index(i), errors)
  }
}
