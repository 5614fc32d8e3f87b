import { countCodePoints } from '../code-points.ts'

/** An error in an expression, at an offset (in UTF-16 units) of its text. */
export interface Issue {
  offset: number
  message: string
}

/** The offset of an issue that concerns the whole expression. */
export const nowhere = -1

/** Line and column, both from 1; columns count code points. */
interface Location {
  line: number
  column: number
}

/** cel-go keeps at most this many errors of one expression. */
const maxIssues = 100

/** Line and column of an offset. */
function locate(text: string, offset: number): Location {
  const before = text.slice(0, Math.max(0, offset))
  const lineStart = before.lastIndexOf('\n') + 1
  let line = 1
  for (let i = 0; i < lineStart; i++) if (before.charCodeAt(i) === 10) line++
  return { line, column: countCodePoints(before.slice(lineStart)) + 1 }
}

const isWide = (char: string | undefined) => char !== undefined && char.codePointAt(0)! > 0x7f

function marker(line: string, column: number): string {
  const chars = [...line]
  let dots = ''
  for (let i = 0; i < column - 1; i++) dots += isWide(chars[i]) ? '．' : '.'
  return dots + (isWide(chars[column - 1]) ? '＾' : '^')
}

function formatIssue(text: string, issue: Issue): string {
  if (issue.offset === nowhere) return `ERROR: <input>:-1:0: ${issue.message}`
  const { line, column } = locate(text, issue.offset)
  const head = `ERROR: <input>:${line}:${column}: ${issue.message}`
  const snippet = (text.split('\n')[line - 1] ?? '').replaceAll('\t', ' ')
  return `${head}\n | ${snippet}\n | ${marker(snippet, column)}`
}

/** Formats all issues in the order of their offsets, each with its source line, as cel-go prints them. */
export function formatIssues(text: string, issues: readonly Issue[]): string {
  const sorted = issues.map((issue, i) => ({ issue, i })).sort((a, b) => a.issue.offset - b.issue.offset || a.i - b.i)
  return sorted
    .slice(0, maxIssues)
    .map(({ issue }) => formatIssue(text, issue))
    .join('\n')
}
