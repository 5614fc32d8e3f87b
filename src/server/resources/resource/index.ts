import type { Resource } from '../../registry/resource.ts'
import { deviceclasses } from './deviceclasses.ts'
import { resourceclaims } from './resourceclaims.ts'
import { resourceclaimtemplates } from './resourceclaimtemplates.ts'
import { resourceslices } from './resourceslices.ts'

/** The kinds of resource.k8s.io, in the order of discovery. */
export const deviceResources: Resource[] = [deviceclasses, resourceclaims, resourceclaimtemplates, resourceslices]
