import type { Resource } from '../../registry/resource.ts'
import { poddisruptionbudgets } from './poddisruptionbudgets.ts'

export { poddisruptionbudgets }

/** The kinds of policy/v1. */
export const policyResources: Resource[] = [poddisruptionbudgets]
