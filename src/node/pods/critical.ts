import type { Pod } from '../../api/generated/types.ts'

/** From here on, a pod is one that the others need. */
const criticalPriority = 2_000_000_000

/** Whether other pods need this one: it is ended last, and not for want of something. */
export const isCritical = ({ spec }: Pod): boolean => (spec.priority ?? 0) >= criticalPriority
