import { type FieldError, invalid, required } from '../../validation/field-error.ts'
import type { Path } from '../../validation/path.ts'

const hasBackstep = /(?:^|\/)\.\.(?:\/|$)/

const fileModeMessage = 'must be a number between 0 and 0777 (octal), both inclusive'

/** True if a path contains `..`. */
export const containsBacksteps = (target: string): boolean => hasBackstep.test(target)

export function validateNoBacksteps(target: string, path: Path, errors: FieldError[]): void {
  if (containsBacksteps(target)) errors.push(invalid(path, target, "must not contain '..'"))
}

/** Validates a relative path that does not contain `..`. */
export function validateDescendingPath(target: string, path: Path, errors: FieldError[]): void {
  if (target.startsWith('/')) errors.push(invalid(path, target, 'must be a relative path'))
  validateNoBacksteps(target, path, errors)
}

/** As validateDescendingPath, and rejects names that begin with `..`, which are reserved for the kubelet. */
export function validateUserFilePath(target: string, path: Path, errors: FieldError[]): void {
  validateDescendingPath(target, path, errors)
  if (target.startsWith('..') && !target.startsWith('../'))
    errors.push(invalid(path, target, "must not start with '..'"))
}

export function validateFileMode(mode: number | undefined, path: Path, errors: FieldError[]): void {
  if (mode !== undefined && (mode < 0 || mode > 0o777)) errors.push(invalid(path, mode, fileModeMessage))
}

/** Validates the mapping of keys of a ConfigMap or Secret to files. */
export function validateKeyPaths(
  items: readonly { key: string; path: string; mode?: number }[] | undefined,
  path: Path,
  errors: FieldError[],
): void {
  for (const [i, item] of (items ?? []).entries()) {
    const at = path.index(i)
    if (!item.key) errors.push(required(at.child('key')))
    if (!item.path) errors.push(required(at.child('path')))
    validateUserFilePath(item.path ?? '', at.child('path'), errors)
    validateFileMode(item.mode, at.child('mode'), errors)
  }
}
