import { validateCsiDriverName } from '../../../api/kinds/volumes/volume-sources.ts'
import { type FieldError, duplicate, invalid, required, tooLong, tooMany } from '../../../api/validation/field-error.ts'
import {
  byteLength,
  isDns1123Label,
  isDns1123Subdomain,
  isQualifiedName,
  regexMessage,
} from '../../../api/validation/names.ts'
import { repeatedPlaces } from '../../../api/validation/field-checks.ts'
import type { Path } from '../../../api/validation/path.ts'

const maxPoolNameBytes = 253
const maxIdBytes = 32
/** A domain of at most 63 bytes, a slash and an identifier. */
const maxQualifiedNameBytes = 63 + 1 + maxIdBytes

const identifierPattern = '[A-Za-z_][A-Za-z0-9_]*'
const identifierMessage = regexMessage(
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
  identifierPattern,
  'my_name',
  'MY_NAME',
  'MyName',
)
const identifier = new RegExp(`^${identifierPattern}$`)

type Judge<T> = (item: T, path: Path) => FieldError[]

/** Validates the items of a list, unless the list is too long. */
export function validateList<T>(
  items: readonly T[] | undefined,
  max: number,
  judge: Judge<T>,
  path: Path,
): FieldError[] {
  const list = items ?? []
  if (list.length > max) return [tooMany(path, list.length, max)]
  return list.flatMap((item, i) => judge(item, path.index(i)))
}

/** As validateList, with unique keys. */
export function validateUnique<T>(
  items: readonly T[] | undefined,
  max: number,
  judge: Judge<T>,
  keyOf: (item: T) => string,
  path: Path,
): FieldError[] {
  const list = items ?? []
  const errors = validateList(list, max, judge, path)
  if (list.length > max) return errors
  const seen = new Set<string>()
  for (const [i, item] of list.entries()) {
    const key = keyOf(item)
    if (seen.has(key)) errors.push(duplicate(path.index(i), key))
    seen.add(key)
  }
  return errors
}

/** Validates the keys and values of a map. Error paths truncate long keys. */
export function validateEntries<T>(
  entries: Record<string, T> | undefined,
  max: number,
  judgeKey: Judge<string>,
  judge: Judge<T>,
  path: Path,
): FieldError[] {
  const list = Object.entries(entries ?? {})
  if (list.length > max) return [tooMany(path, list.length, max)]
  return list.flatMap(([key, value]) => [...judgeKey(key, path), ...judge(value, path.key(shortened(key)))])
}

function shortened(key: string): string {
  if (key.length <= maxQualifiedNameBytes) return key
  const rest = maxQualifiedNameBytes - 3
  return `${key.slice(0, Math.floor((rest + 1) / 2))}...${key.slice(key.length - Math.floor(rest / 2))}`
}

export function validateDriverName(name: string | undefined, path: Path): FieldError[] {
  const errors: FieldError[] = []
  validateCsiDriverName(name ?? '', path, errors)
  return errors
}

/** Validates the name of a device, request, counter or counter set. */
export const validateShortName = (name: string | undefined, path: Path): FieldError[] =>
  isDns1123Label(name ?? '').map((problem) => invalid(path, name ?? '', problem))

/** As validateShortName, with a Required error for an empty name. */
export const validateRequiredShortName = (name: string | undefined, path: Path): FieldError[] =>
  name ? validateShortName(name, path) : [required(path)]

export const validateDeviceClassName = (name: string | undefined, path: Path): FieldError[] =>
  name ? isDns1123Subdomain(name).map((problem) => invalid(path, name, problem)) : [required(path)]

/** Validates a pool name: subdomains separated by slashes. */
export function validatePoolName(name: string | undefined, path: Path): FieldError[] {
  if (!name) return [required(path)]
  const errors = byteLength(name) > maxPoolNameBytes ? [tooLong(path, maxPoolNameBytes)] : []
  for (const part of name.split('/'))
    errors.push(...isDns1123Subdomain(part).map((problem) => invalid(path, part, problem)))
  return errors
}

function validateIdentifier(id: string, path: Path): FieldError[] {
  const errors = byteLength(id) > maxIdBytes ? [tooLong(path, maxIdBytes)] : []
  return identifier.test(id) ? errors : [...errors, invalid(path, id, identifierMessage)]
}

/** Validates the name of an attribute or capacity: an identifier with an optional domain. */
export function validateAttributeName(name: string, path: Path): FieldError[] {
  const [first = '', second, ...more] = name.split('/')
  if (more.length) return [invalid(path, name, 'must not contain more than one slash')]
  if (second === undefined) return validateIdentifier(first, path)
  return [
    ...(first === '' ? [invalid(path, '', 'the domain must not be empty')] : validateDriverName(first, path)),
    ...(second === '' ? [invalid(path, '', 'the name must not be empty')] : validateIdentifier(second, path)),
  ]
}

export const validateFullAttributeName = (name: string, path: Path): FieldError[] => [
  ...validateAttributeName(name, path),
  ...(name.includes('/')
    ? []
    : [invalid(path, name, 'a fully qualified name must be a domain and a name separated by a slash')]),
]

/** Validates bindingConditions and bindingFailureConditions: both or neither, without duplicates. */
export function validateBindingConditions(
  {
    bindingConditions: good = [],
    bindingFailureConditions: bad = [],
  }: { bindingConditions?: string[]; bindingFailureConditions?: string[] },
  path: Path,
): FieldError[] {
  const [goodPath, badPath] = [path.child('bindingConditions'), path.child('bindingFailureConditions')]
  const judge: Judge<string> = (name, at) => isQualifiedName(name).map((problem) => invalid(at, name, problem))
  const errors = [...validateList(good, 4, judge, goodPath), ...validateList(bad, 4, judge, badPath)]
  const [goodAgain, badAgain] = [repeatedPlaces(good), repeatedPlaces(bad)]
  const wanted = new Set(good)
  for (const [i, name] of good.entries()) if (goodAgain.has(i)) errors.push(duplicate(goodPath.index(i), name))
  for (const [i, name] of bad.entries()) {
    if (badAgain.has(i)) errors.push(duplicate(badPath.index(i), name))
    if (wanted.has(name))
      errors.push(invalid(badPath.index(i), name, 'bindingFailureConditions must not overlap with bindingConditions'))
  }
  if (!good.length && bad.length) {
    errors.push(invalid(goodPath, good, 'bindingConditions are required to use bindingFailureConditions'))
  }
  if (!bad.length && good.length) {
    errors.push(invalid(badPath, bad, 'bindingFailureConditions are required to use bindingConditions'))
  }
  return errors
}
