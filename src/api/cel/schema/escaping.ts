import { reservedWords } from '../syntax/macros.ts'

/** Words of CEL that cannot be the name of a field: `__if__` stands for a field `if`. */
const escapedWords = new Set(['true', 'false', 'null', 'in', ...reservedWords])

const replacements: Record<string, string> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
}
const isPlain = /^[a-zA-Z_][a-zA-Z0-9_]*$/
const isEscapable = /^[a-zA-Z_.\-/][a-zA-Z0-9_.\-/]*$/

/** The name by which expressions reach a field, `a-b` → `a__dash__b`; undefined if they cannot. */
export function escapeField(name: string): string | undefined {
  if (escapedWords.has(name)) return `__${name}__`
  if (isPlain.test(name) && !name.includes('__')) return name
  if (!isEscapable.test(name)) return undefined
  return name.replaceAll(/__|[.\-/]/g, (part) => replacements[part]!)
}
