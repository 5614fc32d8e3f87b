import type { Resource } from '../../registry/resource.ts'
import { configmaps } from './configmaps.ts'
import { endpoints } from './endpoints.ts'
import { events } from './event/events.ts'
import { limitranges } from './limitranges.ts'
import { namespaces } from './namespaces.ts'
import { nodes } from './nodes.ts'
import { persistentvolumeclaims } from './volume/persistentvolumeclaims.ts'
import { persistentvolumes } from './volume/persistentvolumes.ts'
import { pods } from './pods.ts'
import { podtemplates } from './podtemplates.ts'
import { replicationcontrollers } from './replicationcontrollers.ts'
import { resourcequotas } from './resourcequotas.ts'
import { secrets } from './secrets.ts'
import { serviceaccounts } from './serviceaccounts.ts'
import type { ServiceAllocation } from './service/service-allocation.ts'
import { services } from './service/services.ts'

/** The kinds of the core group, in the order of discovery. `allocation` provides addresses and ports for Services. */
export const coreResources = (allocation: ServiceAllocation): Resource[] => [
  configmaps,
  endpoints,
  events,
  limitranges,
  namespaces,
  nodes,
  persistentvolumeclaims,
  persistentvolumes,
  pods,
  podtemplates,
  replicationcontrollers,
  resourcequotas,
  secrets,
  serviceaccounts,
  services(allocation),
]
