import type { Service } from '../../api/generated/types.ts'
import { endpoints, keyOf, services } from '../../client/index.ts'
import { defineController, watching } from '../kit/index.ts'
import { podsByLabel } from '../kit/workload/index.ts'
import { isServedByPods, podsServing, servicesByPod, watchPods } from '../service-pods.ts'
import { type Action, type Observed, plan } from './plan.ts'

/** Maintains the Endpoints of services with a selector, for clients without endpoint slices. */
export const endpoint = defineController<Service, Observed, Action>({
  name: 'endpoint',
  owner: services,
  sources: {
    owns: [endpoints],
    // Also by name, because a replaced object has no owner reference.
    watches: [watchPods, watching(endpoints, (object) => [keyOf(object)])],
    indexes: [podsByLabel, servicesByPod.index],
  },
  observe: ({ caches }, service) => ({
    service,
    pods: isServedByPods(service) ? podsServing(caches, service) : undefined,
    endpoints: caches.get(endpoints, service.metadata.namespace ?? '', service.metadata.name ?? ''),
  }),
  timing: { goesThrough: ({ pods }) => pods?.length ?? 0 },
  plan,
  apply: {
    CreateEndpoints: {
      run: ({ writer }, action) => writer.create(endpoints, action.endpoints),
      failed: ({ message }, action) => ({
        reason: 'FailedToCreateEndpoint',
        message: `Failed to create endpoint for service ${keyOf(action.endpoints)}: ${message}`,
      }),
    },
    UpdateEndpoints: {
      run: ({ writer }, action) => writer.update(endpoints, action.endpoints),
      failed: ({ message }, action) => ({
        reason: 'FailedToUpdateEndpoint',
        message: `Failed to update endpoint ${keyOf(action.endpoints)}: ${message}`,
      }),
    },
  },
})
