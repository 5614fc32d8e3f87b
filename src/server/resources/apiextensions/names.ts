import type { CustomResourceDefinitionNames } from '../../../api/generated/types.ts'
import { type FieldError, invalid, required } from '../../../api/validation/field-error.ts'
import { isDns1035Label } from '../../../api/validation/names.ts'
import type { Path } from '../../../api/validation/path.ts'

const neededNames = ['plural', 'singular', 'kind', 'listKind'] as const

/** Errors for missing names. */
export const missingNames = (names: CustomResourceDefinitionNames, path: Path): FieldError[] =>
  neededNames.flatMap((name) => (names[name] ? [] : [required(path.child(name))]))

function labelErrors(text: string, path: Path): FieldError[] {
  const problems = isDns1035Label(text)
  return problems.length ? [invalid(path, text, problems.join())] : []
}

function kindErrors(kind: string, path: Path): FieldError[] {
  const problems = isDns1035Label(kind.toLowerCase())
  const saying = `may have mixed case, but should otherwise match: ${problems.join()}`
  return problems.length ? [invalid(path, kind, saying)] : []
}

/** Errors for invalid names. */
export function nameErrors(names: CustomResourceDefinitionNames, path: Path): FieldError[] {
  const { plural, singular, kind, listKind, shortNames, categories } = names
  return [
    ...(plural ? labelErrors(plural, path.child('plural')) : []),
    ...(singular ? labelErrors(singular, path.child('singular')) : []),
    ...(kind ? kindErrors(kind, path.child('kind')) : []),
    ...(listKind ? kindErrors(listKind, path.child('listKind')) : []),
    ...(shortNames ?? []).flatMap((name, i) => labelErrors(name, path.child('shortNames').index(i))),
    ...(kind && kind === listKind
      ? [invalid(path.child('listKind'), listKind, 'kind and listKind may not be the same')]
      : []),
    ...(categories ?? []).flatMap((name, i) => labelErrors(name, path.child('categories').index(i))),
  ]
}
