import type { Random } from '../../base/random.ts'
import type { ServiceAccountTokens } from '../auth/service-account-tokens.ts'
import type { Resource } from '../resource.ts'
import type { Action } from '../subresources/action.ts'
import { podActions } from '../subresources/pods.ts'
import { proxyActions } from '../subresources/proxies.ts'
import { serviceAccountToken } from '../subresources/service-account-token.ts'
import { kruiseResources } from './apps.kruise.io/index.ts'
import { appsResources } from './apps/index.ts'
import { autoscalingResources } from './autoscaling/index.ts'
import { batchResources } from './batch/index.ts'
import { coordinationResources } from './coordination/index.ts'
import { coreResources } from './core/index.ts'
import { discoveryResources } from './discovery/index.ts'
import { eventsResources } from './events/index.ts'
import { networkingResources } from './networking/index.ts'
import { nodeResources } from './node/index.ts'
import { policyResources } from './policy/index.ts'
import { rbacResources } from './rbac/index.ts'
import { schedulingResources } from './scheduling/index.ts'
import { storageResources } from './storage/index.ts'

/** Everything that is served and stored, one declaration a kind and version. */
export const allResources = (random: Random): Resource[] => [
  ...coreResources(random),
  ...appsResources,
  ...autoscalingResources,
  ...batchResources,
  ...coordinationResources,
  ...discoveryResources,
  ...eventsResources,
  ...networkingResources,
  ...nodeResources,
  ...policyResources,
  ...rbacResources,
  ...schedulingResources,
  ...storageResources,
  ...kruiseResources,
]

/** Subresources with behaviour of their own. */
export const allActions = (tokens: ServiceAccountTokens): readonly Action[] => [...podActions, ...proxyActions, serviceAccountToken(tokens)]
