import type { Resource } from '../../registry/resource.ts'
import { ingressclasses } from './ingressclasses.ts'
import { ingresses } from './ingresses.ts'
import { ipaddresses } from './ipaddresses.ts'
import { networkpolicies } from './networkpolicies.ts'
import { servicecidrs } from './servicecidrs.ts'

/** The kinds of this group, in the order of discovery. */
export const networkingResources: Resource[] = [ingressclasses, ingresses, ipaddresses, networkpolicies, servicecidrs]
