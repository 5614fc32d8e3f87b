import type { Random } from '../../base/random.ts'
import type { ServiceAccountTokens } from '../auth/service-account-tokens.ts'
import type { Resource } from '../registry/resource.ts'
import type { Action } from '../subresources/action.ts'
import { podActions, proxyActions } from '../subresources/index.ts'
import { serviceAccountToken } from '../subresources/service-account-token.ts'
import { kruiseResources } from './apps.kruise.io/index.ts'
import { admissionregistrationResources } from './admissionregistration/index.ts'
import { apiextensionsResources } from './apiextensions/index.ts'
import { apiregistrationResources } from './apiregistration/index.ts'
import { appsResources } from './apps/index.ts'
import { autoscalingResources } from './autoscaling/index.ts'
import { batchResources } from './batch/index.ts'
import { certificatesResources } from './certificates/index.ts'
import { coordinationResources } from './coordination/index.ts'
import { coreResources } from './core/index.ts'
import { ServiceAllocation } from './core/service/service-allocation.ts'
import { discoveryResources } from './discovery/index.ts'
import { eventsResources } from './events/index.ts'
import { flowcontrolResources } from './flowcontrol/index.ts'
import { networkingResources } from './networking/index.ts'
import { nodeResources } from './node/index.ts'
import { policyResources } from './policy/index.ts'
import { rbacResources } from './rbac/index.ts'
import { deviceResources } from './resource/index.ts'
import { schedulingResources } from './scheduling/index.ts'
import { storageResources } from './storage/index.ts'

/** All stored resources, one declaration per kind and version. */
export const allResources = (random: Random, allocation = new ServiceAllocation(random)): Resource[] => [
  ...coreResources(allocation),
  ...admissionregistrationResources,
  ...apiextensionsResources,
  ...apiregistrationResources,
  ...appsResources,
  ...autoscalingResources,
  ...batchResources,
  ...certificatesResources,
  ...coordinationResources,
  ...discoveryResources,
  ...eventsResources,
  ...flowcontrolResources,
  ...networkingResources,
  ...nodeResources,
  ...policyResources,
  ...rbacResources,
  ...deviceResources,
  ...schedulingResources,
  ...storageResources,
  ...kruiseResources,
]

/** All subresources with their own behaviour. */
export const allActions = (tokens: ServiceAccountTokens): readonly Action[] => [
  ...podActions,
  ...proxyActions,
  serviceAccountToken(tokens),
]
