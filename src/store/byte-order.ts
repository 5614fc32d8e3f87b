// JavaScript compares strings by UTF-16 code unit. That order differs from the order of their UTF-8 bytes in one case:
// surrogates (D800–DFFF, which encode characters past U+FFFF) sort before E000–FFFF instead of after. Swapping the two
// blocks, unit by unit, makes `<` agree with byte order and keeps prefixes prefixes.
const swapped = /[\ud800-\uffff]/
const everySwapped = /[\ud800-\uffff]/g
const loneSurrogate = /\p{Surrogate}/u

/** Returns a string whose `<` order is the byte order of `key`. For almost every key this is the key itself. */
export function toSortKey(key: string): string {
  return swapped.test(key) ? key.replace(everySwapped, swapUnit) : key
}

/** Returns false for a key with a lone surrogate, which UTF-8 would store as another character. */
export function isStorableKey(key: string): boolean {
  return !swapped.test(key) || !loneSurrogate.test(key)
}

function swapUnit(unit: string): string {
  const code = unit.charCodeAt(0)
  return String.fromCharCode(code < 0xe000 ? code + 0x2000 : code - 0x800)
}
