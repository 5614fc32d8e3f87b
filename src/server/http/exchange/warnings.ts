/** Kubernetes' limits in characters: for all warnings of a response, and for each one once that is exceeded. */
const maxTotal = 4096
const maxEach = 256

/** Control characters could end a header or control a terminal. */
const controls = /\p{Cc}/u

// Headers are bytes: non-ASCII text is sent as UTF-8, one character a byte.
const asBytes = (text: string) => Buffer.from(text).toString('latin1')

const header = (text: string) => asBytes(`299 - "${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`)

/**
 * The values of the Warning headers: without duplicates, without texts with control characters, and limited in length.
 */
export function warningHeaders(warnings: readonly string[]): string[] {
  const said = [...new Set(warnings)].filter((w) => w !== '' && !controls.test(w)).map((w) => [...w])
  const total = said.reduce((sum, w) => sum + w.length, 0)
  if (total <= maxTotal) return said.map((w) => header(w.join('')))
  const headers: string[] = []
  let written = 0
  for (const text of said) {
    if (written >= maxTotal) break
    const shown = text.slice(0, maxEach)
    written += shown.length
    headers.push(header(shown.join('')))
  }
  return headers
}
