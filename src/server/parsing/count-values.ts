const [quote, slash, comma, brace, bracket] = ['"', '\\', ',', '{', '['].map((letter) => letter.charCodeAt(0)) as [
  number,
  number,
  number,
  number,
  number,
]

/** Counts the values of a JSON text up to a limit: one for each comma, brace and bracket outside of strings. */
export function countValues(bytes: Buffer, limit: number): number {
  let count = 1
  for (let i = 0; i < bytes.length && count <= limit; i++) {
    const letter = bytes[i]
    if (letter === quote) i = endOfString(bytes, i)
    else if (letter === comma || letter === brace || letter === bracket) count++
  }
  return count
}

/** The position of the closing quote of the string at `start`, or the end of the text. */
function endOfString(bytes: Buffer, start: number): number {
  let end = bytes.indexOf(quote, start + 1)
  while (end >= 0 && isEscaped(bytes, end)) end = bytes.indexOf(quote, end + 1)
  return end < 0 ? bytes.length : end
}

function isEscaped(bytes: Buffer, at: number): boolean {
  let slashes = 0
  while (bytes[at - 1 - slashes] === slash) slashes++
  return slashes % 2 === 1
}

/** True if a body starts like a JSON object or list. */
export const startsJson = (bytes: Buffer): boolean => bytes[0] === brace || bytes[0] === bracket
