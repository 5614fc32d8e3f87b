import type { Resource } from '../../registry/resource.ts'
import { leasecandidates } from './leasecandidates.ts'
import { leases } from './leases.ts'

/** The kinds of coordination.k8s.io, in the order of discovery. */
export const coordinationResources: Resource[] = [leases, leasecandidates]
