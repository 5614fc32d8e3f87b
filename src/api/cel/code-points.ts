const surrogates = /[\ud800-\udfff]/

/** True if every character of a text is one UTF-16 unit, so that offsets need no counting. */
export const isNarrow = (text: string): boolean => !surrogates.test(text)

/** The number of code points in a string. */
export function countCodePoints(text: string): number {
  let count = text.length
  for (let i = 0; i + 1 < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit >= 0xd800 && unit <= 0xdbff) {
      const next = text.charCodeAt(i + 1)
      if (next >= 0xdc00 && next <= 0xdfff) {
        count--
        i++
      }
    }
  }
  return count
}

/** The substring between two positions in code points. */
export const slicePoints = (text: string, from: number, to?: number): string =>
  isNarrow(text) ? text.slice(from, to) : [...text].slice(from, to).join('')

/** Converts a UTF-16 offset to a position in code points. */
export const pointsBefore = (text: string, offset: number): number => countCodePoints(text.slice(0, offset))

/** Converts a position in code points to a UTF-16 offset. */
export const offsetOf = (text: string, point: number): number =>
  isNarrow(text) ? point : [...text].slice(0, point).join('').length
