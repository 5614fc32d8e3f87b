import type { Resource } from '../../registry/resource.ts'
import { poddisruptionbudgets } from './poddisruptionbudgets.ts'

/** The kinds of policy/v1. */
export const policyResources: Resource[] = [poddisruptionbudgets]
