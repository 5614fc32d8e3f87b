/**
 * True if two JSON values are equal. An undefined field counts as absent. Order matters in lists but not in objects.
 */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  const isList = Array.isArray(a)
  if (isList !== Array.isArray(b)) return false
  return isList ? sameList(a as unknown[], b as unknown[]) : sameFields(a as Fields, b as Fields)
}

type Fields = Record<string, unknown>

function sameList(a: unknown[], b: unknown[]): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (!deepEqual(a[i], b[i])) return false
  return true
}

function sameFields(a: Fields, b: Fields): boolean {
  for (const key in a) if (!deepEqual(a[key], b[key])) return false
  for (const key in b) if (b[key] !== undefined && a[key] === undefined) return false
  return true
}

const isEmptyContainer = (value: unknown): boolean => {
  if (value === undefined || value === null) return true
  if (typeof value !== 'object') return false
  if (Array.isArray(value)) return value.length === 0
  for (const key in value) if ((value as Fields)[key] !== undefined) return false
  return true
}

/**
 * As deepEqual, but an empty list, an empty object, null and an absent field are equal: Kubernetes' semantic equality.
 */
export function semanticEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (isEmptyContainer(a) && isEmptyContainer(b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  const isList = Array.isArray(a)
  if (isList !== Array.isArray(b)) return false
  if (isList) {
    const [left, right] = [a as unknown[], b as unknown[]]
    return left.length === right.length && left.every((item, i) => semanticEqual(item, right[i]))
  }
  for (const key in a) if (!semanticEqual((a as Fields)[key], (b as Fields)[key])) return false
  for (const key in b) if ((a as Fields)[key] === undefined && !isEmptyContainer((b as Fields)[key])) return false
  return true
}

const isContainer = (value: unknown): value is Fields => typeof value === 'object' && value !== null

/**
 * The first difference between two values as a JSON pointer below `path`, compared as by semanticEqual; undefined if
 * they are equal.
 */
export function differingPath(a: unknown, b: unknown, path = ''): string | undefined {
  if (semanticEqual(a, b)) return undefined
  if (!isContainer(a) || !isContainer(b) || Array.isArray(a) !== Array.isArray(b)) return path
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const found = differingPath(a[key], b[key], `${path}/${key}`)
    if (found !== undefined) return found
  }
  return path
}
