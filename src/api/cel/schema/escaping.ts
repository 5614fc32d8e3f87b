import { reservedWords } from '../syntax/macros.ts'

/** Reserved words of CEL: a field `if` is written `__if__`. */
const escapedWords = new Set(['true', 'false', 'null', 'in', ...reservedWords])

const replacements: Record<string, string> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
}
const isPlain = /^[a-zA-Z_][a-zA-Z0-9_]*$/
const isEscapable = /^[a-zA-Z_.\-/][a-zA-Z0-9_.\-/]*$/

/** The escaped name of a field in expressions, `a-b` → `a__dash__b`; undefined if the field is not accessible. */
export function escapeField(name: string): string | undefined {
  if (escapedWords.has(name)) return `__${name}__`
  if (isPlain.test(name) && !name.includes('__')) return name
  if (!isEscapable.test(name)) return undefined
  return name.replaceAll(/__|[.\-/]/g, (part) => replacements[part]!)
}
