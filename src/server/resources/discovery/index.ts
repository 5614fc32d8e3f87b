import type { Resource } from '../../registry/resource.ts'
import { endpointslices } from './endpointslices.ts'

/** The kinds of this group, in the order of discovery. */
export const discoveryResources: Resource[] = [endpointslices]
