import type { Resource } from '../../registry/resource.ts'
import { leasecandidates } from './leasecandidates.ts'
import { leases } from './leases.ts'

/** The kinds of this group, in the order of discovery. */
export const coordinationResources: Resource[] = [leases, leasecandidates]
