/** A line of a comparison. */
export interface DiffLine {
  kind: 'same' | 'gone' | 'new'
  text: string
}

/** Compares two texts line by line, by their longest common subsequence. Templates have a few hundred lines. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [a, b] = [before.trimEnd().split('\n'), after.trimEnd().split('\n')]
  const width = b.length + 1
  const lengths = new Uint32Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] =
        a[i] === b[j]
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!)
    }
  }
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: 'same', text: a[i]! })
      i++
      j++
    } else if (i < a.length && (j === b.length || lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!))
      lines.push({ kind: 'gone', text: a[i++]! })
    else lines.push({ kind: 'new', text: b[j++]! })
  }
  return lines
}

/** The changed lines with some context. null marks omitted lines. */
export function changedParts(lines: readonly DiffLine[], around = 3): (DiffLine | null)[] {
  const isNear = lines.map((_, at) =>
    lines.slice(Math.max(0, at - around), at + around + 1).some(({ kind }) => kind !== 'same'),
  )
  return lines.flatMap((line, at) => (isNear[at] ? [line] : isNear[at - 1] || at === 0 ? [null] : []))
}
