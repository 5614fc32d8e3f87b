// JavaScript compares strings by UTF-16 code unit, which differs from the order of their UTF-8 bytes in one place only:
// surrogates (D800–DFFF, characters past U+FFFF) sort before E000–FFFF instead of after. Swapping the two blocks, unit
// by unit, makes plain `<` agree with byte order and keeps prefixes prefixes.
const swapped = /[\ud800-\uffff]/
const everySwapped = /[\ud800-\uffff]/g
const loneSurrogate = /\p{Surrogate}/u

/** A string whose plain `<` order is the byte order of `key`. Almost every key is its own. */
export function toSortKey(key: string): string {
  return swapped.test(key) ? key.replace(everySwapped, swapUnit) : key
}

/** Whether the key has bytes of its own: a lone surrogate would be stored as another character. */
export function isStorableKey(key: string): boolean {
  return !swapped.test(key) || !loneSurrogate.test(key)
}

function swapUnit(unit: string): string {
  const code = unit.charCodeAt(0)
  return String.fromCharCode(code < 0xe000 ? code + 0x2000 : code - 0x800)
}
