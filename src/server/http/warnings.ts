/** Kubernetes' limits in characters: of all warnings of an answer together, and of one of them once there are too many. */
const maxTotal = 4096
const maxEach = 256

/** Nothing that could end a header, or that a terminal would obey. */
const controls = /\p{Cc}/u

// Headers are bytes: what is beyond ASCII goes out as UTF-8, one character for each byte.
const asBytes = (text: string) => Buffer.from(text).toString('latin1')

const header = (text: string) => asBytes(`299 - "${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`)

/** The values of the Warning headers: each sentence once, those with control characters not at all, and not endlessly many. */
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
