import type { Taint, Toleration } from '../../api/generated/types.ts'
import { tolerates } from '../../api/kinds/taints.ts'

export const evictingTaints = (taints: readonly Taint[] | undefined): Taint[] => (taints ?? []).filter((taint) => taint.effect === 'NoExecute')

/** How long a pod may stay where these taints are: 0 if one of them is not tolerated, infinity if nothing limits it. */
export function toleratedMs(taints: readonly Taint[], tolerations: readonly Toleration[] = []): number {
  let limit = Number.POSITIVE_INFINITY
  for (const taint of taints) {
    // The first that fits counts, whatever others allow.
    const toleration = tolerations.find((t) => tolerates(t, taint))
    if (!toleration) return 0
    if (toleration.tolerationSeconds !== undefined) limit = Math.min(limit, Math.max(0, Number(toleration.tolerationSeconds) * 1000))
  }
  return limit
}
