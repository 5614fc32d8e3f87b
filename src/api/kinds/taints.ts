import type { Taint, Toleration } from '../generated/types.ts'

/** Whether a pod that says this puts up with the taint. An empty key or effect stands for all of them. */
export function tolerates({ effect, key, operator, value }: Toleration, taint: Taint): boolean {
  if (effect && effect !== taint.effect) return false
  if (key && key !== taint.key) return false
  if (operator === 'Exists') return true
  return (!operator || operator === 'Equal') && Boolean(key) && (value ?? '') === (taint.value ?? '')
}

/** A taint is known by its key and its effect. */
export const isSameTaint = (a: Taint, b: Taint): boolean => a.key === b.key && a.effect === b.effect

/** The first taint with one of these effects that a pod does not put up with. */
export const untoleratedTaint = (taints: readonly Taint[] | undefined, tolerations: readonly Toleration[], effects: readonly string[]): Taint | undefined =>
  taints?.find((taint) => effects.includes(taint.effect) && !tolerations.some((toleration) => tolerates(toleration, taint)))
