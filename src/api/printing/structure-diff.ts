import { jsonText } from '../json/index.ts'

const contextLines = 3

type Edit = { kind: ' ' | '-' | '+'; line: string }

/** The shortest edit script between two lists of lines, by the longest common subsequence. */
function edits(before: readonly string[], after: readonly string[]): Edit[] {
  const width = after.length + 1
  const common = new Uint32Array((before.length + 1) * width)
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      const at = i * width + j
      common[at] = before[i] === after[j] ? common[at + width + 1]! + 1 : Math.max(common[at + width]!, common[at + 1]!)
    }
  }
  const made: Edit[] = []
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      made.push({ kind: ' ', line: before[i]! })
      i++
      j++
    } else if (j >= after.length || (i < before.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!)) {
      made.push({ kind: '-', line: before[i++]! })
    } else {
      made.push({ kind: '+', line: after[j++]! })
    }
  }
  return made
}

const count = (part: readonly Edit[], side: '-' | '+') =>
  part.filter((edit) => edit.kind === ' ' || edit.kind === side).length

const range = (start: number, length: number) =>
  length === 1 ? `${start}` : `${length === 0 ? start - 1 : start},${length}`

/**
 * The difference between two structures as Kubernetes appends it to "is immutable": a unified diff of their indented
 * JSON with Kubernetes' internal field names.
 */
export function structureDiff(before: unknown, after: unknown): string {
  const all = edits(jsonText(before, 1).split('\n'), jsonText(after, 1).split('\n'))
  const changed = all.flatMap((edit, i) => (edit.kind === ' ' ? [] : [i]))
  let text = ''
  for (let first = 0; first < changed.length;) {
    let last = first
    while (last + 1 < changed.length && changed[last + 1]! - changed[last]! <= 2 * contextLines + 1) last++
    const from = Math.max(0, changed[first]! - contextLines)
    const hunk = all.slice(from, changed[last]! + contextLines + 1)
    const skipped = all.slice(0, from)
    const old = range(count(skipped, '-') + 1, count(hunk, '-'))
    const now = range(count(skipped, '+') + 1, count(hunk, '+'))
    text += `@@ -${old} +${now} @@\n${hunk.map(({ kind, line }) => `${kind}${line}\n`).join('')}`
    first = last + 1
  }
  return text
}
