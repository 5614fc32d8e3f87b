const metadataOpening = '"metadata":{'
const opening = '"managedFields":[{'
const closing = '}]'

/**
 * Removes managedFields from the text of a watch event. They are half of a pod's text and of the cost to parse it. The
 * text is returned unchanged if they cannot be located with certainty. A wrong cut, inside a string, would leave
 * invalid JSON.
 */
export function cutManagedFields(line: string): string {
  const start = line.indexOf(opening)
  if (start < 0) return line
  const metadata = line.indexOf(metadataOpening) + metadataOpening.length
  if (
    metadata < metadataOpening.length ||
    metadata > start ||
    !isFlat(line, line.indexOf('{', 1) + 1, metadata - 1) ||
    !isFlat(line, metadata, start)
  )
    return line
  for (let end = line.indexOf(closing, start); end >= 0; end = line.indexOf(closing, end + 1)) {
    const next = line[end + 2]
    // Another member follows: `}],"name"`. If `}],` were the end of a string, a colon would follow the quote.
    if (next === ',' && line[end + 3] === '"' && line[end + 4] !== ':')
      return line.slice(0, start) + line.slice(end + 3)
    // The last member is removed together with the preceding comma.
    if (next === '}' && line[start - 1] === ',') return line.slice(0, start - 1) + line.slice(end + 2)
  }
  return line
}

/** Returns true if all brackets opened between two offsets are closed there, so that both are at the same depth. */
function isFlat(text: string, from: number, to: number): boolean {
  let depth = 0
  for (let i = from; i < to; i++) {
    const letter = text[i]
    if (letter === '"') {
      i = endOfString(text, i)
      if (i < 0) return false
    } else if (letter === '{' || letter === '[') {
      depth++
    } else if ((letter === '}' || letter === ']') && --depth < 0) {
      return false
    }
  }
  return depth === 0
}

/** Returns the offset of the closing quote of the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end >= 0 && text[end - 1] === '\\' && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0
  while (text[at - 1 - slashes] === '\\') slashes++
  return slashes % 2 === 1
}
