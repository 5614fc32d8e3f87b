import { semanticEqual } from '../../../api/deep-equal.ts'
import type { Toleration } from '../../../api/generated/types.ts'

/** True if `great` tolerates everything that `small` tolerates. */
function covers(great: Toleration, small: Toleration): boolean {
  if (semanticEqual(great, small)) return true
  const coversKeys = (great.key ?? '') === (small.key ?? '') || (!great.key && great.operator === 'Exists')
  const coversEffects = !great.effect || great.effect === small.effect
  if (!coversKeys || !coversEffects) return false
  if (great.effect === 'NoExecute' && great.tolerationSeconds !== undefined) {
    if (small.tolerationSeconds === undefined || small.tolerationSeconds > great.tolerationSeconds) return false
  }
  if (great.operator === 'Exists') return true
  return (
    (!great.operator || great.operator === 'Equal') &&
    small.operator === 'Equal' &&
    (small.value ?? '') === (great.value ?? '')
  )
}

/** Merges both lists without tolerations that another one covers. Of two equal ones the first is kept. */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): Toleration[] {
  const all = [...first, ...second]
  const merged: Toleration[] = []
  for (const [i, toleration] of all.entries()) {
    if (merged.some((kept) => covers(kept, toleration))) continue
    if (all.slice(i + 1).some((later) => !semanticEqual(later, toleration) && covers(later, toleration))) continue
    merged.push(toleration)
  }
  return merged
}
