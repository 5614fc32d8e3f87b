import type { Pod } from '../../api/generated/types.ts'
import { findCondition } from '../kit/workload/index.ts'

/** Says when the last change began that these endpoints follow: how late they are can be measured by it. */
export const triggerTimeAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time'

/** When a pod became ready, or ceased to be. */
export const readySince = (pod: Pod): string | undefined => findCondition(pod.status?.conditions, 'Ready')?.lastTransitionTime ?? undefined

/** The first of some times, as the API writes them. */
export const earliest = (times: Iterable<string | undefined>): string | undefined => [...times].filter((time) => time !== undefined).sort()[0]
