import { RE2JS, RE2JSException } from 're2js'

const patterns = new Map<string, RE2JS | undefined>()
const maxPatterns = 2048

/** A regular expression of RE2's syntax, which takes time linear in the text; undefined if it is none. Kept for the next. */
export function compilePattern(text: string): RE2JS | undefined {
  if (patterns.has(text)) return patterns.get(text)
  const pattern = make(text)
  if (patterns.size >= maxPatterns) patterns.clear()
  patterns.set(text, pattern)
  return pattern
}

function make(text: string): RE2JS | undefined {
  try {
    return RE2JS.compile(text)
  } catch (error) {
    if (error instanceof RE2JSException) return undefined
    throw error
  }
}
