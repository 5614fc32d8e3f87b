import { entityTooLarge } from '../../api/errors.ts'
/** A body from which on parsing, decoding and writing are each done in a turn of its own: together they would hold up others. */
export const longBody = 1 << 18

/** The most values in a long body. An object of 1.5 MB that people write has some 30,000; each costs about 1 µs to parse and decode. */
export const maxValues = 65_536

const [quote, slash, comma, brace, bracket] = ['"', '\\', ',', '{', '['].map((letter) => letter.charCodeAt(0)) as [number, number, number, number, number]

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

/** The place of the quote that ends the string which begins at `start`; the end of the text where there is none. */
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

/** Refuses a long JSON body of very many values before it is parsed: parsing alone would hold up everybody for hundreds of milliseconds. */
export function refuseCrowded(bytes: Buffer): Buffer {
  const isJson = bytes[0] === brace || bytes[0] === bracket
  if (bytes.length <= longBody || !isJson || countValues(bytes, maxValues) <= maxValues) return bytes
  return refuse()
}

function refuse(): never {
  throw entityTooLarge(`Request entity too large: limit is ${maxValues} values`)
}

/** The same limit for a YAML body, which is not counted before it is parsed. Keys are nodes, too. */
export const yamlLimit = (text: string) => (text.length > longBody ? { nodes: 2 * maxValues, refuse } : undefined)
